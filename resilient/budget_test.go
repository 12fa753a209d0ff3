package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// budgetOf makes a budget.
func budgetOf(tb testing.TB, rule resilient.BudgetRule) *resilient.Budget {
	tb.Helper()
	b, err := resilient.NewBudget(rule)
	require.NoError(tb, err)
	return b
}

// drawsOn makes a policy's retries draw on the budget "shared".
func drawsOn(p *resilient.Policy) { p.Retry.Budget = "shared" }

// sharing are options with that budget.
func sharing(b *resilient.Budget) *resilient.Options {
	return &resilient.Options{Budgets: map[string]*resilient.Budget{"shared": b}}
}

// tokens is a bucket in which a retry costs one of so many, and success brings nothing.
func tokens(n int) resilient.TokenBucket {
	return resilient.TokenBucket{Capacity: n, RetryCost: 1, ThrottledCost: 1}
}

// left is what a budget has left.
func left(b *resilient.Budget) int { return b.Snapshot().Left }

// A69: the published vectors of the AWS SDKs' retry behaviour 2.1. Each step is one attempt: what it ends with, and
// what is in the bucket when the next one begins, or the call is over.
func TestA69PublishedVectors(t *testing.T) {
	throttled := resilient.Throttled(errDown)
	tests := []struct {
		name    string
		tokens  int // at the beginning
		returns []error
		want    []int
		reason  resilient.Reason // 0 is a success
	}{
		{"retry eventually succeeds", 500, []error{errDown, errDown, nil}, []int{486, 472, 486}, 0},
		{"fail due to max attempts reached", 500, []error{errDown, errDown, errDown}, []int{486, 472, 472}, resilient.ReasonAttempts},
		{"retry quota reached after a single retry", 14, []error{errDown, errDown}, []int{0, 0}, resilient.ReasonBudget},
		{"no retries at all if retry quota is 0", 0, []error{errDown}, []int{0}, resilient.ReasonBudget},
		{"retry stops after retry quota exhaustion", 20, []error{errDown, errDown}, []int{6, 6}, resilient.ReasonBudget},
		{"throttling costs less", 500, []error{throttled, nil}, []int{495, 500}, 0},
		{"throttling, told by a hint", 500, []error{resilient.RetryAfter(errDown, sec), nil}, []int{495, 500}, 0},
		{"both kinds", 500, []error{throttled, errDown, nil}, []int{495, 481, 495}, 0},
		{"a success at once brings one", 400, []error{nil}, []int{401}, 0},
		{"a full bucket stays full", 500, []error{nil}, []int{500}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				b := emptiedTo(t, resilient.DefaultTokenBucket(), tt.tokens)
				g := newGuard(t, steady(drawsOn), sharing(b))
				var seen []int
				n := 0
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
					if n > 0 {
						seen = append(seen, left(b))
					}
					n++
					return 0, tt.returns[n-1]
				})
				assert.Equal(t, tt.want, append(seen, left(b)))
				assert.Equal(t, len(tt.returns), n)
				if tt.reason == 0 {
					assert.NoError(t, err)
					return
				}
				var exhausted *resilient.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, tt.reason, exhausted.Reason)
				require.ErrorIs(t, err, errDown)
			})
		})
	}
}

// emptiedTo is a budget with so many tokens left. Retries take them out, by a rule under which each costs one.
func emptiedTo(tb testing.TB, rule resilient.TokenBucket, level int) *resilient.Budget {
	tb.Helper()
	b := budgetOf(tb, tokens(rule.Capacity))
	g := newGuard(tb, steady(drawsOn, noDelay, attempts(2)), sharing(b))
	for left(b) > level {
		_ = resilient.Do(context.Background(), g, get, returns(errDown))
	}
	require.NoError(tb, b.SetRule(rule))
	require.Equal(tb, level, left(b))
	return b
}

// P127: the budget is asked before the wait, and the function's own error is found.
func TestP127AnEmptyBudgetEndsTheCallAtOnce(t *testing.T) {
	for name, rule := range map[string]resilient.BudgetRule{
		"tokens": tokens(1), "ratio": resilient.CallRatio{Window: time.Minute, Floor: 1},
	} {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				b := budgetOf(t, rule)
				seen := &recorder{}
				options := sharing(b)
				options.Observers = []resilient.Observer{seen}
				g := newGuard(t, steady(drawsOn), options)
				fn, calls := fails(always)
				start := time.Now()
				value, err := in.call(t.Context(), g, get, fn)
				assert.Equal(t, sec, time.Since(start), "one wait, for the retry that was paid")
				assert.EqualValues(t, 2, calls.Load())
				assert.Equal(t, 2, value)
				var exhausted *resilient.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, &resilient.ExhaustedError{
					Service: "plans", Operation: "get", Attempts: 2, Reason: resilient.ReasonBudget, Last: errDown,
				}, exhausted)
				assert.Equal(t, "plans.get: gave up after 2 attempts: retry budget used up: down", err.Error())
				require.ErrorIs(t, err, errDown)
				assert.Len(t, recorded[resilient.RetryScheduled](seen), 1, "P11: what will not be made is not announced")

				start = time.Now()
				_, err = in.call(t.Context(), g, get, fn)
				assert.Zero(t, time.Since(start))
				require.ErrorIs(t, err, errDown)
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, 1, exhausted.Attempts)
			})
		})
	}
}

// What the guard takes for an answer fills a bucket, be it an error: else a service that mostly says "not found" would
// never be repeated again after its first bad minute.
func TestAnswersFillTheBudget(t *testing.T) {
	b := budgetOf(t, resilient.TokenBucket{Capacity: 10, RetryCost: 5, ThrottledCost: 5, Refill: 1})
	options := sharing(b)
	options.Classify = resilient.Answers(errOther)
	g := newGuard(t, steady(drawsOn, noDelay, attempts(2)), options)
	makes := func(ends ...error) {
		made := 0
		_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
			made++
			return ends[made-1]
		})
		assert.Equal(t, len(ends), made)
	}
	makes(errDown, errOther)
	assert.Equal(t, 10, left(b), "a retry that was answered is paid back")
	makes(errDown, errDown)
	makes(errOther)
	assert.Equal(t, 6, left(b), "an answer at once brings one")
	makes(resilient.Neutral(errOther))
	makes(resilient.Permanent(errOther))
	makes(errDown, resilient.Neutral(errOther))
	assert.Equal(t, 1, left(b), "the others bring nothing")
}

// P129: an empty budget keeps back no first attempt and ends none that runs.
func TestP129AnEmptyBudgetEndsNoAttempt(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		b := emptiedTo(t, tokens(1), 0)
		g := newGuard(t, steady(drawsOn), sharing(b))
		value, err := in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
			time.Sleep(time.Minute)
			return 7, ctx.Err()
		})
		require.NoError(t, err)
		assert.Equal(t, 7, value)
	})
}

// A66: a retry counts when it is scheduled, so those that wait count too.
func TestA66WaitingRetriesCount(t *testing.T) {
	for _, floor := range []int{0, 10, 200, 300} {
		t.Run(fmt.Sprint(floor), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 1000
				b := budgetOf(t, resilient.CallRatio{Ratio: 0.2, Window: 10 * sec, Floor: floor})
				g := newGuard(t, steady(drawsOn, attempts(2)), sharing(b))
				var running, done sync.WaitGroup
				var mu sync.Mutex
				var calls int
				running.Add(n)
				for range n {
					done.Go(func() {
						first := true
						_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
							mu.Lock()
							calls++
							mu.Unlock()
							if first {
								first = false
								running.Done()
								running.Wait() // all are counted, then all fail at once
							}
							return errDown
						})
					})
				}
				synctest.Wait() // now those that may retry wait for it
				snap := b.Snapshot()
				allowed := max(200, floor)
				assert.Equal(t, allowed, snap.Retries)
				assert.Equal(t, n, snap.Calls)
				assert.Zero(t, snap.Left)
				done.Wait()
				assert.Equal(t, n+allowed, calls)
			})
		})
	}
}

// A67: calls count by the window, so calls that turn into waiting retries do not shrink the budget; and a service that
// is seldom called has the floor.
func TestA67TheWindowIsOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budgetOf(t, resilient.CallRatio{Ratio: 0.2, Window: 10 * sec, Floor: 3})
		g := newGuard(t, steady(drawsOn, attempts(2)), sharing(b))
		fails := func() (retried bool) {
			err := resilient.Do(t.Context(), g, get, returns(errDown))
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			return exhausted.Reason == resilient.ReasonAttempts
		}
		var together sync.WaitGroup
		var mu sync.Mutex
		retried := 0
		for range 6 {
			together.Go(func() {
				if fails() {
					mu.Lock()
					retried++
					mu.Unlock()
				}
			})
		}
		together.Wait()
		assert.Equal(t, 3, retried, "six at once: the floor")
		for range 5 {
			time.Sleep(time.Minute)
			assert.True(t, fails(), "one call a minute: always")
		}
	})
}

// What is out of the window counts no more, neither calls nor retries, and what is in it does to a tenth of it.
func TestTheWindowMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budgetOf(t, resilient.CallRatio{Ratio: 0.5, Window: 10 * sec})
		g := newGuard(t, steady(drawsOn, noDelay, attempts(2)), sharing(b))
		for range 4 {
			require.NoError(t, resilient.Do(t.Context(), g, get, returns(nil)))
		}
		time.Sleep(5 * sec)
		require.Error(t, resilient.Do(t.Context(), g, get, returns(errDown)))
		assert.Equal(t, resilient.BudgetSnapshot{Rule: b.Snapshot().Rule, Calls: 5, Retries: 1, Left: 1}, b.Snapshot())
		time.Sleep(5*sec - 1)
		assert.Equal(t, 5, b.Snapshot().Calls)
		time.Sleep(time.Nanosecond)
		assert.Equal(t, resilient.BudgetSnapshot{Rule: b.Snapshot().Rule, Calls: 1, Retries: 1}, b.Snapshot())
		time.Sleep(5 * sec)
		assert.Equal(t, resilient.BudgetSnapshot{Rule: b.Snapshot().Rule}, b.Snapshot())
		for range 3 * 24 * 3600 / 10 { // and for days
			time.Sleep(10 * sec)
			require.NoError(t, resilient.Do(t.Context(), g, get, returns(nil)))
			require.Equal(t, 1, b.Snapshot().Calls)
		}
	})
}

// What a retry has taken comes back when it is not made, whatever keeps it from being made.
func TestARetryThatIsNotMadeIsGivenBack(t *testing.T) {
	rules := map[string]resilient.BudgetRule{"tokens": tokens(5), "ratio": resilient.CallRatio{Window: time.Hour, Floor: 5}}
	ends := map[string]func(t *testing.T, g *resilient.Guard, cancel context.CancelCauseFunc, toggle *resilient.Switch){
		"the caller gives up": func(_ *testing.T, _ *resilient.Guard, cancel context.CancelCauseFunc, _ *resilient.Switch) {
			cancel(errOther)
		},
		"the circuit opens": func(_ *testing.T, g *resilient.Guard, _ context.CancelCauseFunc, _ *resilient.Switch) {
			g.Circuit().ForceOpen()
		},
		"retries are switched off": func(_ *testing.T, _ *resilient.Guard, _ context.CancelCauseFunc, s *resilient.Switch) {
			s.SetRetries(false)
		},
	}
	for ruleName, rule := range rules {
		for name, end := range ends {
			t.Run(ruleName+"/"+name, func(t *testing.T) {
				overEntries(t, func(t *testing.T, in entry) {
					b := budgetOf(t, rule)
					options := sharing(b)
					options.Switch = &resilient.Switch{Logger: (&journal{}).logger()}
					g := newGuard(t, steady(drawsOn, delay(10*sec)), options)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					time.AfterFunc(sec, func() {
						assert.Equal(t, 4, left(b), "counted while it waits")
						end(t, g, cancel, options.Switch)
					})
					fn, calls := fails(always)
					_, err := in.call(ctx, g, get, fn)
					require.ErrorIs(t, err, errDown)
					assert.EqualValues(t, 1, calls.Load())
					assert.Equal(t, 5, left(b))
				})
			})
		}
	}
	t.Run("observers use up the time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := budgetOf(t, tokens(5))
			options := sharing(b)
			options.Observers = []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
				if _, ok := e.(resilient.RetryScheduled); ok {
					time.Sleep(time.Hour)
				}
			})}
			err := resilient.Do(t.Context(), newGuard(t, steady(drawsOn), options), get, returns(errDown))
			require.Error(t, err)
			assert.Equal(t, 5, left(b))
		})
	})
	t.Run("an observer ends the goroutine", func(t *testing.T) {
		b := budgetOf(t, tokens(5))
		options := sharing(b)
		options.Observers = []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
			if _, ok := e.(resilient.RetryScheduled); ok {
				runtime.Goexit()
			}
		})}
		g := newGuard(t, steady(drawsOn), options)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = resilient.Do(context.Background(), g, get, returns(errDown))
		}()
		<-done
		assert.Equal(t, 5, left(b))
	})
	t.Run("nothing is taken where another limit ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := budgetOf(t, tokens(5))
			for _, policy := range []resilient.Policy{
				steady(drawsOn, total(sec)), steady(drawsOn, attempts(1)), steady(drawsOn, threshold(1)),
			} {
				require.Error(t, resilient.Do(t.Context(), newGuard(t, policy, sharing(b)), get, returns(errDown)))
			}
			g := newGuard(t, steady(drawsOn), sharing(b))
			for _, err := range []error{resilient.Permanent(errDown), resilient.Neutral(errDown), resilient.RetryAfter(errDown, time.Hour)} {
				require.Error(t, resilient.Do(t.Context(), g, get, returns(err)))
			}
			require.Error(t, resilient.Do(t.Context(), g, apply, returns(errDown)))
			assert.Equal(t, 5, left(b))
		})
	})
}

// A retry that panics was made.
func TestARetryThatPanicsIsNotGivenBack(t *testing.T) {
	b := budgetOf(t, tokens(5))
	g := newGuard(t, steady(drawsOn, noDelay), sharing(b))
	calls := 0
	assert.PanicsWithValue(t, "second", func() {
		_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
			if calls++; calls == 2 {
				panic("second")
			}
			return errDown
		})
	})
	assert.Equal(t, 4, left(b))
}

// Guards share a budget by its name, nested ones included; a call that is a part of one above that retries neither
// counts nor pays.
func TestNestedCallsDrawOnTheSameBudget(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		b := budgetOf(t, tokens(10))
		outer := named(t, "outer", steady(drawsOn, attempts(1)), sharing(b))
		inner := named(t, "inner", steady(drawsOn, noDelay), sharing(b))
		nested := func(ctx context.Context) (int, error) {
			return in.call(ctx, inner, get, func(context.Context) (int, error) { return 0, errDown })
		}
		_, err := in.call(t.Context(), outer, get, nested)
		require.Error(t, err)
		assert.Equal(t, 8, left(b), "the outer one does not retry, the inner one twice")

		require.NoError(t, outer.SetPolicy(steady(drawsOn, noDelay)))
		_, err = in.call(t.Context(), outer, get, nested)
		require.Error(t, err)
		assert.Equal(t, 6, left(b), "the outer one twice, the inner one not at all")
	})
	synctest.Test(t, func(t *testing.T) {
		b := budgetOf(t, resilient.CallRatio{Ratio: 1, Window: time.Minute})
		outer := named(t, "outer", steady(drawsOn, noDelay), sharing(b))
		inner := named(t, "inner", steady(drawsOn, noDelay), sharing(b))
		calls := 0
		require.NoError(t, resilient.Do(t.Context(), outer, get, func(ctx context.Context) error {
			_ = resilient.Do(ctx, inner, apply, returns(nil))
			return resilient.Do(ctx, inner, get, func(context.Context) error {
				if calls++; calls == 1 {
					return errDown
				}
				return nil
			})
		}))
		snap := b.Snapshot()
		assert.Equal(t, []int{1, 1}, []int{snap.Calls, snap.Retries}, "one call with one retry, whatever is inside")
		require.NoError(t, resilient.Do(t.Context(), inner, apply, returns(nil)))
		assert.Equal(t, 2, b.Snapshot().Calls, "a write counts as a call")
	})
}

// A call that a circuit refuses is no load, so it counts for nothing.
func TestRejectionsAreNotCountedInABudget(t *testing.T) {
	b := budgetOf(t, resilient.CallRatio{Ratio: 1, Window: time.Minute})
	g := newGuard(t, steady(drawsOn), sharing(b))
	g.Circuit().ForceOpen()
	require.Error(t, resilient.Do(t.Context(), g, get, returns(nil)))
	assert.Zero(t, b.Snapshot().Calls)
}

// A65: another rule scales what there is, and never fills it up.
func TestA65AChangedBudgetKeepsWhatIsUsed(t *testing.T) {
	b := emptiedTo(t, tokens(500), 250)
	for _, step := range []struct{ capacity, want int }{{100, 50}, {1, 0}, {1000, 0}} {
		require.NoError(t, b.SetRule(tokens(step.capacity)))
		assert.Equal(t, step.want, left(b))
	}
	b = emptiedTo(t, tokens(100), 50)
	require.NoError(t, b.SetRule(tokens(1_000_000)))
	assert.Equal(t, 500_000, left(b))
	require.NoError(t, b.SetRule(resilient.TokenBucket{Capacity: 1_000_000, RetryCost: 500_001, ThrottledCost: 1}))
	g := newGuard(t, steady(drawsOn, noDelay), sharing(b))
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, resilient.Do(t.Context(), g, get, returns(errDown)), &exhausted)
	assert.Equal(t, 1, exhausted.Attempts, "the new cost holds at once")

	synctest.Test(t, func(t *testing.T) {
		rule := resilient.CallRatio{Ratio: 0.1, Window: 10 * sec}
		b := budgetOf(t, rule)
		g := newGuard(t, steady(drawsOn, noDelay, attempts(100)), sharing(b))
		for range 99 {
			require.NoError(t, resilient.Do(t.Context(), g, get, returns(nil)))
		}
		fails := func() { require.Error(t, resilient.Do(t.Context(), g, get, returns(errDown))) }
		fails()
		check := func(calls, retries, left int) {
			t.Helper()
			assert.Equal(t, resilient.BudgetSnapshot{Rule: rule, Calls: calls, Retries: retries, Left: left}, b.Snapshot())
		}
		check(100, 10, 0)
		rule.Ratio = 0.2
		require.NoError(t, b.SetRule(rule))
		check(100, 10, 10)
		rule.Ratio = 0.05
		require.NoError(t, b.SetRule(rule))
		check(100, 10, 0)
		rule.Window, rule.Ratio = 20*sec, 0.1
		require.NoError(t, b.SetRule(rule))
		check(200, 20, 0)
		rule.Window = 5 * sec
		require.NoError(t, b.SetRule(rule))
		check(50, 5, 0)
		time.Sleep(5 * sec)
		check(0, 0, 0)
	})
}

// Millions of calls a second are still counted as what they are where the window becomes an hour.
func TestSetRuleOfABusyRatio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rule := resilient.CallRatio{Ratio: 0.1, Window: sec}
		b := budgetOf(t, rule)
		p := steady(drawsOn)
		p.Circuit.Enabled = false
		g := newGuard(t, p, sharing(b))
		const calls = 1_300_000
		for range calls {
			_ = resilient.Do(context.Background(), g, apply, returns(nil))
		}
		require.Equal(t, calls, b.Snapshot().Calls)
		rule.Window = time.Hour
		require.NoError(t, b.SetRule(rule))
		require.NoError(t, resilient.Do(t.Context(), g, apply, returns(nil)))
		assert.Equal(t, uint32(1<<31+1), uint32(b.Snapshot().Calls))
		time.Sleep(2 * time.Hour)
		assert.Zero(t, b.Snapshot().Calls)
	})
}

func TestBadBudgets(t *testing.T) {
	bucket, ratio := resilient.DefaultTokenBucket(), resilient.DefaultCallRatio()
	require.NoError(t, bucket.Validate())
	require.NoError(t, ratio.Validate())
	for name, rule := range map[string]resilient.BudgetRule{
		"nil":               nil,
		"a pointer":         &bucket,
		"zero":              resilient.TokenBucket{},
		"zero ratio":        resilient.CallRatio{},
		"capacity":          resilient.TokenBucket{Capacity: 1_000_001, RetryCost: 1, ThrottledCost: 1},
		"negative capacity": resilient.TokenBucket{Capacity: -1, RetryCost: 1, ThrottledCost: 1},
		"free":              resilient.TokenBucket{Capacity: 10, ThrottledCost: 1},
		"free throttled":    resilient.TokenBucket{Capacity: 10, RetryCost: 1},
		"dear":              resilient.TokenBucket{Capacity: 10, RetryCost: 11, ThrottledCost: 1},
		"refill":            resilient.TokenBucket{Capacity: 10, RetryCost: 1, ThrottledCost: 1, Refill: -1},
		"refill too large":  resilient.TokenBucket{Capacity: 10, RetryCost: 1, ThrottledCost: 1, Refill: 11},
		"ratio":             resilient.CallRatio{Ratio: 1.1, Window: sec},
		"negative ratio":    resilient.CallRatio{Ratio: -0.1, Window: sec},
		"no number":         resilient.CallRatio{Ratio: math.NaN(), Window: sec},
		"short":             resilient.CallRatio{Window: sec - 1},
		"long":              resilient.CallRatio{Window: time.Hour + 1},
		"floor":             resilient.CallRatio{Window: sec, Floor: -1},
		"high floor":        resilient.CallRatio{Window: sec, Floor: 1_000_001},
	} {
		_, err := resilient.NewBudget(rule)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "\n")
		for _, b := range []*resilient.Budget{budgetOf(t, bucket), budgetOf(t, ratio)} {
			before := b.Snapshot()
			require.Error(t, b.SetRule(rule), name)
			assert.Equal(t, before, b.Snapshot(), name)
		}
	}
	require.Error(t, budgetOf(t, bucket).SetRule(ratio))
	require.Error(t, budgetOf(t, ratio).SetRule(bucket))
	var none *resilient.Budget
	for _, b := range []*resilient.Budget{none, {}} {
		require.Error(t, b.SetRule(bucket))
		assert.Zero(t, b.Snapshot())
		_, err := resilient.NewGuard("plans", steady(drawsOn), sharing(b))
		require.Error(t, err, "one that was not made by NewBudget is none")
	}
}

// A policy that names a budget which there is not is refused, and one in force stays in force.
func TestAnUnknownBudgetIsRefused(t *testing.T) {
	b := budgetOf(t, tokens(5))
	_, err := resilient.NewGuard("plans", steady(drawsOn), nil)
	require.ErrorContains(t, err, `Retry.Budget is "shared"`)
	options := sharing(b)
	g := newGuard(t, steady(drawsOn), options)
	delete(options.Budgets, "shared") // a guard has its own copy
	require.NoError(t, g.SetPolicy(steady(drawsOn)))
	require.ErrorContains(t, g.SetPolicy(steady(func(p *resilient.Policy) { p.Retry.Budget = "shard" })), "shard")
	assert.Equal(t, "shared", g.Policy().Retry.Budget)
	long := make([]byte, 101)
	require.ErrorContains(t, g.SetPolicy(steady(func(p *resilient.Policy) { p.Retry.Budget = string(long) })), "100 characters")
	_, err = resilient.NewGuard("plans", steady(func(p *resilient.Policy) { p.Retry.Budget = "password=hunter2hunter2" }), options)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2hunter2")
}

// Many at once: no token is lost or made, and there are never more retries than the budget has.
func TestBudgetsUnderLoad(t *testing.T) {
	const workers, calls = 8, 300
	hammer := func(g *resilient.Guard, each func(worker, call int) error) {
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for c := range calls {
					_ = resilient.Do(context.Background(), g, get, func(context.Context) error { return each(w, c) })
				}
			})
		}
		all.Wait()
	}
	t.Run("tokens", func(t *testing.T) {
		b := budgetOf(t, tokens(1000))
		var mu sync.Mutex
		n := 0
		hammer(newGuard(t, steady(drawsOn, noDelay), sharing(b)), func(int, int) error {
			mu.Lock()
			defer mu.Unlock()
			n++
			return errDown
		})
		assert.Equal(t, workers*calls+1000, n)
		assert.Zero(t, left(b))
		require.NoError(t, b.SetRule(resilient.TokenBucket{Capacity: 1000, RetryCost: 1, ThrottledCost: 1, Refill: 1}))
		g := newGuard(t, steady(drawsOn), sharing(b))
		hammer(g, func(_, c int) error {
			if c >= 100 {
				return resilient.Neutral(errDown)
			}
			return nil
		})
		assert.Equal(t, workers*100, left(b), "each success brought one")
	})
	t.Run("ratio", func(t *testing.T) {
		b := budgetOf(t, resilient.CallRatio{Window: time.Hour, Floor: 1000})
		hammer(newGuard(t, steady(drawsOn, noDelay), sharing(b)), func(int, int) error { return errDown })
		snap := b.Snapshot()
		assert.Equal(t, workers*calls, snap.Calls, "each call counts once")
		assert.Equal(t, 1000, snap.Retries)
	})
	t.Run("the rule changes", func(t *testing.T) {
		b := budgetOf(t, resilient.DefaultTokenBucket())
		r := budgetOf(t, resilient.DefaultCallRatio())
		stop := make(chan struct{})
		var changing sync.WaitGroup
		changing.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				bucket, ratio := resilient.DefaultTokenBucket(), resilient.DefaultCallRatio()
				bucket.Capacity += i % 100
				ratio.Window += time.Duration(i%5) * sec
				if b.SetRule(bucket) != nil || r.SetRule(ratio) != nil {
					panic("a valid rule was refused")
				}
				if level := left(b); level < 0 || level > bucket.Capacity {
					panic(fmt.Sprint(level, " tokens"))
				}
				r.Snapshot()
			}
		})
		for _, budget := range []*resilient.Budget{b, r} {
			hammer(newGuard(t, steady(drawsOn, noDelay), sharing(budget)), func(w, c int) error {
				if (w+c)%3 == 0 {
					return errors.New("down")
				}
				return nil
			})
		}
		close(stop)
		changing.Wait()
	})
}
