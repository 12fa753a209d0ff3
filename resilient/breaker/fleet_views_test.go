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
		s.forget("dep")
		s.tell("dep", true, true)
		assert.Zero(t, fleet[0].Snapshot().Round, "what was read just now holds as well")
	})
}
