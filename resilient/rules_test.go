package resilient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// byShares is a circuit that also opens when half of ten calls fail, or take a second.
func byShares(p *resilient.Policy) {
	p.Circuit.FailureRate, p.Circuit.SlowCallRate, p.Circuit.SlowCallDuration = 0.5, 0.5, sec
	p.Circuit.MinimumCalls = 10
}

func observe(p *resilient.Policy) { p.Circuit.Observe = true }

// takes is a function that succeeds after that long.
func takes(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// Slow successes open the circuit, whichever way they are made.
func TestSlowCallsOpenTheCircuit(t *testing.T) {
	for name, slow := range map[string]func(t *testing.T, g *resilient.Guard){
		"Execute": func(t *testing.T, g *resilient.Guard) {
			require.NoError(t, resilient.Do(t.Context(), g, apply, takes(sec)))
		},
		"Async": func(t *testing.T, g *resilient.Guard) {
			_, err := resilient.Async(t.Context(), g, get, func(ctx context.Context) (int, error) { return 1, takes(sec)(ctx) }).Await(t.Context())
			require.NoError(t, err)
		},
		"Acquire": func(t *testing.T, g *resilient.Guard) {
			permit, err := g.Acquire(t.Context())
			require.NoError(t, err)
			time.Sleep(sec)
			permit.Settle(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuard(t, steady(byShares), nil)
				for range 5 {
					require.NoError(t, resilient.Do(t.Context(), g, get, takes(sec-1)))
				}
				for i := range 5 {
					require.Equal(t, breaker.Closed, g.Circuit().State(), i)
					slow(t, g)
				}
				require.Equal(t, breaker.Open, g.Circuit().State())
				err := resilient.Do(t.Context(), g, get, takes(0))
				var rejected *resilient.RejectedError
				require.ErrorAs(t, err, &rejected)
				assert.Equal(t, breaker.RuleSlowCalls, rejected.Rule)
				assert.ErrorIs(t, err, breaker.ErrSlow)
			})
		})
	}
}

// The waits between attempts are nobody's slowness, nor is the call's first attempt the
// second one's.
func TestWaitsAreNotSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(byShares, delay(10*sec)), nil)
		fn, _ := fails(2)
		_, err := resilient.Execute(t.Context(), g, get, fn)
		require.NoError(t, err)
		assert.Equal(t, breaker.Counts{Calls: 3, Failures: 2}, g.Circuit().Snapshot().Window)
	})
}

// An attempt that does not return, or panics, is as slow as it was.
func TestASlowPanicIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(byShares), nil)
		assert.Panics(t, func() {
			_ = resilient.Do(t.Context(), g, get, func(context.Context) error { time.Sleep(sec); panic("slow") })
		})
		assert.Equal(t, breaker.Counts{Calls: 1, Failures: 1, Slow: 1}, g.Circuit().Snapshot().Window)
	})
}

// An opening by a share says so in its record, with what it rests on.
func TestRecordOfARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		g := newGuard(t, steady(byShares, observe), &resilient.Options{Logger: log.logger()})
		for range 5 {
			require.NoError(t, resilient.Do(t.Context(), g, get, takes(0)))
			require.Error(t, resilient.Do(t.Context(), g, apply, returns(errDown)))
		}
		records := log.records(t)
		require.Len(t, records, 1)
		assert.Equal(t, record{
			"level": "ERROR", "msg": "circuit opened", "service": "plans", "from": "closed", "failure_count": 5.0,
			"rule": "failure_rate", "window_calls": 10.0, "window_failures": 5.0, "window_slow": 0.0, "mode": "observe",
			"round": 1.0, "generation": 1.0, "until": g.Circuit().Snapshot().Until.Format(time.RFC3339Nano), "error": "down",
		}, records[0])
	})
}

// A guard whose circuit only observes makes every attempt, retries included, and tells of
// the circuit's changes.
func TestObserveMakesEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []breaker.Transition
		var wouldReject []bool
		g := newGuard(t, steady(threshold(2), observe), &resilient.Options{Observers: []resilient.Observer{
			resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
				switch e := e.(type) {
				case resilient.CircuitChanged:
					changes = append(changes, e.Transition)
				case resilient.AttemptDone:
					wouldReject = append(wouldReject, e.WouldReject)
				case resilient.CallRejected, resilient.LateResult:
					t.Errorf("%T", e)
				}
			}),
		}})
		fn, calls := fails(always)
		_, err := resilient.Execute(t.Context(), g, get, fn)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonAttempts, exhausted.Reason)
		assert.EqualValues(t, 3, calls.Load())
		require.Len(t, changes, 1)
		assert.Equal(t, breaker.Open, changes[0].To)
		assert.True(t, changes[0].Observe)

		permit, err := g.Acquire(t.Context())
		require.NoError(t, err)
		assert.True(t, permit.Settle(nil))
		assert.EqualValues(t, 2, g.Circuit().Snapshot().WouldReject)
		require.NoError(t, resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
			return resilient.Do(ctx, g, get, takes(0))
		}))
		assert.EqualValues(t, 4, g.Circuit().Snapshot().WouldReject)
		assert.Equal(t, breaker.Open, g.Circuit().State())
		assert.Panics(t, func() {
			_ = resilient.Do(t.Context(), g, get, func(context.Context) error { panic("it ends in another way") })
		})
		assert.Equal(t, []bool{false, false, true, true, true, true, true}, wouldReject, "of each attempt, however it ends")
	})
}
