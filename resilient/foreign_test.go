package resilient_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// What foreign code does where the guard calls it: methods of errors, observers that
// take their time, contexts whose timer lags.

// Typed nils of other packages' error types, whose methods panic, are plain failures (P30).
func TestP30TypedNilsOfOthersArePlainFailures(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, typedNil := range []error{(*fs.PathError)(nil), (*url.Error)(nil), (*resilient.PanicError)(nil)} {
			g := newGuard(t, steady(attempts(2), threshold(2)), nil)
			calls := 0
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
				calls++
				return 0, typedNil
			})
			require.Error(t, err)
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.True(t, exhausted.Last == typedNil)
			assert.NotEmpty(t, exhausted.Error())
			assert.Equal(t, 2, calls)
			assert.Equal(t, breaker.Open, g.Circuit().State())
		}
	})
}

// P41: an observer of the circuit that takes longer than the call has, or ends its context, is followed by no attempt;
// the probe's place is free again.
func TestP41NoAttemptAfterASlowObserverOfHalfOpen(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for name, slow := range map[string]func(cancel context.CancelFunc){
			"slow":      func(context.CancelFunc) { time.Sleep(2 * sec) },
			"cancelled": func(cancel context.CancelFunc) { cancel() },
		} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			armed := false
			g := newGuard(t, steady(threshold(1), total(sec)), &resilient.Options{Observers: []resilient.Observer{
				resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
					if e, ok := event.(resilient.CircuitChanged); ok && e.To == breaker.HalfOpen && armed {
						slow(cancel)
					}
				}),
			}})
			open(t, g)
			time.Sleep(time.Until(g.Circuit().Snapshot().Until))
			armed = true
			_, err := in.call(ctx, g, get, func(context.Context) (int, error) {
				t.Error("an attempt was made")
				return 0, nil
			})
			if name == "slow" {
				require.ErrorIs(t, err, context.DeadlineExceeded, name)
			} else {
				require.ErrorIs(t, err, context.Canceled, name)
			}
			snap := g.Circuit().Snapshot()
			assert.Equal(t, breaker.HalfOpen, snap.State)
			assert.Zero(t, snap.Probes)
		}
	})
}

// P45: the cause of a deadline that has just passed comes back, although the context's own timer may lag.
func TestP45TheCauseOfADeadlineThatHasJustPassed(t *testing.T) {
	errShutdown := errors.New("shutdown")
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), sec, errShutdown)
			defer cancel()
			g := newGuard(t, steady(), nil)
			time.Sleep(sec)
			_, err := resilient.Execute(ctx, g, get, succeed)
			require.ErrorIs(t, err, errShutdown)
		})
	}
}

// The context of the last attempt ends with the call, also where each attempt has its own.
func TestTheLastAttemptsContextEndsWithTheCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(attempts(3)), nil)
		var last context.Context
		_, err := in.call(t.Context(), g, get.WithAttemptTimeout(sec), func(ctx context.Context) (int, error) {
			last = ctx
			if resilient.Attempt(ctx) < 3 {
				return 0, errDown
			}
			return 1, nil
		})
		require.NoError(t, err)
		require.ErrorIs(t, last.Err(), context.Canceled)
	})
}

type badUnwrap struct{}

func (badUnwrap) Error() string { return "bad" }
func (badUnwrap) Unwrap() error { panic("Unwrap") }

// What an error says of itself holds, although what is further in it panics when it is looked at.
func TestMarksOutliveAPanickingError(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for want, mark := range map[int]func(error) error{1: resilient.Permanent, 0: resilient.Neutral} {
			g := newGuard(t, steady(), nil)
			calls := 0
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
				calls++
				return 0, mark(badUnwrap{})
			})
			require.Error(t, err)
			assert.Equal(t, 1, calls)
			assert.Equal(t, want, g.Circuit().Snapshot().Failures)
		}
	})
}

// A call that runs as part of its own guard's probe retries as ever.
func TestABorrowedCallRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1)), nil)
		halfOpen(t, g)
		fn, calls := fails(2)
		err := resilient.Do(t.Context(), g, apply, func(ctx context.Context) error {
			_, err := resilient.Execute(ctx, g, get, fn)
			return err
		})
		require.NoError(t, err)
		assert.EqualValues(t, 3, calls.Load())
		assert.Equal(t, breaker.Closed, g.Circuit().State())
	})
}

// No wait ends past the deadline, however long those take who are told of it.
func TestTheWaitEndsInTimeAfterASlowObserver(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(delay(4*sec), total(5*sec)), &resilient.Options{Observers: []resilient.Observer{
			resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
				if _, ok := event.(resilient.RetryScheduled); ok {
					time.Sleep(3 * sec)
				}
			}),
		}})
		start := time.Now()
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, fn)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.LessOrEqual(t, time.Since(start), 5*sec)
		assert.EqualValues(t, 1, calls.Load())
	})
}

// An outcome that is none counts as what nobody vouches for.
func TestAnUnknownOutcomeIsAFailure(t *testing.T) {
	g := newGuard(t, steady(threshold(3)), &resilient.Options{Classify: func(error) resilient.Outcome { return 42 }})
	fn, calls := fails(always)
	_, err := resilient.Execute(t.Context(), g, get, fn)
	require.Error(t, err)
	assert.EqualValues(t, 3, calls.Load())
	assert.Equal(t, breaker.Open, g.Circuit().State())
}

// A context that was kept has ended by the return of its call, however late somebody asks.
func TestAContextThatWasKeptEndedWithItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept context.Context
		require.NoError(t, resilient.Do(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) error {
			kept = ctx
			return nil
		}))
		time.Sleep(time.Hour)
		assert.Equal(t, context.Canceled, kept.Err())
		assert.Equal(t, context.Canceled, context.Cause(kept))
	})
}

// SetPolicy may be called from the transition that a SetPolicy has caused.
func TestSetPolicyFromItsOwnTransition(t *testing.T) {
	var g *resilient.Guard
	calls := 0
	g = newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{
		resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
			if e, ok := event.(resilient.CircuitChanged); ok && e.To == breaker.Disabled {
				calls++
				policy := g.Policy()
				policy.Circuit.Enabled = true
				assert.NoError(t, g.SetPolicy(policy))
			}
		}),
	}})
	policy := g.Policy()
	policy.Circuit.Enabled = false
	require.NoError(t, g.SetPolicy(policy))
	assert.Equal(t, 1, calls)
	assert.True(t, g.Policy().Circuit.Enabled)
	assert.Equal(t, breaker.Closed, g.Circuit().State())
}

// Of policies that are set at once, the guard and its circuit follow the same.
func TestConcurrentSetPolicy(t *testing.T) {
	g := newGuard(t, steady(), nil)
	on := g.Policy()
	off := on
	off.Circuit.Enabled = false
	for range 5000 {
		var wg sync.WaitGroup
		wg.Go(func() { assert.NoError(t, g.SetPolicy(on)) })
		wg.Go(func() { assert.NoError(t, g.SetPolicy(off)) })
		wg.Wait()
		require.Equal(t, g.Policy().Circuit.Enabled, g.Circuit().State() != breaker.Disabled)
	}
}

// The lease of a later attempt follows the attempt's limit too.
func TestTheLeaseOfALaterAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := steady(delay(4*sec), threshold(2))
		policy.AttemptTimeout, policy.Circuit.RecoveryTimeout, policy.Circuit.Cooldown = sec, sec, 0
		g := newGuard(t, policy, nil)
		time.AfterFunc(sec, func() { open(t, g) })
		calls := 0
		err := resilient.Do(t.Context(), g, get, func(context.Context) error {
			if calls++; calls == 1 {
				return errDown
			}
			assert.Equal(t, 2*sec, time.Until(g.Circuit().Snapshot().Until), "a second, and one more")
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, 2, calls)
	})
}

// A result that is there is not lost to a context that is over too.
func TestAResultIsNotLostToAContextThatIsOver(t *testing.T) {
	f := resilient.Async(t.Context(), newGuard(t, steady(), nil), get, func(context.Context) (int, error) { return 7, nil })
	<-f.Done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		value, err := f.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, 7, value)
	}
}

func TestTheZeroPermitCountsNothing(t *testing.T) {
	var permit resilient.Permit
	assert.False(t, permit.Settle(nil))
	assert.False(t, permit.Settle(errDown))
}

// A success reads the clock once. Held by structure: on the way of a call that succeeds at once, the one call
// of Now is in run, beside those that only observers or probes cause.
func TestOneClockReading(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "pipeline.go", nil, 0)
	require.NoError(t, err)
	readings := map[string]int{"run": 0, "check": 0, "callersEnd": 0, "count": 0, "derive": 0, "attempt": 0}
	looked := 0
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if _, onTheWay := readings[fn.Name.Name]; !onTheWay {
			continue
		}
		looked++
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				switch call.Sel.Name {
				case "Now", "Since", "Until":
					readings[fn.Name.Name]++
				}
			}
			return true
		})
	}
	require.Equal(t, len(readings), looked)
	require.Equal(t, map[string]int{"run": 1, "check": 0, "callersEnd": 0, "count": 0, "derive": 0, "attempt": 0}, readings)
}

// A context that panics where the guard asks it before a retry that is to be a probe leaves the probe's place free.
func TestAProbeIsGivenBackIfTheContextPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(2), func(p *resilient.Policy) {
			p.Retry.BaseDelay, p.Circuit.RecoveryTimeout, p.Circuit.Cooldown = 10*sec, sec, 0
		}), nil)
		ctx := &explosive{Context: t.Context(), armed: func() bool { return g.Circuit().Snapshot().State == breaker.HalfOpen }}
		go func() { // another caller opens the circuit meanwhile
			time.Sleep(5 * sec)
			for range 2 {
				_ = resilient.Do(t.Context(), g, apply, returns(errDown))
			}
		}()
		assert.PanicsWithValue(t, "Err", func() { _ = resilient.Do(ctx, g, get, returns(errDown)) })
		snap := g.Circuit().Snapshot()
		assert.Equal(t, breaker.HalfOpen, snap.State)
		assert.Zero(t, snap.Probes)
		require.NoError(t, resilient.Do(t.Context(), g, get, returns(nil)))
	})
}

// explosive is a context whose Err panics once it is armed.
type explosive struct {
	context.Context
	armed func() bool
}

func (e *explosive) Err() error {
	if e.armed() {
		panic("Err")
	}
	return e.Context.Err()
}
