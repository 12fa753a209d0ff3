package breaker_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

type panicky struct{}

func (*panicky) Error() string { panic("no text") }

// TestRejectionTellsWhy is A59: a rejection names the service, the state and until
// when, has the cause's text without its secrets, and the cause itself.
func TestRejectionTellsWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := &fs.PathError{Op: "dial", Path: "postgres://app:hunter2@db", Err: errDown}
		c := newCircuit(t, small(), nil)
		for range 2 {
			permit, _ := c.Acquire(c.Now(), 0)
			c.Settle(permit, breaker.Failure, fmt.Errorf("search: %w", cause))
		}
		_, rejected := c.Acquire(c.Now(), 0)
		require.NotNil(t, rejected)
		assert.Equal(t, "search: circuit open until 2000-01-01T00:00:10Z: last failure: search: dial postgres://***@db: down", rejected.Error())
		assert.ErrorIs(t, rejected, errDown)
		var pathErr *fs.PathError
		assert.ErrorAs(t, rejected, &pathErr)
		assert.Equal(t, 10*time.Second, rejected.RetryAfter())
		time.Sleep(4 * time.Second)
		assert.Equal(t, 6*time.Second, rejected.RetryAfter(), "it is computed from until")
		time.Sleep(time.Hour)
		assert.Zero(t, rejected.RetryAfter(), "never negative")
	})
}

// TestOneRejectionPerState: it is made once for each published state.
func TestOneRejectionPerState(t *testing.T) {
	c := newCircuit(t, small(), nil)
	trip(t, c, small())
	_, first := c.Acquire(c.Now(), 0)
	_, second := c.Acquire(c.Now(), 0)
	require.Same(t, first, second)
	require.Same(t, first, c.Rejects(c.Now()))
	changed := small()
	changed.RecoveryTimeout = time.Hour
	require.NoError(t, c.SetSettings(changed))
	_, third := c.Acquire(c.Now(), 0)
	require.NotSame(t, first, third)
	c.Reset()
	require.Nil(t, c.Rejects(c.Now()))
}

// TestOddRejections: a nil one and a cause that panics when asked for its text.
func TestOddRejections(t *testing.T) {
	var none *breaker.RejectedError
	assert.NotEmpty(t, none.Error())
	assert.Zero(t, none.RetryAfter())
	assert.NoError(t, none.Unwrap())
	odd := &breaker.RejectedError{Service: "s", State: breaker.Open, Cause: &panicky{}}
	assert.NotPanics(t, func() { _ = odd.Error() })
	assert.Equal(t, "s: circuit forced-open", (&breaker.RejectedError{Service: "s", State: breaker.ForcedOpen}).Error())
	assert.False(t, errors.Is(odd, errDown))
}

// TestNameIsSanitised is A86.
func TestNameIsSanitised(t *testing.T) {
	c, err := breaker.New("postgres://app:hunter2@db", small(), nil)
	require.NoError(t, err)
	assert.Equal(t, "postgres://***@db", c.Name())
	assert.Equal(t, c.Name(), c.Snapshot().Name)
}
