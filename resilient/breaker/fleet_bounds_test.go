package breaker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// slow is a store that takes its time, but no longer than it is given.
type slow struct {
	*shelf
	takes time.Duration
}

func (s *slow) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	select {
	case <-time.After(s.takes):
		return s.shelf.Do(ctx, circuit, c)
	case <-ctx.Done():
		return breaker.Answer{}, ctx.Err()
	}
}

// An attempt waits for the store no longer than its timeout, though it may have two
// questions: what the state is, and then whether it may probe.
func TestAnAttemptWaitsForOneTimeoutAtMost(t *testing.T) {
	for takes, granted := range map[time.Duration]bool{
		20 * time.Millisecond: true, // there is time for both
		40 * time.Millisecond: false,
		60 * time.Millisecond: true, // the store is lost, and nothing is known against the attempt
	} {
		t.Run(takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{shelf: newShelf()}
				fleet := fleetOf(t, 2, s, small())
				require.True(t, call(fleet[1], nil))
				require.True(t, call(fleet[0], errDown))
				require.True(t, call(fleet[0], errDown))
				time.Sleep(16 * time.Second) // nobody has told the other, and a probe is due
				s.takes = takes
				before := time.Now()
				p, rejected := fleet[1].Acquire(fleet[1].Now(), limit)
				assert.LessOrEqual(t, time.Since(before), s.terms.Timeout)
				assert.Equal(t, granted, rejected == nil)
				if takes >= s.terms.Timeout {
					return
				}
				if rejected != nil {
					assert.Equal(t, breaker.Open, rejected.State)
					p, rejected = fleet[1].Acquire(fleet[1].Now(), limit)
					require.Nil(t, rejected, "the next one has one question only")
				}
				assert.True(t, p.Probe())
			})
		})
	}
}

// What is written anew after it was garbled, and forced anew, is one wait as well.
func TestRestoringWaitsForOneTimeoutAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{shelf: newShelf()}
		c := replica(t, s, small())
		order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "migration", For: time.Hour}
		require.NoError(t, c.Steer(t.Context(), order))
		s.break_(breaker.ErrGarbled)
		time.Sleep(2 * time.Second)
		assert.False(t, call(c, nil))
		s.break_(nil)
		s.forget("dep")
		s.takes = 40 * time.Millisecond
		before := time.Now()
		_, _ = c.Acquire(c.Now(), limit)
		assert.LessOrEqual(t, time.Since(before), s.terms.Timeout)
	})
}

// What is not written of a healthy circuit's successes is bounded (R31): a replica that
// has not heard yet that there are failures on the books does not end their run. Once it
// has heard, its next success does; and its own failure says that it has succeeded.
func TestWhatUnwrittenSuccessesMayMiss(t *testing.T) {
	settings := small()
	settings.FailureThreshold = 3
	for name, test := range map[string]struct {
		between func(s *shelf, other *breaker.Circuit)
		opens   bool
	}{
		"it has not heard of them": {func(s *shelf, other *breaker.Circuit) {
			call(other, nil)
			assert.Empty(t, s.sent())
		}, true},
		"it has heard of them": {func(s *shelf, other *breaker.Circuit) {
			s.tell("dep", true, false)
			call(other, nil)
			assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent())
		}, false},
		"it fails itself": {func(_ *shelf, other *breaker.Circuit) {
			call(other, nil)
			call(other, errDown)
		}, false},
		"its view has become too old": {func(_ *shelf, other *breaker.Circuit) {
			time.Sleep(time.Second)
			call(other, nil)
		}, false},
		"strictly": {func(s *shelf, other *breaker.Circuit) {
			call(other, nil)
			assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent())
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				s.terms.Strict = name == "strictly"
				fleet := fleetOf(t, 2, s, settings)
				for _, c := range fleet {
					require.True(t, call(c, nil))
				}
				require.True(t, call(fleet[0], errDown))
				require.True(t, call(fleet[0], errDown))
				s.sent()
				test.between(s, fleet[1])
				require.True(t, call(fleet[0], errDown))
				assert.Equal(t, test.opens, fleet[0].State() == breaker.Open)
			})
		})
	}
}

// The open time ends for all at once, however late a replica has come to know of it
// (P114): what is stored is when the last failure was, and by the store's clock.
func TestALateReplicaProbesWithTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.RecoveryTimeout, settings.Cooldown = 30*time.Second, 0
		first := replica(t, s, settings)
		opened := time.Now()
		require.True(t, call(first, errDown))
		require.True(t, call(first, errDown))
		time.Sleep(25 * time.Second)
		late := replica(t, s, settings)
		_, rejected := late.Acquire(late.Now(), limit)
		require.NotNil(t, rejected)
		assert.WithinDuration(t, opened.Add(30*time.Second), rejected.Until, time.Millisecond)
		time.Sleep(5*time.Second - time.Millisecond)
		assert.False(t, call(late, nil))
		time.Sleep(2 * time.Millisecond)
		p, rejected := late.Acquire(late.Now(), limit)
		require.Nil(t, rejected)
		assert.True(t, p.Probe())
	})
}

// A store that is lost while a probe is out takes no limit with it (A42): its place is
// taken until the lease has lapsed, for the probe's own replica and for the others.
func TestLostWhileHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 2, s, small())
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		time.Sleep(16 * time.Second)
		probe, rejected := fleet[0].Acquire(fleet[0].Now(), limit)
		require.Nil(t, rejected)
		s.tell("dep", true, true)
		s.tell("dep", false, false)
		s.break_(errStore)
		time.Sleep(2 * time.Second)
		for range 10 {
			for _, c := range fleet {
				assert.False(t, call(c, nil), "the probe is out")
			}
		}
		for _, c := range fleet {
			assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
			assert.Equal(t, breaker.HalfOpen, c.State())
		}
		assert.True(t, fleet[0].Settle(probe, breaker.Success, nil), "it is known where it was granted")
		assert.Equal(t, breaker.Closed, fleet[0].State())
		time.Sleep(2 * limit) // the other will not hear of it
		own, rejected := fleet[1].Acquire(fleet[1].Now(), limit)
		require.Nil(t, rejected)
		assert.True(t, own.Probe())
		assert.False(t, call(fleet[1], nil), "one at a time")
	})
}
