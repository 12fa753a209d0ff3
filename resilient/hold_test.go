package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

// hold makes a call whose result outlives it, and returns the context of that.
func hold(ctx context.Context, t *testing.T, g *resilient.Guard, op resilient.Op) *resilient.Held {
	t.Helper()
	held, err := resilient.Execute(ctx, g, op, func(ctx context.Context) (*resilient.Held, error) {
		h := resilient.Hold(ctx)
		require.True(t, h.Keep())
		return h, nil
	})
	require.NoError(t, err)
	return held
}

// P49: what is kept lives on when the call has returned, until it is released.
func TestP49AHeldContextOutlivesItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(total(10*sec), each(sec)), nil)
		ctx := context.WithValue(t.Context(), key{}, "kept")
		held := hold(ctx, t, g, get)
		assert.NoError(t, held.Err())
		assert.Equal(t, "kept", held.Value(key{}))
		assert.False(t, nesting.UnderRetry(held), "its call is over: what is done now is nested in nothing")
		time.Sleep(5 * sec)
		assert.NoError(t, held.Err(), "the attempt's timeout does not reach it")
		held.Release()
		assert.Equal(t, context.Canceled, held.Err())
		held.Release()
	})
}

// P49: the total timeout goes on.
func TestP49AHeldContextEndsWithTheTotalTimeout(t *testing.T) {
	for name, policy := range map[string]resilient.Policy{
		"no attempt timeout": steady(total(10 * sec)), "attempt timeout": steady(total(10*sec), each(sec)),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				held := hold(t.Context(), t, newGuard(t, policy, nil), get.WithTotalTimeout(3*sec))
				deadline, ok := held.Deadline()
				require.True(t, ok)
				assert.Equal(t, start.Add(3*sec), deadline)
				<-held.Done()
				assert.Equal(t, 3*sec, time.Since(start))
				assert.Equal(t, context.DeadlineExceeded, held.Err())
				assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 3 * sec}, context.Cause(held))
			})
		})
	}
}

func TestAHeldContextEndsWithTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		held := hold(ctx, t, newGuard(t, steady(), nil), get)
		cancel(why)
		assert.Equal(t, context.Canceled, held.Err())
		assert.Equal(t, why, context.Cause(held))

		late, stop := context.WithTimeout(t.Context(), sec)
		defer stop()
		held = hold(late, t, newGuard(t, steady(total(10*sec)), nil), get)
		<-held.Done()
		assert.Equal(t, context.DeadlineExceeded, context.Cause(held), "the caller's deadline is none of ours")
	})
}

// What was not kept ends with its attempt, be it by a limit or by its return.
func TestAHeldContextThatIsNotKeptEndsWithItsAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(attempts(2), noDelay, each(sec)), nil)
		var held []*resilient.Held
		err := resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
			h := resilient.Hold(ctx)
			held = append(held, h)
			<-h.Done()
			assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitAttempt, After: sec}, context.Cause(h))
			assert.False(t, h.Keep(), "there is nothing to keep any more")
			return context.Cause(h)
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Len(t, held, 2)

		var left *resilient.Held
		require.NoError(t, resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
			left = resilient.Hold(ctx)
			assert.True(t, nesting.UnderRetry(left), "while it runs it is what runs in the call")
			assert.Equal(t, 1, resilient.Attempt(ctx))
			return nil
		}))
		<-left.Done()
		assert.Equal(t, context.Canceled, left.Err())
	})
}

func TestAHeldContextWithoutAGuardedCall(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, resilient.Do(ctx, resilient.Passthrough(), get, func(ctx context.Context) error {
		held := resilient.Hold(ctx)
		require.True(t, held.Keep())
		require.NoError(t, held.Err())
		held.Release()
		assert.Error(t, held.Err())
		return nil
	}))
	held := resilient.Hold(ctx)
	cancel()
	assert.False(t, held.Keep())
}

func TestHeldContextsLeaveNothing(t *testing.T) {
	g := newGuard(t, steady(each(sec)), nil)
	running := runtime.NumGoroutine()
	for range 1000 {
		hold(t.Context(), t, g, get).Release()
	}
	goroutines(t, running)
}

func TestP134AnOpThatCannotBeMadeTwiceIsMadeOnce(t *testing.T) {
	once := get.Once()
	assert.False(t, once.Idempotent())
	for name, only := range map[string]bool{"idempotent ops only": true, "all ops": false} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, steady(noDelay, func(p *resilient.Policy) { p.Retry.IdempotentOnly = only }), nil)
			fn, calls := fails(always)
			_, err := resilient.Execute(t.Context(), g, once, fn)
			assert.Equal(t, errDown, err)
			assert.EqualValues(t, 1, calls.Load())
		})
	}
}

// A result that is read when its call has returned.
func ExampleHold() {
	guard, err := resilient.NewGuard("events", resilient.DefaultPolicy(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := resilient.Execute(context.Background(), guard, resilient.Idempotent("watch"),
		func(ctx context.Context) (*resilient.Held, error) {
			held := resilient.Hold(ctx)
			// Here a stream is opened, with held for its context.
			if !held.Keep() {
				return nil, context.Cause(held)
			}
			return held, nil
		})
	fmt.Println(held.Err(), err)
	held.Release() // when the stream is closed
	fmt.Println(held.Err())
	// Output:
	// <nil> <nil>
	// context canceled
}

// What is not kept has ended, at once: an attempt that ends while its function asks must
// not leave it with a context that is over only a moment later, and no reason.
func TestWhatIsNotKeptHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := quick()
		policy.AttemptTimeout = time.Second
		policy.Circuit.Enabled = false
		guard := mustGuard(resilient.NewGuard("orders", policy, quietly))
		lost := 0
		for range 2000 {
			_ = resilient.Do(t.Context(), guard, resilient.NonIdempotent("get"), func(ctx context.Context) error {
				held := resilient.Hold(ctx)
				defer held.Release()
				time.Sleep(time.Second) // to the very moment
				if !held.Keep() {
					lost++
					assert.Error(t, context.Cause(held))
				}
				return nil
			})
		}
		assert.NotZero(t, lost)
	})
}
