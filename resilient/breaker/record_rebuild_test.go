package breaker_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// An operator's force over a half-open circuit ends the round, and with it the limits
// that were fixed. Whoever gets the next round's first permit fixes them again, so that
// replicas with other policies still agree.
func TestRecordFixesLimitsAfterAForce(t *testing.T) {
	now := 1000 * time.Hour
	narrow, wide := small(), small()
	wide.MaxProbes, wide.SuccessesToClose = 5, 5
	r := breaker.Record{Machine: breaker.Machine{Beneath: breaker.HalfOpen, Round: 7, Limit: 1, Needed: 1}}
	for _, f := range []breaker.Force{breaker.ForceOpen, breaker.NoForce} {
		r, _ = r.Apply(now, breaker.Command{Kind: breaker.Operate, ID: uint64(f) + 1,
			Order: breaker.Order{Force: f, Author: "a", Reason: "r", For: time.Hour}})
	}
	r, answer := r.Apply(now, breaker.Command{Kind: breaker.Acquire, ID: 10, Lease: time.Hour, Settings: narrow})
	require.True(t, answer.Granted)
	r, answer = r.Apply(now, breaker.Command{Kind: breaker.Acquire, ID: 11, Lease: time.Hour, Settings: wide})
	require.False(t, answer.Granted, "the limit is 1 in this round")
	r, _ = r.Apply(now, breaker.Command{
		Kind: breaker.Settle, ID: 10, Token: 10, Round: r.Round, Outcome: breaker.Success, Settings: wide,
	})
	require.Equal(t, breaker.Closed, r.Beneath, "one success is enough in this round")
}

// What is written over a garbled record makes sense, whatever the view says.
func TestRebuilt(t *testing.T) {
	now := 1000*time.Hour + 1
	view := breaker.Machine{
		Beneath: breaker.Open, Generation: 2, Round: 5,
		LastFailure: time.Minute, LastHalfOpen: 2000 * time.Hour, Since: -time.Minute,
	}
	c := breaker.Command{Kind: breaker.Rebuild, ID: 1, View: view, Failures: 3, Cause: "down"}
	r, answer := c.Rebuilt(now)
	now = answer.Now
	require.Equal(t, answer.Record, r)
	require.Equal(t, breaker.Machine{
		Beneath: breaker.Open, Generation: 2, Round: uint64(now / time.Microsecond),
		LastFailure: now - time.Minute, LastHalfOpen: time.Microsecond, Since: now,
	}, r.Machine)
	require.Equal(t, 3, r.Failures)
	require.Equal(t, "down", r.Cause)

	c.View = breaker.Machine{Beneath: 77, Force: 99, Generation: -3, Round: 1 << 60}
	c.Failures = -1
	r, _ = c.Rebuilt(now)
	require.Equal(t, breaker.Machine{Round: 1<<60 + 1}, r.Machine)
	require.Zero(t, r.Failures)
}
