package breaker_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// observing are settings that reject nothing.
func observing(s breaker.Settings) breaker.Settings {
	s.Observe = true
	return s
}

// A circuit that only observes opens, half-opens and closes as ever, and rejects nothing.
func TestObserveRejectsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []breaker.State
		c := newCircuit(t, observing(small()), &breaker.Options{OnTransition: func(tr breaker.Transition) {
			told = append(told, tr.To)
			assert.True(t, tr.Observe)
		}})
		trip2(c)
		require.Equal(t, breaker.Open, c.State())
		assert.Nil(t, c.Rejects(c.Now()))
		assert.True(t, c.Admits(c.Now()))

		permit, rejected := c.Acquire(c.Now(), 0)
		require.Nil(t, rejected)
		assert.True(t, permit.WouldReject())
		assert.False(t, permit.Probe())
		assert.True(t, c.Settle(permit, breaker.Failure, errDown), "it counts for nothing, and is not late")
		until := c.Snapshot().Until
		for range 9 {
			require.True(t, attempt(c, breaker.Failure))
		}
		snap := c.Snapshot()
		assert.Equal(t, until, snap.Until)
		assert.EqualValues(t, 10, snap.WouldReject)
		assert.Zero(t, snap.Rejected)
		assert.Zero(t, snap.Late)
		assert.True(t, snap.Observe)

		time.Sleep(10 * time.Second)
		probe, rejected := c.Acquire(c.Now(), limit)
		require.Nil(t, rejected)
		assert.True(t, probe.Probe())
		assert.False(t, probe.WouldReject())
		beside, rejected := c.Acquire(c.Now(), limit)
		require.Nil(t, rejected)
		assert.True(t, beside.WouldReject(), "the one probe is out")
		assert.True(t, c.Settle(beside, breaker.Success, nil))
		require.Equal(t, breaker.HalfOpen, c.State())
		assert.True(t, c.Settle(probe, breaker.Success, nil))
		require.Equal(t, breaker.Closed, c.State())
		assert.Equal(t, []breaker.State{breaker.Open, breaker.HalfOpen, breaker.Closed}, told)
		assert.EqualValues(t, 11, c.Snapshot().WouldReject)

		c.Reset()
		assert.Zero(t, c.Snapshot().WouldReject)
	})
}

// A result of what would have been refused counts in no later round either.
func TestObserveIgnoresWhatItWouldHaveRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, observing(small()), nil)
		trip2(c)
		var shadows []breaker.Permit
		for range 3 {
			permit, _ := c.Acquire(c.Now(), 0)
			shadows = append(shadows, permit)
		}
		time.Sleep(10 * time.Second)
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())
		for _, permit := range shadows {
			assert.True(t, c.Settle(permit, breaker.Failure, errDown))
			assert.True(t, c.Withhold(permit, errDown, time.Minute))
		}
		snap := c.Snapshot()
		assert.Equal(t, breaker.Closed, snap.State)
		assert.Zero(t, snap.Failures)
		assert.Zero(t, snap.Late)
	})
}

// The mode can change at any time; an operator's order to reject holds in both.
func TestObserveAndEnforce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, observing(small()), nil)
		trip2(c)
		require.True(t, attempt(c, breaker.Success))
		require.NoError(t, c.SetSettings(small()))
		require.False(t, attempt(c, breaker.Success))
		require.NotNil(t, c.Rejects(c.Now()))
		require.NoError(t, c.SetSettings(observing(small())))
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Open, c.State())

		c.ForceOpen()
		require.False(t, attempt(c, breaker.Success))
		assert.False(t, c.Admits(c.Now()))
		require.NotNil(t, c.Rejects(c.Now()))
		c.Release()
		require.True(t, attempt(c, breaker.Success))
		assert.EqualValues(t, 2, c.Snapshot().Rejected)
	})
}

// A circuit that observes and one that enforces, given the same, go the same way: what
// the one would have refused is what the other refuses.
func TestObserveFollowsEnforce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(inBubble{t}, func(t *rapid.T) {
			settings := anySettings(t)
			if rapid.Bool().Draw(t, "by a share") {
				settings.FailureRate, settings.MinimumCalls = 0.5, 4
			}
			enforce, err := breaker.New("enforce", settings, nil)
			require.NoError(t, err)
			observe, err := breaker.New("observe", observing(settings), nil)
			require.NoError(t, err)
			type pair struct{ real, shadow breaker.Permit }
			var permits []pair
			t.Repeat(map[string]func(*rapid.T){
				"acquire": func(t *rapid.T) {
					now := enforce.Now()
					permit, rejected := enforce.Acquire(now, limit)
					shadow, none := observe.Acquire(now, limit)
					require.Nil(t, none)
					require.Equal(t, rejected != nil, shadow.WouldReject())
					if rejected == nil {
						permits = append(permits, pair{permit, shadow})
						return
					}
					require.True(t, observe.Settle(shadow, anyOutcome.Draw(t, "what it would have been"), errDown))
				},
				"settle": func(t *rapid.T) {
					if len(permits) == 0 {
						t.Skip("no permit yet")
					}
					p, o := rapid.SampledFrom(permits).Draw(t, "permit"), anyOutcome.Draw(t, "outcome")
					require.Equal(t, enforce.Settle(p.real, o, errDown), observe.Settle(p.shadow, o, errDown))
				},
				"wait": func(*rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 45).Draw(t, "seconds")) * time.Second)
				},
				"": func(t *rapid.T) {
					want, got := enforce.Snapshot(), observe.Snapshot()
					require.Equal(t, want.Rejected, got.WouldReject)
					require.Zero(t, got.Rejected)
					got.Name, got.Observe, got.WouldReject, got.Rejected = want.Name, false, 0, want.Rejected
					require.Equal(t, want, got)
				},
			})
		})
	})
}

// An observing circuit keeps to itself: others neither open because of it, nor does it
// look at them.
func TestObserveKeepsToItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		trial := replica(t, s, observing(small()))
		fleet := fleetOf(t, 2, s, small())
		require.True(t, call(trial, errDown))
		require.True(t, call(trial, errDown))
		require.True(t, call(trial, errDown))
		assert.Equal(t, breaker.Alone, trial.Snapshot().Sharing)
		require.Equal(t, breaker.Open, trial.State())
		assert.Empty(t, s.sent())
		require.True(t, call(fleet[0], nil))

		require.NoError(t, trial.SetSettings(small()))
		require.True(t, call(trial, nil), "it has joined the others, who are closed")
		require.Equal(t, breaker.Shared, trial.Snapshot().Sharing)
		require.NoError(t, trial.SetSettings(observing(small())))
		require.Equal(t, breaker.Alone, trial.Snapshot().Sharing)
	})
}

// Nothing is lost between goroutines: each attempt has counted, or would have been refused.
func TestObserveUnderLoad(t *testing.T) {
	settings := observing(small())
	settings.RecoveryTimeout, settings.Cooldown = time.Millisecond, 0
	c := newCircuit(t, settings, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 2000 {
				permit, rejected := c.Acquire(c.Now(), 0)
				if rejected != nil {
					t.Error(rejected)
				}
				c.Settle(permit, breaker.Success+breaker.Outcome((i+j)%3/2), errDown)
			}
		})
	}
	wg.Wait()
	snap := c.Snapshot()
	assert.Zero(t, snap.Rejected)
	assert.NotZero(t, snap.WouldReject)
}

// What would have been refused allocates nothing.
func TestObserveAllocatesNothing(t *testing.T) {
	c := newCircuit(t, observing(small()), nil)
	trip2(c)
	assert.Zero(t, testing.AllocsPerRun(1000, func() { attempt(c, breaker.Failure) }))
	require.EqualValues(t, 1001, c.Snapshot().WouldReject)
}
