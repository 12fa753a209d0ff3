package resilient_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

func TestR4ASuccessIsMadeOnce(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(), nil)
		fn, calls := fails(0)
		start := time.Now()
		value, err := in.call(t.Context(), g, get, fn)
		require.NoError(t, err)
		assert.Equal(t, 1, value)
		assert.EqualValues(t, 1, calls.Load())
		assert.Zero(t, time.Since(start))
	})
}

func TestR4P9RetriesUntilItSucceeds(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(delay(100*ms)), nil)
		fn, calls := fails(2)
		start := time.Now()
		var at []time.Duration
		value, err := in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
			at = append(at, time.Since(start))
			return fn(ctx)
		})
		require.NoError(t, err)
		assert.Equal(t, 3, value)
		assert.EqualValues(t, 3, calls.Load())
		assert.Equal(t, []time.Duration{0, 100 * ms, 200 * ms}, at, "the first wait is between call 1 and 2")
		assert.Equal(t, 200*ms, time.Since(start))
	})
}

func TestP10P34NoWaitAfterTheLastFailure(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(attempts(2), delay(2*sec)), nil)
		fn, calls := fails(always)
		start := time.Now()
		value, err := in.call(t.Context(), g, get, fn)
		assert.Equal(t, 2*sec, time.Since(start))
		assert.EqualValues(t, 2, calls.Load())
		assert.Equal(t, 2, value, "the last attempt's value is handed on")
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ExhaustedError{
			Service: "plans", Operation: "get", Attempts: 2, Reason: resilient.ReasonAttempts, Last: errDown,
		}, *exhausted)
	})
}

func TestP11NothingIsScheduledAfterTheLastFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &recorder{}
		g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{seen}})
		_ = resilient.Do(t.Context(), g, get, returns(errDown))
		var of []int
		for _, e := range recorded[resilient.RetryScheduled](seen) {
			of = append(of, e.Attempt)
		}
		assert.Equal(t, []int{1, 2}, of)
	})
}

func TestP13OneAttemptIsOneCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		g := newGuard(t, steady(attempts(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
		fn, calls := fails(always)
		start := time.Now()
		value, err := in.call(t.Context(), g, get, fn)
		assert.Same(t, errDown, err, "unchanged")
		assert.Equal(t, 1, value)
		assert.EqualValues(t, 1, calls.Load())
		assert.Zero(t, time.Since(start))
		assert.Empty(t, recorded[resilient.RetryScheduled](seen))
	})
}

// R2, R33 (direct calls).
func TestR2OnlyIdempotentOpsAreRepeated(t *testing.T) {
	anyOp := func(p *resilient.Policy) { p.Retry.IdempotentOnly = false }
	tests := []struct {
		name   string
		op     resilient.Op
		policy resilient.Policy
		calls  int64
	}{
		{"idempotent", resilient.Idempotent("x"), steady(), 3},
		{"not idempotent", resilient.NonIdempotent("x"), steady(), 1},
		{"the zero op", resilient.Op{}, steady(), 1},
		{"not idempotent, knowingly", resilient.NonIdempotent("x"), steady(anyOp), 3},
		{"idempotent, knowingly", resilient.Idempotent("x"), steady(anyOp), 3},
		{"one attempt, knowingly", resilient.NonIdempotent("x"), steady(anyOp, attempts(1)), 1},
		{"not idempotent with limits", resilient.NonIdempotent("x").WithTotalTimeout(sec).WithAttemptTimeout(sec), steady(), 1},
		{"tools outside of a plan", resilient.Idempotent("x").ExecutesTools(), steady(), 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				fn, calls := fails(always)
				_, err := in.call(t.Context(), newGuard(t, tt.policy, nil), tt.op, fn)
				assert.Equal(t, tt.calls, calls.Load())
				require.ErrorIs(t, err, errDown)
				assert.Equal(t, tt.calls == 1, err == errDown, "one permitted attempt comes back unchanged")
			})
		})
	}
}

func TestR3ToolsAreNotRepeatedInAReadOnlyPlan(t *testing.T) {
	readOnly := func(phase any) bool { return phase == "review" }
	tools := resilient.Idempotent("run").ExecutesTools()
	tests := []struct {
		name     string
		op       resilient.Op
		readOnly func(any) bool
		calls    int64
		asked    []any
	}{
		{"read-only phase", tools.InPlan("review"), readOnly, 1, []any{"review"}},
		{"another phase", tools.InPlan("execute"), readOnly, 3, []any{"execute"}},
		{"truthy, but no phase", tools.InPlan(true), readOnly, 3, []any{true}},
		{"no phase", tools, readOnly, 3, []any{nil}},
		{"no tools", resilient.Idempotent("run").InPlan("review"), readOnly, 3, nil},
		{"not repeatable anyway", resilient.NonIdempotent("run").ExecutesTools().InPlan("review"), readOnly, 1, nil},
		{"nobody says what is read-only", tools.InPlan("review"), nil, 3, nil},
		{"the predicate panics", tools.InPlan("review"), func(any) bool { panic("broken") }, 1, []any{"review"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				var asked []any
				options := &resilient.Options{}
				if tt.readOnly != nil {
					options.ReadOnlyPlan = func(phase any) bool {
						asked = append(asked, phase)
						return tt.readOnly(phase)
					}
				}
				fn, calls := fails(always)
				_, err := in.call(t.Context(), newGuard(t, steady(), options), tt.op, fn)
				require.ErrorIs(t, err, errDown)
				assert.Equal(t, tt.calls, calls.Load())
				assert.Equal(t, tt.asked, asked, "it is really asked, once a call")
			})
		})
	}
}

func TestP19ThePolicyIsNotChangedByCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := steady(noDelay)
		before := policy
		g := newGuard(t, policy, nil)
		for range 2 {
			_ = resilient.Do(t.Context(), g, get, returns(errDown))
		}
		assert.Equal(t, before, policy)
		assert.Equal(t, before, g.Policy())
	})
}

// A71: what a call learns about itself is its own.
func TestA71ConcurrentCallsOfOneGuard(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(), nil)
		var wrong atomic.Int64
		for i := range 100 {
			go func() {
				failures := i % 3
				fn, calls := fails(failures)
				start := time.Now()
				value, err := in.call(t.Context(), g, get, fn)
				if err != nil || value != failures+1 || calls.Load() != int64(failures+1) || time.Since(start) != time.Duration(failures)*sec {
					wrong.Add(1)
				}
			}()
		}
		time.Sleep(time.Minute)
		assert.Zero(t, wrong.Load())
	})
}

// R18: no lock is held while the function runs, nor by whoever is told of it.
func TestR18TheGuardCanBeUsedFromInside(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var g *resilient.Guard
		use := func() {
			_ = g.Circuit().Snapshot()
			_ = g.Circuit().State()
			_ = g.Policy()
			assert.NoError(t, g.SetPolicy(g.Policy()))
			permit, err := g.Acquire(context.Background())
			if err == nil {
				permit.Settle(nil)
			}
		}
		depth := 0
		g = newGuard(t, steady(threshold(2)), &resilient.Options{
			Observers: []resilient.Observer{resilient.ObserverFunc(func(context.Context, resilient.Event) {
				if depth++; depth == 1 {
					use()
					_ = resilient.Do(context.Background(), g, apply, returns(resilient.Neutral(errDown)))
				}
				depth--
			})},
			Classify:     func(error) resilient.Outcome { use(); return resilient.OutcomeFailure },
			ReadOnlyPlan: func(any) bool { use(); return false },
		})
		_, err := in.call(t.Context(), g, get.ExecutesTools(), func(context.Context) (int, error) {
			use()
			g.Circuit().ForceOpen()
			g.Circuit().Reset()
			return 0, errDown
		})
		require.ErrorIs(t, err, errDown)
	})
}
