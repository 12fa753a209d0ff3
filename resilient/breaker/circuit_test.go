package breaker_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

var errDown = errors.New("down")

func newCircuit(t testing.TB, settings breaker.Settings, options *breaker.Options) *breaker.Circuit {
	t.Helper()
	c, err := breaker.New("search", settings, options)
	require.NoError(t, err)
	return c
}

// attempt makes one attempt with that outcome and reports whether it was admitted.
func attempt(c *breaker.Circuit, o breaker.Outcome) bool {
	permit, rejected := c.Acquire(c.Now(), 0)
	if rejected != nil {
		return false
	}
	c.Settle(permit, o, errDown)
	return true
}

func trip(t testing.TB, c *breaker.Circuit, settings breaker.Settings) {
	t.Helper()
	for range settings.FailureThreshold {
		require.True(t, attempt(c, breaker.Failure))
	}
	require.Equal(t, breaker.Open, c.State())
}

// TestTripRules is R11 and the cases on the consecutive rule.
func TestTripRules(t *testing.T) {
	const s, f, n = breaker.Success, breaker.Failure, breaker.Neutral
	for name, tt := range map[string]struct {
		threshold int
		outcomes  []breaker.Outcome
		gap       time.Duration
		want      breaker.State
		failures  int
	}{
		"P59 failures far apart count":    {5, []breaker.Outcome{f, f, f, f, f}, 19 * time.Second, breaker.Open, 5},
		"P59 hours apart":                 {3, []breaker.Outcome{f, f, f}, 7 * time.Hour, breaker.Open, 3},
		"P63 a success ends the run":      {3, []breaker.Outcome{f, s, f, s, f, s}, 0, breaker.Closed, 0},
		"one short":                       {3, []breaker.Outcome{f, f}, 0, breaker.Closed, 2},
		"P65 the probe limit has no say":  {10, []breaker.Outcome{f, f, f, f, f, f, f, f, f}, 0, breaker.Closed, 9},
		"P71 neutral is not counted":      {2, []breaker.Outcome{n, n, n, n, n}, 0, breaker.Closed, 0},
		"neutral does not end a run":      {2, []breaker.Outcome{f, n, f}, 0, breaker.Open, 2},
		"what nobody judged is a failure": {1, []breaker.Outcome{breaker.Unjudged}, 0, breaker.Open, 1},
		"threshold 1":                     {1, []breaker.Outcome{s, s, f}, 0, breaker.Open, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings := small()
				settings.FailureThreshold, settings.MaxProbes = tt.threshold, 3
				c := newCircuit(t, settings, nil)
				for _, o := range tt.outcomes {
					require.True(t, attempt(c, o))
					time.Sleep(tt.gap)
				}
				assert.Equal(t, tt.want, c.State())
				assert.Equal(t, tt.failures, c.Snapshot().Failures)
			})
		})
	}
}

// TestRecovery goes the whole way round (R12, R13), with the snapshot at each step.
func TestRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		settings.MaxProbes, settings.SuccessesToClose = 2, 2
		c, start := newCircuit(t, settings, nil), time.Now()
		trip(t, c, settings)

		snap := c.Snapshot()
		assert.Equal(t, breaker.Open, snap.State)
		assert.Equal(t, start.Add(10*time.Second).UTC(), snap.Until.UTC())
		assert.Equal(t, 2, snap.Failures)
		assert.Equal(t, 1, snap.Generation)
		assert.ErrorIs(t, snap.Cause, errDown)
		assert.False(t, snap.ProbeDue)

		time.Sleep(10*time.Second - 1)
		require.False(t, attempt(c, breaker.Success))
		time.Sleep(time.Nanosecond)
		assert.True(t, c.Snapshot().ProbeDue, "P102: open, but a probe is due")
		assert.Equal(t, breaker.Open, c.State(), "nobody has asked yet")

		first, rejected := c.Acquire(c.Now(), limit)
		require.Nil(t, rejected)
		snap = c.Snapshot()
		assert.Equal(t, breaker.HalfOpen, snap.State)
		assert.Zero(t, snap.Failures, "R12: the failure count is 0 on entry")
		assert.Equal(t, 1, snap.Probes)
		second, rejected := c.Acquire(c.Now(), limit)
		require.Nil(t, rejected)
		_, rejected = c.Acquire(c.Now(), limit)
		require.NotNil(t, rejected, "R14")
		assert.Equal(t, breaker.HalfOpen, rejected.State)
		assert.Equal(t, limit+time.Second, rejected.RetryAfter(), "the earliest lease's end")

		require.True(t, c.Settle(first, breaker.Success, nil))
		require.Equal(t, breaker.HalfOpen, c.State())
		require.True(t, c.Settle(second, breaker.Success, nil))
		require.Equal(t, breaker.Closed, c.State())
		assert.Zero(t, c.Snapshot().Generation)

		trip(t, c, settings)
		assert.Equal(t, start.Add(25*time.Second).UTC(), c.Snapshot().Until.UTC(), "R12: the cooldown counts from the last entry into half-open")
		time.Sleep(15 * time.Second)
		require.True(t, attempt(c, breaker.Failure))
		assert.Equal(t, breaker.Open, c.State(), "R13: any failure opens")
		assert.Equal(t, 2, c.Snapshot().Generation)
		assert.Equal(t, 1, c.Snapshot().Failures)
	})
}

// TestProbeThatNeverReports is P81, A2, A3, A27: with the default settings, a probe
// that is never settled gives its place up, and its late results change nothing.
func TestProbeThatNeverReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := breaker.DefaultSettings()
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		time.Sleep(settings.RecoveryTimeout)
		lost, rejected := c.Acquire(c.Now(), 0)
		require.Nil(t, rejected)
		_, rejected = c.Acquire(c.Now(), 0)
		require.NotNil(t, rejected)
		require.Equal(t, 330*time.Second, rejected.RetryAfter(), "without a limit: 300 s and a tenth")
		time.Sleep(330*time.Second - 1)
		require.False(t, attempt(c, breaker.Success))
		time.Sleep(time.Nanosecond)
		probe, rejected := c.Acquire(c.Now(), 0)
		require.Nil(t, rejected)
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
			require.False(t, c.Settle(lost, o, errDown))
		}
		assert.EqualValues(t, 2, c.Snapshot().Late)
		require.Equal(t, breaker.HalfOpen, c.State())
		require.True(t, c.Settle(probe, breaker.Success, nil))
		require.Equal(t, breaker.Closed, c.State())
	})
}

// TestLeaseFollowsTheLimit: the lease outlasts the limit that the call has, so that
// a probe which hangs until then still settles in time (A7).
func TestLeaseFollowsTheLimit(t *testing.T) {
	for _, tt := range []struct{ limit, configured, want time.Duration }{
		{0, 0, 330 * time.Second},
		{100 * time.Millisecond, 0, 1100 * time.Millisecond},
		{20 * time.Second, 0, 22 * time.Second},
		{20 * time.Second, time.Second, 22 * time.Second}, // can only lengthen
		{20 * time.Second, time.Minute, time.Minute},
		{breakerForever, 0, breakerForever},
	} {
		synctest.Test(t, func(t *testing.T) {
			settings := small()
			settings.ProbeLease = tt.configured
			c := newCircuit(t, settings, nil)
			trip(t, c, settings)
			time.Sleep(10 * time.Second)
			_, rejected := c.Acquire(c.Now(), tt.limit)
			require.Nil(t, rejected)
			_, rejected = c.Acquire(c.Now(), tt.limit)
			if tt.want == breakerForever {
				assert.Greater(t, rejected.RetryAfter(), 100*365*24*time.Hour)
				return
			}
			assert.Equal(t, tt.want, rejected.RetryAfter())
		})
	}
}

const breakerForever = time.Duration(1<<63 - 1)

// TestLateResults is R15, P86, P87, P91, A5, A19: what began in another round
// changes nothing, in whatever state it arrives.
func TestLateResults(t *testing.T) {
	for _, late := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral} {
		t.Run(late.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings := small()
				c := newCircuit(t, settings, nil)
				var old [4]breaker.Permit
				for i := range old {
					old[i], _ = c.Acquire(c.Now(), 0)
				}
				trip(t, c, settings)
				unchanged := func(permit breaker.Permit) {
					before := c.Snapshot()
					require.Equal(t, late == breaker.Neutral, c.Settle(permit, late, errDown))
					after := c.Snapshot()
					before.Late, after.Late = 0, 0
					require.Equal(t, before, after)
				}
				time.Sleep(3 * time.Second)
				unchanged(old[0]) // open: P91, the time does not move
				time.Sleep(7 * time.Second)
				probe, rejected := c.Acquire(c.Now(), 0)
				require.Nil(t, rejected)
				unchanged(old[1]) // half-open
				_, rejected = c.Acquire(c.Now(), 0)
				require.NotNil(t, rejected, "A5: no place has been given back")
				require.True(t, c.Settle(probe, breaker.Success, nil), "P87: the probe decides")
				require.Equal(t, breaker.Closed, c.State())
				unchanged(old[2]) // closed again
				c.ForceOpen()
				unchanged(old[3])
			})
		})
	}
}

// TestNeutralProbe is A1, A18, P74, P85: a probe without a verdict gives its place
// back at once.
func TestNeutralProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		time.Sleep(10 * time.Second)
		for range 3 {
			require.True(t, attempt(c, breaker.Neutral))
			require.Equal(t, breaker.HalfOpen, c.State())
			require.Zero(t, c.Snapshot().Successes)
		}
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())
	})
}

// TestRejectionsDoNotDelayRecovery is A26 and P73: nor do they count as failures.
func TestRejectionsDoNotDelayRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		for range 999 {
			time.Sleep(10 * time.Millisecond)
			require.False(t, attempt(c, breaker.Failure))
		}
		time.Sleep(10 * time.Millisecond)
		require.True(t, attempt(c, breaker.Success))
		assert.EqualValues(t, 999, c.Snapshot().Rejected)
		assert.Zero(t, c.Snapshot().Failures)
		c.Reset()
		assert.Zero(t, c.Snapshot().Rejected, "R16: all counters")
	})
}

// TestOneProbeInTheRush is R14, P78, A9: at the very instant that the open time
// ends, one of many gets in; all fail, and the generation rises once.
func TestOneProbeInTheRush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		for generation := 2; generation < 50; generation++ {
			time.Sleep(time.Until(c.Snapshot().Until))
			var admitted atomic.Int64
			var wg sync.WaitGroup
			hold := make(chan struct{})
			for range 100 {
				wg.Go(func() {
					permit, rejected := c.Acquire(c.Now(), 0)
					if rejected != nil {
						return
					}
					admitted.Add(1)
					<-hold
					c.Settle(permit, breaker.Failure, errDown)
				})
			}
			synctest.Wait()
			require.EqualValues(t, 1, admitted.Load())
			close(hold)
			wg.Wait()
			require.Equal(t, breaker.Open, c.State())
			require.Equal(t, generation, c.Snapshot().Generation)
		}
	})
}

// TestGapBetweenProbes is P89 and A46: never two probes within the cooldown,
// whoever races.
func TestGapBetweenProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		settings.RecoveryTimeout, settings.Cooldown = time.Second, 15*time.Second
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		var mu sync.Mutex
		var probes []time.Time
		ctx, stop := context.WithTimeout(t.Context(), 4*time.Hour)
		defer stop()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for ctx.Err() == nil {
					if permit, rejected := c.Acquire(c.Now(), 0); rejected == nil {
						mu.Lock()
						probes = append(probes, time.Now())
						mu.Unlock()
						c.Settle(permit, breaker.Failure, errDown)
					} else {
						time.Sleep(max(rejected.RetryAfter(), time.Millisecond))
					}
				}
			})
		}
		wg.Wait()
		require.Greater(t, len(probes), 900)
		for i := range probes[1:] {
			require.GreaterOrEqual(t, probes[i+1].Sub(probes[i]), 15*time.Second)
		}
	})
}

// TestGrowingOpenTime is the growing open time, seen from outside.
func TestGrowingOpenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		settings.Cooldown, settings.RecoveryMultiplier, settings.MaxRecoveryTimeout = 0, 2, 35*time.Second
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 35 * time.Second, 35 * time.Second} {
			require.Equal(t, want, time.Until(c.Snapshot().Until))
			time.Sleep(want)
			require.True(t, attempt(c, breaker.Failure))
		}
	})
}

// TestSettingsHoldAtOnce is R19: a changed policy reaches a circuit that is open.
func TestSettingsHoldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		settings.RecoveryTimeout = time.Hour
		require.NoError(t, c.SetSettings(settings))
		require.Equal(t, time.Hour, time.Until(c.Snapshot().Until))
		time.Sleep(20 * time.Second)
		require.False(t, attempt(c, breaker.Success))
		settings.RecoveryTimeout = 15 * time.Second
		settings.MaxProbes, settings.SuccessesToClose = 2, 2
		require.NoError(t, c.SetSettings(settings))
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.HalfOpen, c.State(), "two successes are needed now")
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())

		bad := settings
		bad.FailureThreshold = 0
		require.ErrorContains(t, c.SetSettings(bad), "FailureThreshold is 0")
		require.Equal(t, breaker.Closed, c.State())
	})
}

// TestDisabled is R17: switched off by its settings, a circuit admits all and
// counts nothing; switched on, it begins with nothing on its books.
func TestDisabled(t *testing.T) {
	settings := small()
	settings.Enabled = false
	c := newCircuit(t, settings, nil)
	for range 10 {
		require.True(t, attempt(c, breaker.Failure))
	}
	require.Equal(t, breaker.Disabled, c.State())
	require.Zero(t, c.Snapshot().Failures)
	c.Reset()
	require.Equal(t, breaker.Disabled, c.State(), "reset lifts a force, not a setting")
	settings.Enabled = true
	require.NoError(t, c.SetSettings(settings))
	require.True(t, attempt(c, breaker.Failure))
	require.Equal(t, breaker.Closed, c.State())
	require.True(t, attempt(c, breaker.Failure))
	require.Equal(t, breaker.Open, c.State())
}

// TestForce is P98: a force is sticky, whatever the time and the results, and what
// was beneath comes back.
func TestForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		c := newCircuit(t, settings, nil)
		c.ForceOpen()
		for range 60 {
			time.Sleep(time.Minute)
			require.False(t, attempt(c, breaker.Success))
		}
		_, rejected := c.Acquire(c.Now(), 0)
		assert.Zero(t, rejected.RetryAfter())
		assert.Nil(t, rejected.Cause)
		c.Release()
		require.Equal(t, breaker.Closed, c.State())

		c.ForceClosed()
		for range 10 {
			require.True(t, attempt(c, breaker.Failure))
		}
		require.Equal(t, breaker.ForcedClosed, c.State())
		c.Release()
		require.Zero(t, c.Snapshot().Failures)

		trip(t, c, settings)
		c.Disable()
		require.True(t, attempt(c, breaker.Failure))
		c.Release()
		require.Equal(t, breaker.Open, c.State())
		require.Equal(t, 10*time.Second, time.Until(c.Snapshot().Until))
		c.Release() // nothing to release: nothing happens
		require.Equal(t, breaker.Open, c.State())
	})
}

// TestReset is R16 and P99: in each state, twice.
func TestReset(t *testing.T) {
	states := map[string]func(c *breaker.Circuit, s breaker.Settings){
		"closed": func(c *breaker.Circuit, _ breaker.Settings) { attempt(c, breaker.Failure) },
		"open":   func(c *breaker.Circuit, s breaker.Settings) { trip(t, c, s) },
		"half-open": func(c *breaker.Circuit, s breaker.Settings) {
			trip(t, c, s)
			time.Sleep(time.Minute)
			_, rejected := c.Acquire(c.Now(), 0)
			require.Nil(t, rejected)
		},
		"forced open":   func(c *breaker.Circuit, s breaker.Settings) { trip(t, c, s); c.ForceOpen() },
		"forced closed": func(c *breaker.Circuit, s breaker.Settings) { trip(t, c, s); c.ForceClosed() },
		"disabled":      func(c *breaker.Circuit, s breaker.Settings) { trip(t, c, s); c.Disable() },
	}
	for name, into := range states {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settings := small()
				c := newCircuit(t, settings, nil)
				into(c, settings)
				for range 2 {
					c.Reset()
					snap := c.Snapshot()
					require.Equal(t, breaker.Closed, snap.State)
					require.Zero(t, snap.Failures)
					require.Zero(t, snap.Generation)
					require.Zero(t, snap.LastFailure)
					require.NoError(t, snap.Cause)
				}
				time.Sleep(time.Hour)
				require.Equal(t, breaker.Closed, c.State(), "no timer flips it later")
				require.True(t, attempt(c, breaker.Failure))
				require.Equal(t, breaker.Closed, c.State(), "the count began anew")
			})
		})
	}
}

// TestBurst is P67 and P75: many failures in one instant count, each of them, and
// open the circuit once.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Int64
		settings := small()
		settings.FailureThreshold = 100
		c := newCircuit(t, settings, &breaker.Options{OnTransition: func(tr breaker.Transition) {
			if tr.To == breaker.Open {
				opened.Add(1)
				assert.Equal(t, 100, tr.Failures)
			}
		}})
		time.Sleep(24 * time.Hour)
		var wg sync.WaitGroup
		var permits [150]breaker.Permit
		for i := range permits {
			permits[i], _ = c.Acquire(c.Now(), 0)
		}
		for _, permit := range permits {
			wg.Go(func() { c.Settle(permit, breaker.Failure, errDown) })
		}
		wg.Wait()
		require.Equal(t, breaker.Open, c.State())
		require.EqualValues(t, 1, opened.Load(), "A23: one opening, whatever is still in flight")
		require.EqualValues(t, 50, c.Snapshot().Late)
		require.False(t, attempt(c, breaker.Success))
	})
}

// TestHealthyCircuitCostsNothing holds the cost of design and docs: no allocation
// on a healthy circuit, nor for a rejection; two views serve a round that flaps
// between clean and failing.
func TestHealthyCircuitCostsNothing(t *testing.T) {
	settings := small()
	settings.FailureThreshold = 1_000_000
	c := newCircuit(t, settings, nil)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Success) }))
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Neutral) }))
	c.ForceOpen()
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Success) }), "a rejection")
	c.Release()
	settings.FailureThreshold = 1
	require.NoError(t, c.SetSettings(settings))
	trip(t, c, settings)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Success) }), "a rejection by an open circuit")
}

// TestHealthyCircuitTakesNoLock: with the lock held by somebody, attempts pass.
func TestHealthyCircuitTakesNoLock(t *testing.T) {
	c := newCircuit(t, small(), nil)
	unlock := breaker.Lock(c)
	defer unlock()
	require.True(t, attempt(c, breaker.Success))
	require.True(t, attempt(c, breaker.Neutral))
	require.Equal(t, breaker.Closed, c.State())
}

// TestPermitIsSmall: at most 16 bytes, as it travels with every call.
// TestWhatPermitsTell: only those that were had at once, without asking anybody, are not delayed.
func TestWhatPermitsTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, observe := range []bool{false, true} {
			s := small()
			s.Observe = observe
			c := newCircuit(t, s, nil)
			healthy, rejected := c.Acquire(c.Now(), limit)
			require.Nil(t, rejected)
			assert.Equal(t, []bool{false, false, false}, []bool{healthy.Delayed(), healthy.Probe(), healthy.WouldReject()})
			trip(t, c, s)
			if observe {
				refused, _ := c.Acquire(c.Now(), limit)
				assert.Equal(t, []bool{true, false, true}, []bool{refused.Delayed(), refused.Probe(), refused.WouldReject()})
			}
			time.Sleep(time.Until(c.Snapshot().Until))
			probe, rejected := c.Acquire(c.Now(), limit)
			require.Nil(t, rejected)
			assert.Equal(t, []bool{true, true, false}, []bool{probe.Delayed(), probe.Probe(), probe.WouldReject()})
		}
	})
}

func TestPermitIsSmall(t *testing.T) {
	require.LessOrEqual(t, breaker.PermitSize, uintptr(16))
}

// TestNoGoroutine: a circuit has none, in whatever state.
func TestNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 1000 {
		c := newCircuit(t, small(), nil)
		trip(t, c, small())
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// TestHealthyCircuitReadsNoClock holds it by structure: neither Acquire nor Settle
// reads a clock itself; they leave that to the ways that a healthy circuit does not
// take.
func TestHealthyCircuitReadsNoClock(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "circuit.go", nil, 0)
	require.NoError(t, err)
	looked := 0
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Name.Name != "Acquire" && fn.Name.Name != "Settle" {
			continue
		}
		looked++
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				assert.NotContains(t, []string{"Now", "Since", "Until", "Snapshot"}, call.Sel.Name, fn.Name.Name)
			}
			return true
		})
	}
	require.Equal(t, 2, looked)
}

// TestSettingsLeaveTheRoundAlone: other settings void neither the count nor the
// permits that are out, and a lower threshold holds for the next failure.
func TestSettingsLeaveTheRoundAlone(t *testing.T) {
	settings := breaker.DefaultSettings()
	c := newCircuit(t, settings, nil)
	out, _ := c.Acquire(c.Now(), 0)
	for range 3 {
		attempt(c, breaker.Failure)
	}
	settings.FailureThreshold = 2
	require.NoError(t, c.SetSettings(settings))
	require.Equal(t, breaker.Closed, c.State())
	require.True(t, c.Settle(out, breaker.Failure, errDown))
	require.Equal(t, breaker.Open, c.State())
}

// TestRejectedUntilTheEarliestLease: whichever probe that is.
func TestRejectedUntilTheEarliestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		settings.MaxProbes = 2
		c := newCircuit(t, settings, nil)
		trip(t, c, settings)
		time.Sleep(time.Hour)
		for _, limit := range []time.Duration{10 * time.Second, time.Second} {
			_, rejected := c.Acquire(c.Now(), limit)
			require.Nil(t, rejected)
		}
		_, rejected := c.Acquire(c.Now(), 0)
		require.Equal(t, 2*time.Second, rejected.RetryAfter())
		require.Zero(t, testing.AllocsPerRun(100, func() { attempt(c, breaker.Success) }), "a rejection in half-open")
	})
}

// Admits asks for nothing: it is false as soon as anything would have to be asked.
func TestAdmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, breaker.DefaultSettings(), nil)
		assert.True(t, c.Admits(c.Now()))
		for range 5 {
			attempt(c, breaker.Failure)
		}
		assert.False(t, c.Admits(c.Now()), "open")
		time.Sleep(61 * time.Second)
		assert.False(t, c.Admits(c.Now()), "a probe has to be asked for")
		assert.Equal(t, breaker.Open, c.State(), "and was not")
		c.Disable()
		assert.True(t, c.Admits(c.Now()))

		store := breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})
		shared := newCircuit(t, breaker.DefaultSettings(), &breaker.Options{Store: store})
		assert.False(t, shared.Admits(shared.Now()), "nothing is known yet")
		attempt(shared, breaker.Success)
		assert.True(t, shared.Admits(shared.Now()))
		time.Sleep(2 * time.Second)
		assert.False(t, shared.Admits(shared.Now()), "what is known is too old")
	})
}
