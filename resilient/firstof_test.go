package resilient_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// provider is an alternative for tests: its guard, and how often it was called.
type provider struct {
	guard *resilient.Guard
	calls int
}

func providerOf(tb testing.TB, name string, options *resilient.Options, edits ...func(*resilient.Policy)) *provider {
	tb.Helper()
	return &provider{guard: named(tb, name, steady(append([]func(*resilient.Policy){noDelay, attempts(2)}, edits...)...), options)}
}

// says is the provider with a function that returns this.
func (p *provider) says(value string, err error) resilient.Alternative[string] {
	return p.does(func(context.Context) (string, error) { return value, err })
}

func (p *provider) does(fn func(context.Context) (string, error)) resilient.Alternative[string] {
	return resilient.Alternative[string]{Guard: p.guard, Call: func(ctx context.Context) (string, error) {
		p.calls++
		return fn(ctx)
	}}
}

func notFound() *resilient.Options { return &resilient.Options{Classify: resilient.NotFound} }

var errInvalid = errors.New("invalid request")

// What makes way for the next alternative, and what is an answer.
func TestFirstOf(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(*resilient.Guard)
		err     error // of the first
		calls   int   // of the first
		over    bool  // the second is called
	}{
		{name: "answers", calls: 1},
		{name: "gives up", err: errDown, calls: 2, over: true},
		{name: "is refused", prepare: func(g *resilient.Guard) { g.Circuit().ForceOpen() }, over: true},
		{name: "fails for good", err: resilient.Permanent(errDown), calls: 1, over: true},
		{name: "was refused inside", err: fmt.Errorf("inside: %w", &resilient.RejectedError{Service: "inside"}), calls: 1, over: true},
		{name: "gave up inside", err: &resilient.ExhaustedError{Service: "inside", Last: errDown}, calls: 1, over: true},
		{name: "is asked to wait too long", err: resilient.RetryAfter(errDown, time.Hour), calls: 1, over: true},
		{name: "has no such row", err: fmt.Errorf("read: %w", sql.ErrNoRows), calls: 1},
		{name: "finds nothing wrong with itself", err: resilient.Neutral(errInvalid), calls: 1},
		{name: "is full itself", err: resilient.Neutral(&resilient.RejectedError{}), calls: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &recorder{}
				options := notFound()
				options.Observers = []resilient.Observer{seen}
				first, second, third := providerOf(t, "first", options), providerOf(t, "second", notFound()), providerOf(t, "third", nil)
				if tt.prepare != nil {
					tt.prepare(first.guard)
				}
				answer, err := resilient.FirstOf(t.Context(), get,
					first.says("1", tt.err), second.says("2", nil), third.says("3", nil))
				assert.Equal(t, tt.calls, first.calls)
				assert.Zero(t, third.calls)
				fell := recorded[resilient.FellOver](seen)
				if !tt.over {
					assert.Equal(t, tt.err, err, "as it is")
					assert.Equal(t, resilient.Answer[string]{Value: "1", Index: 0, Service: "first"}, answer)
					assert.Zero(t, second.calls)
					assert.Empty(t, fell)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, resilient.Answer[string]{Value: "2", Index: 1, Service: "second"}, answer)
				assert.Equal(t, 1, second.calls)
				require.Len(t, fell, 1)
				assert.Equal(t, resilient.Call{Service: "first", Operation: "get"}, fell[0].Call)
				assert.Equal(t, "second", fell[0].Next)
				if tt.err != nil {
					require.ErrorIs(t, fell[0].Err, tt.err)
				}
			})
		})
	}
}

// The error that the answering alternative answers with is the answer, also after others have failed.
func TestFirstOfAnswersWithAnError(t *testing.T) {
	first, second := providerOf(t, "first", nil), providerOf(t, "second", notFound())
	answer, err := resilient.FirstOf(t.Context(), get, first.says("", errDown), second.says("none", sql.ErrNoRows))
	assert.Equal(t, sql.ErrNoRows, err)
	assert.Equal(t, resilient.Answer[string]{Value: "none", Index: 1, Service: "second"}, answer)
}

func TestFirstOfWithoutAnAnswer(t *testing.T) {
	first, second, third := providerOf(t, "first", nil), providerOf(t, "second", nil), providerOf(t, "third", nil)
	second.guard.Circuit().ForceOpen()
	errLast := errors.New("no\nway: password=hunter2hunter2 " + strings.Repeat("ü", 1000))
	answer, err := resilient.FirstOf(t.Context(), resilient.Idempotent("get"),
		first.says("1", errDown), second.says("2", nil), third.says("3", resilient.Permanent(errLast)))
	assert.Equal(t, resilient.Answer[string]{Value: "3", Index: 2, Service: "third"}, answer, "of the last one")
	var all *resilient.NoAnswerError
	require.ErrorAs(t, err, &all)
	assert.Equal(t, []string{"first", "second", "third"}, all.Services)
	assert.Len(t, all.Failures, 3)
	require.NoError(t, all.Limit)
	require.ErrorIs(t, err, errDown)
	require.ErrorIs(t, err, errLast)
	var rejected *resilient.RejectedError
	require.ErrorAs(t, err, &rejected)
	assert.Equal(t, breaker.ForcedOpen, rejected.State)
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)

	text := err.Error()
	assert.True(t, strings.HasPrefix(text, "get: no alternative answered: first.get: gave up after 2 attempts: down; "+
		"second: circuit forced-open; third: no way: password=***"), text)
	assert.NotContains(t, text, "\n")
	assert.Less(t, len(text), 1000)

	var none *resilient.NoAnswerError
	assert.NotEmpty(t, none.Error())
	assert.Nil(t, none.Unwrap())
	assert.Equal(t, "no alternative answered", (&resilient.NoAnswerError{}).Error())
	assert.Equal(t, "no alternative answered: down", (&resilient.NoAnswerError{Failures: []error{errDown}}).Error())
}

func TestFirstOfOne(t *testing.T) {
	only := providerOf(t, "only", nil)
	answer, err := resilient.FirstOf(t.Context(), get, only.says("1", errDown))
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Same(t, exhausted, err, "as Execute returns it")
	assert.Equal(t, resilient.Answer[string]{Value: "1", Service: "only"}, answer)
}

// A write goes to one provider, unless its op says otherwise.
func TestWritesDoNotFallOver(t *testing.T) {
	write := resilient.NonIdempotent("apply")
	for name, prepare := range map[string]func(*resilient.Guard){
		"it fails":   func(*resilient.Guard) {},
		"is refused": func(g *resilient.Guard) { g.Circuit().ForceOpen() },
	} {
		t.Run(name, func(t *testing.T) {
			first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
			prepare(first.guard)
			_, err := resilient.FirstOf(t.Context(), write, first.says("", errDown), second.says("2", nil))
			require.Error(t, err)
			assert.Zero(t, second.calls)
			assert.LessOrEqual(t, first.calls, 1)

			answer, err := resilient.FirstOf(t.Context(), write.MayFailOver(), first.says("", errDown), second.says("2", nil))
			require.NoError(t, err)
			assert.Equal(t, 1, answer.Index)
			assert.Equal(t, 1, second.calls)
		})
	}
	t.Run("a policy that repeats everything sends nothing elsewhere", func(t *testing.T) {
		careless := func(p *resilient.Policy) { p.Retry.IdempotentOnly = false }
		first, second := providerOf(t, "first", nil, careless), providerOf(t, "second", nil, careless)
		_, err := resilient.FirstOf(t.Context(), write, first.says("", errDown), second.says("2", nil))
		require.Error(t, err)
		assert.Equal(t, []int{2, 0}, []int{first.calls, second.calls})
	})
	t.Run("what is used up by the first attempt is not tried elsewhere", func(t *testing.T) {
		first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
		_, err := resilient.FirstOf(t.Context(), get.MayFailOver().Once(), first.says("", errDown), second.says("2", nil))
		assert.Equal(t, errDown, err)
		assert.Equal(t, []int{1, 0}, []int{first.calls, second.calls})
	})
	t.Run("MayFailOver alone repeats nothing", func(t *testing.T) {
		only := providerOf(t, "only", nil)
		_, err := resilient.FirstOf(t.Context(), write.MayFailOver(), only.says("", errDown))
		assert.Equal(t, errDown, err)
		assert.Equal(t, 1, only.calls)
	})
}

// R3: tools that must not be repeated in a phase that only reads are not run by a second alternative either.
func TestToolsDoNotFallOverInAReadOnlyPlan(t *testing.T) {
	options := &resilient.Options{ReadOnlyPlan: func(phase any) bool { return phase == "plan" }}
	for phase, over := range map[string]bool{"plan": false, "execute": true} {
		first, second := providerOf(t, "first", options), providerOf(t, "second", options)
		_, err := resilient.FirstOf(t.Context(), get.ExecutesTools().InPlan(phase).MayFailOver(), first.says("", errDown), second.says("2", nil))
		assert.Equal(t, over, err == nil, phase)
		assert.Equal(t, over, second.calls == 1, phase)

		knows := providerOf(t, "knows", options)
		unguarded := resilient.Alternative[string]{Guard: resilient.Passthrough(), Call: func(context.Context) (string, error) { return "", errDown }}
		_, err = resilient.FirstOf(t.Context(), get.ExecutesTools().InPlan(phase), unguarded, knows.says("2", nil))
		assert.Equal(t, over, err == nil, "%s, of which the first guard knows nothing", phase)
		assert.Equal(t, over, knows.calls == 1, phase)
	}
}

// All of it takes no longer than the op's total timeout, else than the longest of the policies'; and each alternative
// no longer than its own policy says.
func TestFirstOfHasOneTotalTimeout(t *testing.T) {
	hangs := func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	tests := []struct {
		name   string
		op     resilient.Op
		totals []time.Duration // the policies'
		ends   []time.Duration // when each gives up
		limit  bool            // the whole kept a further one back
	}{
		{"the longest policy's", get, []time.Duration{3 * sec, 5 * sec}, []time.Duration{3 * sec, 5 * sec}, false},
		{"a first one that takes it all", get, []time.Duration{5 * sec, 3 * sec}, []time.Duration{5 * sec}, true},
		{"the op's, longer", get.WithTotalTimeout(20 * sec), []time.Duration{3 * sec, 5 * sec, 4 * sec}, []time.Duration{3 * sec, 8 * sec, 12 * sec}, false},
		{"the op's, shorter", get.WithTotalTimeout(4 * sec), []time.Duration{3 * sec, 5 * sec, 4 * sec}, []time.Duration{3 * sec, 4 * sec}, true},
		{"the op's attempt timeout", get.WithAttemptTimeout(sec), []time.Duration{10 * sec, 10 * sec}, []time.Duration{2 * sec, 4 * sec}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var at []time.Duration
				seen := resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
					if _, ok := e.(resilient.CallDone); ok {
						at = append(at, time.Since(start))
					}
				})
				var all []resilient.Alternative[string]
				for i, d := range tt.totals {
					p := providerOf(t, fmt.Sprint(i), &resilient.Options{Observers: []resilient.Observer{seen}}, total(d))
					all = append(all, p.does(hangs))
				}
				answer, err := resilient.FirstOf(t.Context(), tt.op, all...)
				assert.Equal(t, tt.ends, at)
				assert.Equal(t, len(tt.ends)-1, answer.Index)
				var none *resilient.NoAnswerError
				require.ErrorAs(t, err, &none)
				assert.Len(t, none.Failures, len(tt.ends))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				if !tt.limit {
					require.NoError(t, none.Limit)
					return
				}
				assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: tt.ends[len(tt.ends)-1]}, none.Limit)
			})
		})
	}
}

// An observer that takes its time takes it from the whole, and one that ends the caller's context ends the call.
func TestWhoIsToldOfAFallOverHasNoTimeOfHisOwn(t *testing.T) {
	tests := []struct {
		name  string
		takes time.Duration
		gives error // what the caller gives up with
		ends  time.Duration
		limit error
	}{
		{"a part", 8 * sec, nil, 10 * sec, nil},
		{"all of it", 10 * sec, nil, 10 * sec, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 10 * sec}},
		{"and the caller gives up", sec, errOther, sec, errOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				slow := resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
					if _, ok := e.(resilient.FellOver); ok {
						time.Sleep(tt.takes)
						if tt.gives != nil {
							cancel(tt.gives)
						}
					}
				})
				first := providerOf(t, "first", &resilient.Options{Observers: []resilient.Observer{slow}})
				second := providerOf(t, "second", nil)
				start := time.Now()
				answer, err := resilient.FirstOf(ctx, get.WithTotalTimeout(10*sec), first.says("", resilient.Permanent(errDown)),
					second.does(func(ctx context.Context) (string, error) {
						<-ctx.Done()
						return "", ctx.Err()
					}))
				assert.Equal(t, tt.ends, time.Since(start))
				var none *resilient.NoAnswerError
				require.ErrorAs(t, err, &none)
				assert.Equal(t, tt.limit, none.Limit)
				called := 1
				if tt.limit != nil {
					called = 0
				}
				assert.Equal(t, called, second.calls)
				assert.Equal(t, called, answer.Index)
				assert.Len(t, none.Failures, 1+called)
			})
		})
	}
}

// Nothing more is tried for a caller who has given up, and both causes are found.
func TestFirstOfEndsWithItsContext(t *testing.T) {
	for name, answer := range map[string]error{"it is cancelled": nil, "it fails": errDown} {
		for _, earlier := range []bool{false, true} {
			t.Run(fmt.Sprint(name, earlier), func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				before, present, next := providerOf(t, "before", nil), providerOf(t, "present", nil), providerOf(t, "next", nil)
				all := []resilient.Alternative[string]{present.does(func(ctx context.Context) (string, error) {
					cancel(errOther)
					<-ctx.Done()
					if answer != nil {
						return "", answer
					}
					return "", context.Cause(ctx)
				}), next.says("next", nil)}
				errBefore := errors.New("before")
				if earlier {
					all = append([]resilient.Alternative[string]{before.says("", errBefore)}, all...)
				}
				_, err := resilient.FirstOf(ctx, get, all...)
				require.ErrorIs(t, err, errOther)
				assert.Equal(t, 1, present.calls)
				assert.Zero(t, next.calls)
				if earlier {
					require.ErrorIs(t, err, errBefore)
					var none *resilient.NoAnswerError
					require.ErrorAs(t, err, &none)
					assert.Equal(t, errOther, none.Limit)
				}
			})
		}
	}
	first := providerOf(t, "first", nil)
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(errOther)
	_, err := resilient.FirstOf(cancelled, get, first.says("1", nil), first.says("2", nil))
	assert.Equal(t, errOther, err, "P35: nothing runs")
	late, stop := context.WithDeadline(t.Context(), time.Now())
	defer stop()
	_, err = resilient.FirstOf(late, get, first.says("1", nil), first.says("2", nil))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Zero(t, first.calls)
}

// FirstOf is no retry: under a call that retries each alternative is called once, and that call repeats the whole where
// one of them may answer next time.
func TestFirstOfUnderARetry(t *testing.T) {
	tests := []struct {
		name          string
		first, second error
		outer         int // attempts
	}{
		{"both may answer", errDown, errOther, 3},
		{"the first may", errDown, resilient.Permanent(errOther), 3},
		{"the second may", resilient.Permanent(errDown), errOther, 3},
		{"the first gave up inside", &resilient.ExhaustedError{Last: errDown}, errOther, 3},
		{"neither may", resilient.Permanent(errDown), &resilient.ExhaustedError{Last: errDown}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			outer := named(t, "outer", steady(noDelay), nil)
			first, second := providerOf(t, "first", nil, attempts(10)), providerOf(t, "second", nil, attempts(10))
			_, err := resilient.Execute(t.Context(), outer, get, func(ctx context.Context) (string, error) {
				answer, err := resilient.FirstOf(ctx, get, first.says("", tt.first), second.says("", tt.second))
				return answer.Value, err
			})
			require.Error(t, err)
			assert.Equal(t, []int{tt.outer, tt.outer}, []int{first.calls, second.calls})
			assert.Equal(t, tt.outer, outer.Circuit().Snapshot().Failures)
		})
	}
	t.Run("all were refused", func(t *testing.T) {
		outer := named(t, "outer", steady(noDelay), nil)
		first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
		first.guard.Circuit().ForceOpen()
		second.guard.Circuit().ForceOpen()
		calls := 0
		err := resilient.Do(t.Context(), outer, get, func(ctx context.Context) error {
			calls++
			_, err := resilient.FirstOf(ctx, get, first.says("", nil), second.says("", nil))
			return err
		})
		require.Error(t, err)
		assert.Equal(t, 1, calls)
		assert.Zero(t, outer.Circuit().Snapshot().Failures, "nothing ran")
		second.guard.Circuit().Release()
		_ = resilient.Do(t.Context(), outer, get, func(ctx context.Context) error {
			calls++
			_, err := resilient.FirstOf(ctx, get, first.says("", nil), second.says("", errDown))
			return err
		})
		assert.Equal(t, 4, calls, "one that is refused keeps the other from nothing")
	})
	t.Run("the stricter hint of those that may answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			outer := named(t, "outer", steady(noDelay, attempts(2)), nil)
			first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
			start := time.Now()
			_ = resilient.Do(t.Context(), outer, get, func(ctx context.Context) error {
				_, err := resilient.FirstOf(ctx, get, first.says("", resilient.RetryAfter(errDown, 5*sec)),
					second.says("", resilient.RetryAfter(errDown, 3*sec)))
				return err
			})
			assert.Equal(t, 5*sec, time.Since(start))
		})
	})
	t.Run("P30 a typed nil", func(t *testing.T) {
		log := &journal{}
		g := newGuard(t, steady(noDelay, attempts(2)), &resilient.Options{Logger: log.logger()})
		var none *resilient.NoAnswerError
		calls := 0
		err := resilient.Do(t.Context(), g, get, func(context.Context) error { calls++; return none })
		require.Error(t, err)
		assert.Equal(t, 2, calls, "a failure like any other")
		assert.NotContains(t, log.text(), "panic")
	})
}

// The context of an alternative ends with it.
func TestFirstOfEndsTheContextsOfLosers(t *testing.T) {
	var contexts []context.Context
	keep := func(err error) func(context.Context) (string, error) {
		return func(ctx context.Context) (string, error) {
			for _, before := range contexts {
				assert.Error(t, before.Err(), "the one before is over when the next begins")
			}
			contexts = append(contexts, ctx)
			return "", err
		}
	}
	a, b, c := providerOf(t, "a", nil), providerOf(t, "b", nil), providerOf(t, "c", nil)
	_, err := resilient.FirstOf(t.Context(), get, a.does(keep(resilient.Permanent(errDown))),
		b.does(keep(resilient.Permanent(errDown))), c.does(keep(nil)))
	require.NoError(t, err)
	assert.Len(t, contexts, 3)
}

// Nothing runs when any of it is wrong.
func TestFirstOfRefusesWhatIsNoCall(t *testing.T) {
	ctx := t.Context()
	good := providerOf(t, "good", nil)
	fine := good.says("1", nil)
	_, err := resilient.FirstOf[string](ctx, get)
	require.ErrorIs(t, err, resilient.ErrNoAlternatives)
	for name, want := range map[string]error{"guard": resilient.ErrNilGuard, "call": resilient.ErrNilFunction, "op": resilient.ErrInvalidOp, "ctx": resilient.ErrNilContext} {
		bad, op, in := good.says("2", nil), get, ctx
		switch name {
		case "guard":
			bad.Guard = nil
		case "call":
			bad.Call = nil
		case "op":
			op = op.WithTotalTimeout(-1)
		case "ctx":
			in = nil
		}
		_, err := resilient.FirstOf(in, op, fine, bad)
		require.ErrorIs(t, err, want)
	}
	_, err = resilient.FirstOf(ctx, get, resilient.Alternative[chan int]{Guard: good.guard, Call: func(context.Context) (chan int, error) { return nil, nil }})
	require.ErrorIs(t, err, resilient.ErrAsyncFunction)
	assert.Zero(t, good.calls)
}

// What an alternative panics with goes on as that panic.
func TestFirstOfLetsAPanicPass(t *testing.T) {
	first, second := providerOf(t, "first", nil), providerOf(t, "second", nil)
	assert.PanicsWithValue(t, "first", func() {
		_, _ = resilient.FirstOf(t.Context(), get, first.does(func(context.Context) (string, error) { panic("first") }), second.says("2", nil))
	})
	assert.Zero(t, second.calls)
	assert.Equal(t, 1, first.guard.Circuit().Snapshot().Failures)
}
