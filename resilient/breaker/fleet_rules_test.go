package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// A share is each process's own, and no outcome under it alone is a command; when it is
// reached, the fleet's circuit opens by a vote.
func TestAShareOpensTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 2, s, byRate(0.5, 10))
		s.tell("dep", true, true)
		for range 4 {
			require.True(t, call(fleet[0], nil))
			require.True(t, call(fleet[0], errDown))
			require.True(t, call(fleet[1], errDown))
		}
		require.True(t, call(fleet[0], nil))
		assert.Empty(t, s.sent())
		assert.Equal(t, breaker.Counts{Calls: 9, Failures: 4}, fleet[0].Snapshot().Window)
		require.True(t, call(fleet[0], errDown))
		assert.Equal(t, []breaker.Kind{breaker.Vote}, s.sent())
		for _, c := range fleet {
			s.tell("dep", true, true)
			snap := c.Snapshot()
			assert.Equal(t, breaker.Open, snap.State)
			assert.Equal(t, breaker.Shared, snap.Sharing)
			assert.Zero(t, snap.Window)
		}
		assert.Equal(t, breaker.RuleFailureRate, fleet[0].Snapshot().Rule)
		assert.Equal(t, breaker.NoRule, fleet[1].Snapshot().Rule, "that is not known here")

		time.Sleep(10 * time.Second)
		require.True(t, call(fleet[1], nil))
		s.tell("dep", true, true)
		for _, c := range fleet {
			require.Equal(t, breaker.Closed, c.State())
			assert.Zero(t, c.Snapshot().Window)
			assert.Equal(t, breaker.NoRule, c.Snapshot().Rule)
		}
	})
}

// What opened the fleet's circuit: by the count it is known to whom the last failure came
// from, a probe or a wait that was asked for to all.
func TestWhatOpenedTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		settings := small()
		settings.FailureThreshold = 2
		var rules []breaker.Rule
		first, err := breaker.New("dep", settings, &breaker.Options{Store: s, OnTransition: func(tr breaker.Transition) {
			if tr.To == breaker.Open {
				rules = append(rules, tr.Rule)
			}
		}})
		require.NoError(t, err)
		fleet := []*breaker.Circuit{first, replica(t, s, settings)}
		s.tell("dep", true, true)
		see := func(want ...breaker.Rule) {
			t.Helper()
			s.tell("dep", true, true)
			for i, c := range fleet {
				require.Equal(t, breaker.Open, c.State())
				assert.Equal(t, want[i], c.Snapshot().Rule, i)
				assert.Equal(t, want[i], c.Rejects(c.Now()).Rule, i)
			}
		}
		require.True(t, call(fleet[1], errDown))
		require.True(t, call(fleet[0], errDown))
		see(breaker.RuleConsecutive, breaker.NoRule)
		require.NoError(t, fleet[0].Steer(t.Context(), breaker.Order{Force: breaker.ForceClosed, For: time.Hour, Author: "ann", Reason: "a look"}))
		s.tell("dep", true, true)
		require.True(t, call(fleet[1], errDown), "counts nothing, so it has opened nothing")
		require.NoError(t, fleet[0].Steer(t.Context(), breaker.Order{Author: "ann", Reason: "enough"}))
		see(breaker.RuleConsecutive, breaker.NoRule)

		time.Sleep(time.Minute)
		require.True(t, call(fleet[1], errDown))
		see(breaker.RuleProbe, breaker.RuleProbe)

		time.Sleep(time.Minute)
		require.True(t, call(fleet[1], nil))
		s.tell("dep", true, true)
		require.Equal(t, breaker.Closed, fleet[0].State())
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[1], errDown))
		see(breaker.NoRule, breaker.RuleConsecutive)

		time.Sleep(time.Minute)
		require.True(t, call(fleet[1], nil))
		s.tell("dep", true, true)
		permit, rejected := fleet[1].Acquire(fleet[1].Now(), 0)
		require.Nil(t, rejected)
		require.True(t, fleet[1].Withhold(permit, errDown, time.Minute))
		see(breaker.RuleHold, breaker.RuleHold)
		assert.Equal(t, []breaker.Rule{
			breaker.RuleConsecutive, breaker.RuleConsecutive, breaker.NoRule, breaker.RuleHold,
		}, rules, "the second after the order; the probe came and went between two of its looks")
	})
}

// Beside a share the failures in a row stay the store's to count.
func TestAShareBesideTheFleetsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		settings := small()
		settings.FailureThreshold, settings.FailureRate, settings.MinimumCalls = 3, 0.5, 8
		fleet := fleetOf(t, 2, s, settings)
		s.tell("dep", true, true)
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[1], errDown))
		assert.Equal(t, []breaker.Kind{breaker.Settle, breaker.Settle}, s.sent())
		require.True(t, call(fleet[0], nil))
		assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent(), "it ends the row")
		for range 2 {
			require.True(t, call(fleet[0], errDown))
			require.True(t, call(fleet[0], nil))
		}
		require.True(t, call(fleet[0], nil))
		require.Equal(t, breaker.Closed, fleet[0].State())
		assert.Equal(t, breaker.Counts{Calls: 7, Failures: 3}, fleet[0].Snapshot().Window)
		s.sent()
		require.True(t, call(fleet[0], errDown))
		require.Equal(t, breaker.Open, fleet[0].State())
		assert.Equal(t, breaker.RuleFailureRate, fleet[0].Snapshot().Rule)
		assert.Equal(t, []breaker.Kind{breaker.Vote}, s.sent())
	})
}

// Where more than one must say so, one alone opens for itself.
func TestAShareAndSeveralReporters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		settings := bySlow(0.5, 2)
		settings.MinReporters = 2
		fleet := fleetOf(t, 3, s, settings)
		s.tell("dep", true, true)
		lasting(fleet[0], time.Second, breaker.Success)
		lasting(fleet[0], time.Second, breaker.Success)
		snap := fleet[0].Snapshot()
		assert.Equal(t, breaker.Open, snap.State)
		assert.Equal(t, breaker.Apart, snap.Sharing)
		assert.Equal(t, breaker.RuleSlowCalls, snap.Rule)
		lasting(fleet[1], time.Second, breaker.Success)
		lasting(fleet[1], time.Second, breaker.Success)
		s.tell("dep", true, true)
		for _, c := range fleet {
			snap := c.Snapshot()
			assert.Equal(t, breaker.Open, snap.State)
			assert.Equal(t, breaker.Shared, snap.Sharing)
			assert.EqualError(t, snap.Cause, breaker.ErrSlow.Error())
		}
	})
}

// A slow probe of the fleet has failed for all of it.
func TestASlowProbeOfTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, bySlow(0.5, 1))
		lasting(c, time.Second, breaker.Success)
		require.Equal(t, breaker.Open, c.State())
		time.Sleep(10 * time.Second)
		require.True(t, lasting(c, time.Second, breaker.Success))
		snap := c.Snapshot()
		assert.Equal(t, breaker.Open, snap.State)
		assert.Equal(t, 2, snap.Generation)
		assert.ErrorIs(t, c.Rejects(c.Now()), breaker.ErrSlow)
	})
}

// An outcome that the store could not be told is counted in the window, but once.
func TestALostStoreCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		settings := byRate(1, 1000)
		settings.FailureThreshold = 1000
		c := replica(t, s, settings)
		s.tell("dep", true, true)
		require.True(t, call(c, nil))
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Counts{Calls: 2, Failures: 1}, c.Snapshot().Window)
		s.break_(errDown)
		require.True(t, call(c, nil), "the report fails")
		assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		assert.Equal(t, breaker.Counts{Calls: 3, Failures: 1}, c.Snapshot().Window)
		require.True(t, call(c, errDown))
		require.True(t, call(c, nil))
		assert.Equal(t, breaker.Counts{Calls: 5, Failures: 2}, c.Snapshot().Window)

		s.break_(nil)
		time.Sleep(2 * time.Second)
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
		assert.Equal(t, breaker.Counts{Calls: 6, Failures: 3}, c.Snapshot().Window, "the round is the same")
		s.break_(errDown)
		require.True(t, call(c, errDown), "as does the report of a failure")
		assert.Equal(t, breaker.Counts{Calls: 7, Failures: 4}, c.Snapshot().Window)
	})
}

// A share is reached while the store is lost, or cannot be told: the circuit opens here.
func TestAShareWithoutTheStore(t *testing.T) {
	for _, lost := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf()
			c := replica(t, s, byRate(0.5, 4))
			s.tell("dep", true, true)
			if lost {
				time.Sleep(2 * time.Second)
				s.tell("dep", false, true)
				time.Sleep(2 * time.Second)
			}
			require.True(t, call(c, nil))
			s.break_(errDown)
			time.Sleep(2 * time.Second)
			for range 3 {
				require.True(t, call(c, errDown))
			}
			assert.Equal(t, breaker.Open, c.State())
			assert.False(t, call(c, nil))
			assert.Equal(t, breaker.RuleFailureRate, c.Snapshot().Rule)
			s.break_(nil)
			time.Sleep(10 * time.Second)
			require.True(t, call(c, nil))
			assert.Equal(t, breaker.Closed, c.State())
		})
	}
}

// A failure that asks to be left alone opens the fleet's circuit, whatever the rules.
func TestAHintUnderAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 2, s, byRate(0.5, 100))
		s.tell("dep", true, true)
		p, _ := fleet[0].Acquire(fleet[0].Now(), limit)
		require.True(t, fleet[0].Withhold(p, errDown, time.Minute))
		s.tell("dep", true, true)
		for _, c := range fleet {
			assert.Equal(t, breaker.Open, c.State())
			assert.WithinDuration(t, time.Now().Add(time.Minute), c.Snapshot().Until, time.Microsecond)
		}
	})
}

// A threshold of 0 is no threshold: neither a success nor a failure trips by it.
func TestARecordWithoutAThreshold(t *testing.T) {
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral} {
		record, answer := breaker.Record{}.Apply(time.Hour, breaker.Command{
			Kind: breaker.Settle, ID: 1, Outcome: o, Settings: byRate(0.5, 10),
		})
		assert.True(t, answer.Counted)
		assert.Equal(t, breaker.Closed, record.Beneath, o)
	}
}
