package breaker_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// byRate are settings whose only rule is the share of failures.
func byRate(rate float64, minimum int) breaker.Settings {
	s := small()
	s.FailureThreshold, s.FailureRate, s.MinimumCalls = 0, rate, minimum
	return s
}

// bySlow are settings whose only rule is the share of slow calls, of a second or more.
func bySlow(rate float64, minimum int) breaker.Settings {
	s := small()
	s.FailureThreshold, s.SlowCallRate, s.SlowCallDuration, s.MinimumCalls = 0, rate, time.Second, minimum
	return s
}

// attempts makes n attempts with that outcome, as long as they are admitted.
func attempts(c *breaker.Circuit, n int, o breaker.Outcome) {
	for range n {
		attempt(c, o)
	}
}

// lasting makes an attempt that takes so long.
func lasting(c *breaker.Circuit, d time.Duration, o breaker.Outcome) bool {
	began := c.Now()
	permit, rejected := c.Acquire(began, 0)
	if rejected != nil {
		return false
	}
	time.Sleep(d)
	c.SettleSince(permit, began, o, errDown)
	return true
}

// TestFailureRate is P61 and P62 and their like.
func TestFailureRate(t *testing.T) {
	const s, f, n = breaker.Success, breaker.Failure, breaker.Neutral
	type step struct {
		times   int
		outcome breaker.Outcome
	}
	for name, tt := range map[string]struct {
		settings breaker.Settings
		steps    []step
		want     breaker.State
		window   breaker.Counts // when it opened, or at the end
	}{
		"P62 57 of 100 at 0.57": {byRate(0.57, 100), []step{{43, s}, {57, f}}, breaker.Open, breaker.Counts{Calls: 100, Failures: 57}},
		"P62 56 of 99 at 0.57":  {byRate(0.57, 99), []step{{43, s}, {56, f}}, breaker.Closed, breaker.Counts{Calls: 99, Failures: 56}},
		"P62 99 of 200 at 0.50": {byRate(0.50, 100), []step{{101, s}, {99, f}}, breaker.Closed, breaker.Counts{Calls: 200, Failures: 99}},
		"one more":              {byRate(0.50, 100), []step{{101, s}, {101, f}}, breaker.Open, breaker.Counts{Calls: 202, Failures: 101}},
		"too few calls":         {byRate(0.1, 20), []step{{19, f}}, breaker.Closed, breaker.Counts{Calls: 19, Failures: 19}},
		"enough calls":          {byRate(0.1, 20), []step{{20, f}}, breaker.Open, breaker.Counts{Calls: 20, Failures: 20}},
		"a success opens nothing, the failure after it does": {
			byRate(0.5, 20), []step{{19, f}, {1, s}}, breaker.Closed, breaker.Counts{Calls: 20, Failures: 19},
		},
		"neutral is not counted": {byRate(0.5, 4), []step{{20, n}, {2, s}, {1, f}}, breaker.Closed, breaker.Counts{Calls: 3, Failures: 1}},
		"all of them":            {byRate(1, 10), []step{{1, s}, {100, f}}, breaker.Closed, breaker.Counts{Calls: 101, Failures: 100}},
		"what nobody judged is a failure": {
			byRate(0.5, 2), []step{{2, breaker.Unjudged}}, breaker.Open, breaker.Counts{Calls: 2, Failures: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opened []breaker.Transition
				c := newCircuit(t, tt.settings, &breaker.Options{OnTransition: func(tr breaker.Transition) { opened = append(opened, tr) }})
				for _, step := range tt.steps {
					attempts(c, step.times, step.outcome)
				}
				snap := c.Snapshot()
				assert.Equal(t, tt.want, snap.State)
				if tt.want != breaker.Open {
					assert.Equal(t, tt.window, snap.Window)
					assert.Empty(t, opened)
					return
				}
				require.Len(t, opened, 1)
				assert.Equal(t, tt.window, opened[0].Window)
				assert.Equal(t, breaker.RuleFailureRate, opened[0].Rule)
				assert.Equal(t, breaker.RuleFailureRate, snap.Rule)
				assert.Zero(t, snap.Window, "what was counted while it was closed is gone")
				assert.Equal(t, errDown, opened[0].Cause)
				rejected := c.Rejects(c.Now())
				assert.Equal(t, breaker.RuleFailureRate, rejected.Rule)
				assert.ErrorIs(t, rejected, errDown)
			})
		})
	}
}

// TestTrapWindowInFlight is P61: calls in flight and excluded ones are in gobreaker's
// count of requests, and so dilute a share of them.
func TestTrapWindowInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errExcluded := errors.New("excluded")
		c := newCircuit(t, byRate(0.5, 4), nil)
		cb := raw(gobreaker.Settings{
			Interval: time.Minute, BucketPeriod: 6 * time.Second,
			IsExcluded: func(err error) bool { return errors.Is(err, errExcluded) },
			ReadyToTrip: func(n gobreaker.Counts) bool {
				return n.Requests >= 4 && 2*n.TotalFailures >= n.Requests
			},
		})
		release := make(chan struct{})
		var wg sync.WaitGroup
		for range 10 { // in flight
			wg.Go(func() {
				_, _ = cb.Execute(func() (int, error) { <-release; return 0, nil })
			})
			_, rejected := c.Acquire(c.Now(), 0)
			require.Nil(t, rejected)
		}
		synctest.Wait()
		for range 20 { // excluded
			_, _ = cb.Execute(func() (int, error) { return 0, errExcluded })
			attempt(c, breaker.Neutral)
		}
		for range 5 {
			rawFail(cb)
			attempt(c, breaker.Failure)
		}
		assert.Equal(t, gobreaker.StateClosed, cb.State(), "the trap: 5 of 5 that ended have failed")
		require.Equal(t, breaker.Open, c.State())
		close(release)
		wg.Wait()
	})
}

// The rules work side by side, and each tells that it was the one.
func TestRulesTogether(t *testing.T) {
	both := byRate(0.5, 10)
	both.FailureThreshold = 3
	all := both
	all.SlowCallRate, all.SlowCallDuration = 0.5, time.Second
	for name, tt := range map[string]struct {
		settings breaker.Settings
		script   func(c *breaker.Circuit)
		want     breaker.Rule
		failures int
	}{
		"in a row": {both, func(c *breaker.Circuit) { attempts(c, 3, breaker.Failure) }, breaker.RuleConsecutive, 3},
		"a share": {both, func(c *breaker.Circuit) {
			for range 5 {
				attempt(c, breaker.Success)
				attempt(c, breaker.Failure)
			}
		}, breaker.RuleFailureRate, 1},
		"neither": {both, func(c *breaker.Circuit) {
			for range 50 {
				attempts(c, 2, breaker.Success)
				attempt(c, breaker.Failure)
			}
		}, breaker.NoRule, 1},
		"slow ones": {all, func(c *breaker.Circuit) {
			for range 5 {
				attempt(c, breaker.Success)
				lasting(c, time.Second, breaker.Success)
			}
		}, breaker.RuleSlowCalls, 0},
		"slow failures end a row first": {all, func(c *breaker.Circuit) {
			for range 3 {
				lasting(c, time.Second, breaker.Failure)
			}
		}, breaker.RuleConsecutive, 3},
		"slow failures in turn": {all, func(c *breaker.Circuit) {
			for range 5 {
				attempt(c, breaker.Success)
				lasting(c, time.Second, breaker.Failure)
			}
		}, breaker.RuleFailureRate, 1},
		"a hint": {all, func(c *breaker.Circuit) {
			permit, _ := c.Acquire(c.Now(), 0)
			c.Withhold(permit, errDown, time.Minute)
		}, breaker.RuleHold, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCircuit(t, tt.settings, nil)
				tt.script(c)
				snap := c.Snapshot()
				assert.Equal(t, tt.want, snap.Rule)
				assert.Equal(t, tt.want != breaker.NoRule, snap.State == breaker.Open)
				assert.Equal(t, tt.failures, snap.Failures)
			})
		})
	}
}

func TestSlowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, bySlow(0.5, 1000), nil)
		lasting(c, time.Second-1, breaker.Success)
		lasting(c, 0, breaker.Success)
		lasting(c, time.Second, breaker.Success)
		assert.Equal(t, breaker.Counts{Calls: 3, Slow: 1}, c.Snapshot().Window)
		lasting(c, 2*time.Second, breaker.Neutral)
		assert.Equal(t, breaker.Counts{Calls: 3, Slow: 1}, c.Snapshot().Window, "who gave up says nothing")
		lasting(c, 2*time.Second, breaker.Failure)
		assert.Equal(t, breaker.Counts{Calls: 4, Failures: 1, Slow: 2}, c.Snapshot().Window, "in both")
	})
}

// A slow success opens the circuit with an error that says so.
func TestSlowSuccessesOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last breaker.Transition
		c := newCircuit(t, bySlow(0.5, 4), &breaker.Options{OnTransition: func(tr breaker.Transition) { last = tr }})
		for range 2 {
			lasting(c, 0, breaker.Success)
			require.Equal(t, breaker.Closed, c.State())
			lasting(c, time.Second, breaker.Success)
		}
		require.Equal(t, breaker.Open, c.State())
		assert.Equal(t, breaker.RuleSlowCalls, last.Rule)
		assert.Equal(t, breaker.Counts{Calls: 4, Slow: 2}, last.Window)
		assert.Equal(t, c.Time(c.Now()).Add(10*time.Second), last.Until, "the open time runs from the call that opened it")
		assert.ErrorIs(t, last.Cause, breaker.ErrSlow)
		_, rejected := c.Acquire(c.Now(), 0)
		require.ErrorIs(t, rejected, breaker.ErrSlow)
	})
}

// Whatever opens the circuit, what the window held then is told whole.
func TestTheGroundsAreWhole(t *testing.T) {
	for name, tt := range map[string]struct {
		settings breaker.Settings
		script   func(c *breaker.Circuit)
		want     breaker.Counts
	}{
		"a slow success": {bySlow(0.5, 4), func(c *breaker.Circuit) {
			lasting(c, 0, breaker.Failure)
			lasting(c, 0, breaker.Success)
			lasting(c, time.Second, breaker.Success)
			lasting(c, time.Second, breaker.Success)
		}, breaker.Counts{Calls: 4, Failures: 1, Slow: 2}},
		"a failure": {func() breaker.Settings {
			s := bySlow(1, 4)
			s.FailureRate = 0.5
			return s
		}(), func(c *breaker.Circuit) {
			lasting(c, 0, breaker.Success)
			lasting(c, time.Second, breaker.Success)
			lasting(c, 0, breaker.Failure)
			lasting(c, 0, breaker.Failure)
		}, breaker.Counts{Calls: 4, Failures: 2, Slow: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opened []breaker.Counts
				c := newCircuit(t, tt.settings, &breaker.Options{OnTransition: func(tr breaker.Transition) { opened = append(opened, tr.Window) }})
				tt.script(c)
				assert.Equal(t, []breaker.Counts{tt.want}, opened)
			})
		})
	}
}

// What is settled without its beginning is never slow.
func TestSettleKnowsNoDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, bySlow(0.5, 1), nil)
		permit, _ := c.Acquire(c.Now(), 0)
		time.Sleep(time.Hour)
		c.Settle(permit, breaker.Success, nil)
		assert.Equal(t, breaker.Counts{Calls: 1}, c.Snapshot().Window)
		require.Equal(t, breaker.Closed, c.State())
	})
}

// A probe that is slow has failed, while the rule for slow calls is on.
func TestASlowProbeHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := bySlow(0.5, 1)
		c := newCircuit(t, settings, nil)
		lasting(c, time.Second, breaker.Success)
		time.Sleep(10 * time.Second)
		require.True(t, lasting(c, time.Second, breaker.Success))
		snap := c.Snapshot()
		require.Equal(t, breaker.Open, snap.State)
		assert.Equal(t, 2, snap.Generation)
		assert.Equal(t, breaker.RuleProbe, snap.Rule)
		assert.EqualError(t, snap.Cause, breaker.ErrSlow.Error())

		time.Sleep(time.Until(snap.Until))
		require.True(t, lasting(c, time.Second-1, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())

		off := byRate(0.5, 1)
		require.NoError(t, c.SetSettings(off))
		attempt(c, breaker.Failure)
		time.Sleep(time.Until(c.Snapshot().Until))
		require.True(t, lasting(c, time.Hour, breaker.Success))
		require.Equal(t, breaker.HalfOpen, c.State(), "without the rule it is late, as its lease is over, and not slow")
		require.True(t, lasting(c, time.Minute, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())
	})
}

// TestBurstAfterAnIdleGap is P67.
func TestBurstAfterAnIdleGap(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Minute, time.Minute + 1, 61 * time.Minute, 400 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			c := newCircuit(t, byRate(1, 1000), nil)
			attempts(c, 3, breaker.Success)
			attempt(c, breaker.Failure)
			time.Sleep(gap)
			var wg sync.WaitGroup
			for i := range 200 {
				wg.Go(func() { attempt(c, breaker.Failure-breaker.Outcome(i%2)) })
			}
			wg.Wait()
			want := breaker.Counts{Calls: 200, Failures: 100}
			if gap < time.Minute {
				want = breaker.Counts{Calls: 204, Failures: 101}
			}
			assert.Equal(t, want, c.Snapshot().Window, gap)
		})
	}
}

// TestTimeGoesBackwards is P69: nothing panics, and what is counted stays.
func TestTimeGoesBackwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := byRate(1, 1000)
		now := time.Hour
		w := breaker.NewWindow(settings, func() time.Duration { return now })
		w.Count(breaker.Success, false, now)
		w.Count(breaker.Failure, false, now)
		for _, back := range []time.Duration{5 * time.Second, time.Hour, 2 * time.Hour, 1 << 60} {
			assert.True(t, w.Success(now-back))
			assert.Equal(t, breaker.NoRule, w.Count(breaker.Success, false, now-back))
			assert.Equal(t, breaker.NoRule, w.Count(breaker.Failure, false, now-back))
		}
		assert.Equal(t, breaker.Counts{Calls: 14, Failures: 5}, w.Counts(now))
	})
}

// TestTheWindowForgets is P70: what it shows is true without any call being made, and it
// forgets one bucket after the other.
func TestTheWindowForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := byRate(1, 1000)
		settings.SlowCallRate, settings.SlowCallDuration = 1, time.Second
		c := newCircuit(t, settings, nil)
		show := func() breaker.Counts { return c.Snapshot().Window }
		assert.Zero(t, show())
		attempts(c, 5, breaker.Failure)
		time.Sleep(30 * time.Second)
		attempts(c, 2, breaker.Success)
		lasting(c, 2*time.Second, breaker.Failure)
		assert.Equal(t, breaker.Counts{Calls: 8, Failures: 6, Slow: 1}, show())
		time.Sleep(28*time.Second - 1)
		assert.Equal(t, breaker.Counts{Calls: 8, Failures: 6, Slow: 1}, show())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, breaker.Counts{Calls: 3, Failures: 1, Slow: 1}, show())
		time.Sleep(30 * time.Second)
		assert.Zero(t, show())

		attempts(c, 4, breaker.Failure)
		time.Sleep(3 * time.Minute)
		assert.Zero(t, show(), "three windows later")
	})
}

// gobreaker's window begins a little after ours, whatever happens between the two. Until
// that much later it may still hold the failures of a bucket, so its successes are held
// as well: else all that is left would be failures.
func TestTheWindowsBeginApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, asked := time.Now(), 0
		now := func() time.Duration { return time.Since(base) }
		settings := byRate(0.5, 5)
		w := breaker.NewWindow(settings, func() time.Duration {
			at := now()
			if asked++; asked == 1 {
				time.Sleep(2 * time.Second) // interrupted, right then
			}
			return at
		})
		time.Sleep(time.Second)
		for range 10 {
			w.Count(breaker.Success, false, now())
		}
		for range 5 {
			require.Equal(t, breaker.NoRule, w.Count(breaker.Failure, false, now()))
		}
		time.Sleep(58 * time.Second) // the bucket of ours is over, that of gobreaker's is not
		require.Equal(t, breaker.NoRule, w.Count(breaker.Failure, false, now()))
		assert.Equal(t, breaker.Counts{Calls: 16, Failures: 6}, w.Counts(now()))
		time.Sleep(time.Second)
		assert.Equal(t, breaker.Counts{Calls: 1, Failures: 1}, w.Counts(now()))
	})
}

// TestConsecutiveBesideAWindow is P59 with a window beside: the count in a row does not
// decay with it.
func TestConsecutiveBesideAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := byRate(1, 1000)
		settings.FailureThreshold, settings.Window, settings.WindowBuckets = 5, 30*time.Second, 3
		c := newCircuit(t, settings, nil)
		for range 5 {
			require.True(t, attempt(c, breaker.Failure))
			time.Sleep(19 * time.Second)
		}
		require.Equal(t, breaker.RuleConsecutive, c.Snapshot().Rule)
	})
}

// Each closing, each reset and another length begin an empty window.
func TestTheWindowBeginsEmpty(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, c *breaker.Circuit){
		"closing": func(t *testing.T, c *breaker.Circuit) {
			permit, _ := c.Acquire(c.Now(), 0)
			c.Withhold(permit, errDown, time.Second)
			time.Sleep(10 * time.Second)
			require.True(t, attempt(c, breaker.Success))
			require.Equal(t, breaker.Closed, c.State())
		},
		"reset":              func(_ *testing.T, c *breaker.Circuit) { c.Reset() },
		"an operator's hand": func(_ *testing.T, c *breaker.Circuit) { c.ForceClosed(); c.Release() },
		"another length": func(t *testing.T, c *breaker.Circuit) {
			settings := byRate(0.5, 10)
			settings.Window = 2 * time.Minute
			require.NoError(t, c.SetSettings(settings))
		},
		"other buckets": func(t *testing.T, c *breaker.Circuit) {
			settings := byRate(0.5, 10)
			settings.WindowBuckets = 2
			require.NoError(t, c.SetSettings(settings))
		},
		"another rule": func(t *testing.T, c *breaker.Circuit) {
			settings := byRate(0.5, 10)
			settings.SlowCallRate, settings.SlowCallDuration = 0.5, time.Second
			require.NoError(t, c.SetSettings(settings))
		},
		"off and on": func(t *testing.T, c *breaker.Circuit) {
			require.NoError(t, c.SetSettings(small()))
			assert.Zero(t, c.Snapshot().Window)
			require.NoError(t, c.SetSettings(byRate(0.5, 10)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCircuit(t, byRate(0.5, 10), nil)
				attempts(c, 9, breaker.Failure)
				require.NotZero(t, c.Snapshot().Window)
				begin(t, c)
				assert.Zero(t, c.Snapshot().Window)
				attempt(c, breaker.Failure)
				require.Equal(t, breaker.Closed, c.State())
				assert.Equal(t, breaker.Counts{Calls: 1, Failures: 1}, c.Snapshot().Window)
			})
		})
	}
}

// What else is set keeps the window, and holds from the next failure on.
func TestOtherSettingsKeepTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, byRate(1, 10), nil)
		attempt(c, breaker.Success)
		attempts(c, 20, breaker.Failure)
		require.NoError(t, c.SetSettings(byRate(0.9, 30)))
		attempts(c, 8, breaker.Failure)
		require.Equal(t, breaker.Closed, c.State())
		attempt(c, breaker.Failure)
		require.Equal(t, breaker.Open, c.State())
	})
}

// A result of an earlier round, or a second one, is in no window.
func TestLateResultsAreInNoWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, byRate(0.5, 10), nil)
		var old []breaker.Permit
		for range 20 {
			permit, _ := c.Acquire(c.Now(), 0)
			old = append(old, permit)
		}
		c.Reset()
		attempt(c, breaker.Success)
		for _, permit := range old[:10] {
			assert.False(t, c.Settle(permit, breaker.Success, nil))
		}
		for _, permit := range old[10:] {
			assert.False(t, c.Settle(permit, breaker.Failure, errDown))
		}
		assert.Equal(t, breaker.Counts{Calls: 1}, c.Snapshot().Window)
	})
}

// modelCall is a call as the model keeps it.
type modelCall struct {
	bucket     int64
	bad, tardy bool
}

// modelWindow is the plainest of windows: a list of all calls.
type modelWindow struct {
	settings breaker.Settings
	began    time.Duration // of the first bucket; 0 is not yet
	calls    []modelCall
}

func (m *modelWindow) bucket(now time.Duration) int64 {
	n := time.Duration(m.settings.WindowBuckets)
	return int64((now - m.began) / ((m.settings.Window + n - 1) / n))
}

func (m *modelWindow) counts(now time.Duration) (n breaker.Counts) {
	if m.began == 0 {
		return n
	}
	for _, call := range m.calls {
		if call.bucket <= m.bucket(now)-int64(m.settings.WindowBuckets) {
			continue
		}
		n.Calls++
		if call.bad {
			n.Failures++
		}
		if call.tardy {
			n.Slow++
		}
	}
	return n
}

// add counts a call and reports whether the circuit is to open.
func (m *modelWindow) add(o breaker.Outcome, slow bool, now time.Duration) bool {
	if m.began == 0 {
		m.began = now
	}
	bad := o != breaker.Success
	m.calls = append(m.calls, modelCall{m.bucket(now), bad, slow})
	n := m.counts(now)
	reached := func(rate float64, part uint64) bool {
		// In per cent, as all rates of the test are.
		return rate > 0 && n.Calls >= uint64(m.settings.MinimumCalls) && part*100 >= uint64(rate*100+0.5)*n.Calls
	}
	return bad && reached(m.settings.FailureRate, n.Failures) || slow && reached(m.settings.SlowCallRate, n.Slow)
}

// TestTheWindowFollowsTheModel runs long random histories through a circuit and through
// a list of all calls.
func TestTheWindowFollowsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(inBubble{t}, func(t *rapid.T) {
			settings := small()
			settings.FailureThreshold = 0
			percent := func(least int, label string) float64 { return float64(rapid.IntRange(least, 100).Draw(t, label)) / 100 }
			settings.FailureRate = percent(1, "failure rate")
			if rapid.Bool().Draw(t, "slow calls count") {
				settings.SlowCallRate, settings.SlowCallDuration = percent(1, "slow rate"), time.Second
				if rapid.Bool().Draw(t, "nothing else") {
					settings.FailureRate = 0
				}
			}
			settings.MinimumCalls = rapid.IntRange(1, 20).Draw(t, "minimum")
			settings.Window = time.Duration(rapid.IntRange(1000, 90_000).Draw(t, "window")) * time.Millisecond
			settings.WindowBuckets = rapid.IntRange(2, 12).Draw(t, "buckets")
			c, err := breaker.New("window", settings, nil)
			require.NoError(t, err)
			m := modelWindow{settings: settings}
			t.Repeat(map[string]func(*rapid.T){
				"call": func(t *rapid.T) {
					o := rapid.SampledFrom([]breaker.Outcome{
						breaker.Success, breaker.Success, breaker.Success, breaker.Success, breaker.Failure, breaker.Unjudged,
					}).Draw(t, "outcome")
					slow := settings.SlowCallRate > 0 && rapid.IntRange(0, 3).Draw(t, "pace") == 0
					began := c.Now()
					if slow {
						began -= time.Second
					}
					permit, rejected := c.Acquire(c.Now(), 0)
					require.Nil(t, rejected)
					require.True(t, c.SettleSince(permit, began, o, errDown))
					if m.add(o, slow, c.Now()) {
						require.Equal(t, breaker.Open, c.State())
						c.Reset()
						m = modelWindow{settings: settings}
					}
				},
				"wait": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.Int64Range(1, int64(settings.Window)/2).Draw(t, "time")))
				},
				"wait for the next bucket": func(t *rapid.T) {
					n := time.Duration(settings.WindowBuckets)
					period := (settings.Window + n - 1) / n
					time.Sleep(period - (c.Now()-m.began)%period)
				},
				"wait for long": func(t *rapid.T) {
					time.Sleep(settings.Window * time.Duration(rapid.IntRange(1, 5).Draw(t, "windows")))
				},
				"": func(t *rapid.T) {
					require.Equal(t, breaker.Closed, c.State())
					require.Equal(t, m.counts(c.Now()), c.Snapshot().Window)
				},
			})
		})
	})
}

// Many goroutines at once lose nothing: with real time, so that buckets change under
// their hands.
func TestTheWindowUnderLoad(t *testing.T) {
	settings := byRate(1, 1_000_000)
	settings.Window, settings.WindowBuckets = time.Hour, 2
	settings.FailureThreshold = 1_000_000
	settings.SlowCallRate, settings.SlowCallDuration = 1, time.Second
	c := newCircuit(t, settings, nil)
	const goroutines, each = 8, 2000
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			for j := range each {
				now := c.Now()
				permit, rejected := c.Acquire(now, 0)
				if rejected != nil {
					t.Error(rejected)
					return
				}
				switch (i + j) % 8 {
				case 0:
					c.SettleSince(permit, now, breaker.Failure, errDown)
				case 1:
					c.SettleSince(permit, now-time.Minute, breaker.Success, nil)
				case 2:
					c.SettleSince(permit, now-time.Minute, breaker.Failure, errDown)
				case 3:
					_ = c.Snapshot()
					fallthrough
				default:
					c.SettleSince(permit, now, breaker.Success, nil)
				}
			}
		})
	}
	wg.Wait()
	const all = goroutines * each
	assert.Equal(t, breaker.Counts{Calls: all, Failures: all / 4, Slow: all / 4}, c.Snapshot().Window)
}

// The same with buckets of 10 ms: what is forgotten in time cannot be told, but no more
// is ever shown than was counted, and nothing opens that should not.
func TestBucketsChangeUnderLoad(t *testing.T) {
	settings := byRate(0.5, 20)
	settings.Window, settings.WindowBuckets = time.Second, 100
	c := newCircuit(t, settings, nil)
	var made atomic.Uint64
	var wg sync.WaitGroup
	end := time.Now().Add(300 * time.Millisecond)
	for range 4 {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				made.Add(1)
				attempt(c, breaker.Success)
				if n%4 == 0 { // at most one in four goroutines' four is ahead of its successes
					made.Add(1)
					attempt(c, breaker.Failure)
				}
				snap := c.Snapshot()
				if n := snap.Window; n.Failures > n.Calls || n.Calls > made.Load() {
					t.Errorf("%+v of %d", n, made.Load())
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, breaker.Closed, c.State())
}

// Calls that outlast the window count when they end, but for a few, although nobody has
// called meanwhile; not one failure is lost.
func TestLongCallsCountWhenTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, byRate(1, 1000), nil)
		attempt(c, breaker.Success)
		began := c.Now()
		time.Sleep(65 * time.Second)
		for range 100 {
			require.True(t, c.SettleSince(breaker.Permit{}, began, breaker.Failure, errDown))
			require.True(t, c.SettleSince(breaker.Permit{}, began, breaker.Success, nil))
		}
		assert.Equal(t, breaker.Counts{Calls: 200, Failures: 100}, c.Snapshot().Window, "a failure has read the clock")
	})
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, byRate(1, 1000), nil)
		attempt(c, breaker.Success)
		began := c.Now()
		time.Sleep(65 * time.Second)
		for range 100 {
			require.True(t, c.SettleSince(breaker.Permit{}, began, breaker.Success, nil))
		}
		n := c.Snapshot().Window
		assert.LessOrEqual(t, n.Calls, uint64(100))
		assert.GreaterOrEqual(t, n.Calls, uint64(93))
	})
}

// TestInFlightBurstUnderARate is P75 for a share: when it is reached all the others are
// late.
func TestInFlightBurstUnderARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, byRate(0.5, 5), nil)
		var counted atomic.Int64
		var permits []breaker.Permit
		for range 50 {
			permit, rejected := c.Acquire(c.Now(), 0)
			require.Nil(t, rejected)
			permits = append(permits, permit)
		}
		var wg sync.WaitGroup
		for _, permit := range permits {
			wg.Go(func() {
				if c.Settle(permit, breaker.Failure, errDown) {
					counted.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 5, counted.Load())
		require.Equal(t, breaker.Open, c.State())
		assert.False(t, attempt(c, breaker.Success))
	})
}

// A success that changes nothing else takes no lock and allocates nothing.
func TestASuccessUnderARateTakesNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := byRate(0.5, 5)
		settings.FailureThreshold = 5
		settings.SlowCallRate, settings.SlowCallDuration = 0.5, time.Second
		c := newCircuit(t, settings, nil)
		attempt(c, breaker.Success) // begins the window
		unlock := breaker.Lock(c)
		attempts(c, 100, breaker.Success)
		attempt(c, breaker.Neutral)
		unlock()
		assert.Equal(t, breaker.Counts{Calls: 101}, c.Snapshot().Window)
	})
	c := newCircuit(t, byRate(0.5, 5), nil)
	attempt(c, breaker.Success)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Success) }))
}

// A bucket ends where the next one begins: that moment is the next one's.
func TestABucketsEndIsTheNextOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Now()
		w := breaker.NewWindow(byRate(1, 1000), func() time.Duration { return time.Since(base) })
		assert.True(t, w.Success(6*time.Second-1))
		assert.False(t, w.Success(6*time.Second))
		time.Sleep(6 * time.Second)
		w.Count(breaker.Success, false, 6*time.Second)
		time.Sleep(54 * time.Second)
		assert.Equal(t, breaker.Counts{Calls: 1}, w.Counts(time.Minute))
	})
}

// Seven of eight successes are counted by when their call began, if that is in the bucket of the moment; the eighth reads
// the clock.
func TestMostSuccessesReadNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Now()
		w := breaker.NewWindow(byRate(1, 1000), func() time.Duration { return time.Since(base) })
		quick := func(began time.Duration, want ...bool) {
			t.Helper()
			for i, counted := range want {
				require.Equal(t, counted, w.Quick(began), i)
			}
		}
		seven := []bool{true, true, true, true, true, true, true, false}
		quick(0, seven...)
		require.True(t, w.Success(0))
		quick(6*time.Second-1, seven...)
		quick(6*time.Second, false)

		time.Sleep(12 * time.Second)
		w.Count(breaker.Success, false, 12*time.Second)
		quick(12*time.Second-1, false)
		quick(12*time.Second, true)
		quick(18*time.Second-1, true)
		quick(18*time.Second, false)
		assert.Equal(t, breaker.Counts{Calls: 18}, w.Counts(12*time.Second))
	})
}

// What no window will hold any more is given up.
func TestOldBucketsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Now()
		w := breaker.NewWindow(byRate(1, 1000), func() time.Duration { return time.Since(base) })
		for range 100 {
			time.Sleep(6 * time.Second)
			w.Count(breaker.Success, false, time.Since(base))
		}
		assert.LessOrEqual(t, w.Buckets(), 11)
	})
}
