package breaker_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// atOnce has many call at the same time, and returns the longest that one of them took.
func atOnce(t *testing.T, c *breaker.Circuit, err error) time.Duration {
	var longest, admitted atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			begun := time.Now()
			if call(c, err) {
				admitted.Add(1)
			}
			if took := int64(time.Since(begun)); took > longest.Load() {
				longest.Store(took)
			}
		})
	}
	synctest.Wait() // all but the one who asks are through
	assert.EqualValues(t, 19, admitted.Load(), "the others go on with what is known")
	assert.Zero(t, longest.Load(), "and do not wait")
	all.Wait()
	assert.EqualValues(t, 20, admitted.Load())
	return time.Duration(longest.Load())
}

// A view that has become too old is read again by one call.
func TestOneCallReadsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{shelf: newShelf()}
		c := replica(t, s, small())
		require.True(t, call(c, nil))
		s.sent()
		s.takes = 30 * time.Millisecond
		time.Sleep(s.terms.MaxViewAge)
		assert.Equal(t, s.takes, atOnce(t, c, nil))
		assert.Equal(t, []breaker.Kind{breaker.Read}, s.sent())
	})
}

// While failures are on the books, one success at a time is reported.
func TestOneSuccessIsReportedForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{shelf: newShelf()}
		c := replica(t, s, small())
		require.True(t, call(c, errDown))
		s.sent()
		s.takes = 30 * time.Millisecond
		assert.Equal(t, s.takes, atOnce(t, c, nil))
		assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent())
		assert.Zero(t, c.Snapshot().Failures)
	})
}

// overtaken is a store whose answers are overtaken by what happens next.
type overtaken struct {
	*shelf
	then func()
}

func (o *overtaken) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	answer, err := o.shelf.Do(ctx, circuit, c)
	if then := o.then; then != nil {
		o.then = nil
		then()
	}
	return answer, err
}

// An answer to what was asked before news came is older than they are, and does not undo
// them. One to what was asked after them holds, whatever its round: the store may have
// lost its memory.
func TestTheLaterWordHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &overtaken{shelf: newShelf()}
		fleet := fleetOf(t, 2, s, small())
		require.True(t, call(fleet[1], nil))
		time.Sleep(s.terms.MaxViewAge)
		s.then = func() {
			require.True(t, call(fleet[0], errDown))
			require.True(t, call(fleet[0], errDown))
			s.tell("dep", false, false)
		}
		assert.False(t, call(fleet[1], nil), "the read says closed, and the news that came meanwhile say open")
		assert.Equal(t, breaker.Open, fleet[1].State())
		round := fleet[1].Snapshot().Round

		s.forget("dep")
		s.tell("dep", true, false)
		assert.Equal(t, round, fleet[1].Snapshot().Round, "news of a lower round are old news")
		s.tell("dep", false, false)
		time.Sleep(s.terms.MaxViewAge)
		assert.True(t, call(fleet[1], nil))
		assert.Zero(t, fleet[1].Snapshot().Round)

		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		require.NotZero(t, fleet[0].Snapshot().Round)
		s.forget("dep")
		s.tell("dep", true, true)
		assert.Zero(t, fleet[0].Snapshot().Round, "what was read just now holds as well")
	})
}

// When a probe is due, one call asks for it, and the others are refused meanwhile.
func TestOneCallAsksForTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{shelf: newShelf()}
		c := replica(t, s, small())
		require.True(t, call(c, errDown))
		require.True(t, call(c, errDown))
		s.tell("dep", true, true)
		time.Sleep(16 * time.Second)
		s.sent()
		s.takes = 30 * time.Millisecond
		var granted atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, rejected := c.Acquire(c.Now(), limit); rejected == nil {
					granted.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, granted.Load())
		assert.Equal(t, []breaker.Kind{breaker.Acquire}, s.sent())
	})
}

// A success of an earlier round ends no run of failures in this one.
func TestASuccessIsOfItsRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.FailureThreshold = 3
		fleet := fleetOf(t, 2, s, settings)
		require.True(t, call(fleet[1], nil))
		for range 3 {
			require.True(t, call(fleet[0], errDown))
		}
		time.Sleep(16 * time.Second)
		require.True(t, call(fleet[0], nil), "the probe")
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		s.tell("dep", true, true)
		require.True(t, call(fleet[1], errDown))
		assert.Equal(t, breaker.Open, fleet[1].State())
	})
}

// Whatever an operator orders through one replica, all follow; and a reset that nobody
// of them has asked for clears what they count.
func TestEveryOrderReachesTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaker.NewMemoryStore(nil)
		fleet := fleetOf(t, 3, s, small())
		steer := func(by int, o breaker.Order, want breaker.State, admits bool) {
			t.Helper()
			o.Author, o.Reason = "ann", "drill"
			require.NoError(t, fleet[by].Steer(t.Context(), o))
			for i, c := range fleet {
				assert.Equal(t, want, c.State(), "replica %d", i)
				assert.Equal(t, admits, c.Rejects(c.Now()) == nil, "replica %d", i)
				assert.Equal(t, o, c.Snapshot().Order, "replica %d", i)
			}
		}
		for range 2 {
			require.True(t, call(fleet[0], errDown))
		}
		steer(0, breaker.Order{Force: breaker.ForceClosed, For: time.Hour}, breaker.ForcedClosed, true)
		for range 5 {
			require.True(t, call(fleet[1], errDown))
		}
		steer(1, breaker.Order{Force: breaker.ForceDisabled, For: time.Hour}, breaker.Disabled, true)
		steer(2, breaker.Order{Force: breaker.ForceOpen, For: time.Hour}, breaker.ForcedOpen, false)
		steer(0, breaker.Order{}, breaker.Open, false)
		steer(1, breaker.Order{Reset: true}, breaker.Closed, true)
		require.True(t, call(fleet[2], errDown))
		assert.Equal(t, 1, fleet[0].Snapshot().Failures, "the count begins anew")

		for _, o := range []breaker.Order{
			{Force: breaker.ForceOpen, Author: "a", Reason: "r"},
			{Force: breaker.ForceClosed, Author: "a", Reason: "r"},
			{Force: breaker.ForceDisabled, Author: "a", Reason: "r"},
			{Force: breaker.ForceOpen, Author: "a", For: time.Hour},
			{Force: breaker.ForceOpen, Reason: "r", For: time.Hour},
			{Force: breaker.ForceOpen, Author: "a", Reason: "r", For: breaker.LongestOrder + 1},
			{Reset: true, Author: "a"},
			{Reason: "r"},
		} {
			require.Error(t, fleet[0].Steer(t.Context(), o), "%+v", o)
			assert.Equal(t, breaker.Closed, fleet[0].State())
		}
	})
}
