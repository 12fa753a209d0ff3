package resilient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// What retry-go, which drives the loop, does when it is left to itself, and what this library does instead. Where the
// first half of a test fails, the trap is gone upstream: look at what shields us from it, and whether it may go.

// coincide makes the timer of a wait and a cancellation come due in the same instant, and counts the attempts that begin
// when the context has ended.
func coincide(t *testing.T, call func(ctx context.Context, fn func() error)) (late int) {
	t.Helper()
	for range 1000 {
		synctest.Test(t, func(t *testing.T) {
			ctx := endsAt{t.Context(), time.Now().Add(sec), make(chan struct{})}
			time.AfterFunc(sec, func() { close(ctx.done) })
			call(ctx, func() error {
				if ctx.Err() != nil {
					late++
				}
				return errDown
			})
		})
	}
	return late
}

// endsAt is a context that is cancelled at a time, and not a goroutine's way later: at that time it is known who is right.
type endsAt struct {
	context.Context
	at   time.Time
	done chan struct{}
}

func (e endsAt) Done() <-chan struct{} { return e.done }

func (e endsAt) Value(any) any { return nil }

func (e endsAt) Err() error {
	if time.Now().Before(e.at) {
		return nil
	}
	return context.Canceled
}

func TestTrapTheChoiceBetweenTimerAndContextIsACoinFlip(t *testing.T) {
	late := coincide(t, func(ctx context.Context, fn func() error) {
		_ = retry.Do(fn, retry.Context(ctx), retry.Attempts(3), retry.Delay(sec), retry.DelayType(retry.FixedDelay), retry.WithTimer(both{ctx}))
	})
	assert.Positive(t, late, "retry-go no longer flips a coin")

	for _, in := range entries() {
		if in.name == "Async" {
			continue // it makes a child of the context, which ends a goroutine's way later; the loop is the same
		}
		late = coincide(t, func(ctx context.Context, fn func() error) {
			_, err := in.call(ctx, newGuard(t, steady(), nil), get, func(context.Context) (int, error) { return 0, fn() })
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errDown)
		})
		assert.Zero(t, late, in.name)
	}
}

// both is a timer that lets the context end as well before it is ready.
type both struct{ ctx context.Context }

func (b both) After(d time.Duration) <-chan time.Time {
	time.Sleep(d)
	<-b.ctx.Done()
	ready := make(chan time.Time)
	close(ready)
	return ready
}

func TestTrapLastErrorOnlyDropsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(sec/2, func() { cancel(errOther) })
		err := retry.Do(func() error { return errDown }, retry.Context(ctx), retry.LastErrorOnly(true), retry.Delay(sec), retry.DelayType(retry.FixedDelay))
		require.ErrorIs(t, err, errOther)
		assert.False(t, errors.Is(err, errDown), "retry-go no longer drops it")

		ctx, cancel = context.WithCancelCause(t.Context())
		time.AfterFunc(sec/2, func() { cancel(errOther) })
		err = resilient.Do(ctx, newGuard(t, steady(), nil), get, returns(errDown))
		require.ErrorIs(t, err, errDown)
		require.ErrorIs(t, err, errOther)
	})
}

func TestTrapRetryIfSwitchesUnrecoverableOff(t *testing.T) {
	calls := 0
	_ = retry.Do(func() error { calls++; return retry.Unrecoverable(errDown) },
		retry.Attempts(3), retry.Delay(0), retry.MaxJitter(1), retry.RetryIf(func(error) bool { return true }))
	assert.Equal(t, 3, calls, "retry-go no longer switches it off")

	calls = 0
	g := newGuard(t, steady(noDelay), &resilient.Options{Classify: func(error) resilient.Outcome { return resilient.OutcomeFailure }})
	_ = resilient.Do(t.Context(), g, get, func(context.Context) error { calls++; return resilient.Permanent(errDown) })
	assert.Equal(t, 1, calls)
	_ = resilient.Do(t.Context(), g, get, func(context.Context) error { calls++; return retry.Unrecoverable(errDown) })
	assert.Equal(t, 2, calls, "its own mark, too")
}

func TestTrapJitterPanics(t *testing.T) {
	fail := func() error { return errDown }
	assert.NotNil(t, panics(func() {
		_ = retry.Do(fail, retry.Attempts(2), retry.MaxJitter(0), retry.WithTimer(instantly{}))
	}), "retry-go no longer panics with MaxJitter(0)")

	synctest.Test(t, func(t *testing.T) {
		for _, b := range resilient.Backoffs() {
			for _, base := range []time.Duration{0, 1, time.Hour} { // no jitter to draw, hardly any, and all up to the cap
				p := steady(attempts(100), func(p *resilient.Policy) {
					p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.Jitter = b, base, true
					p.Retry.MaxDelay = max(base, b.Floor())
				})
				assert.Nil(t, panics(func() { _ = resilient.Do(t.Context(), newGuard(t, p, nil), get, returns(errDown)) }))
			}
		}
	})
}

// instantly is a timer that does not wait.
type instantly struct{}

func (instantly) After(time.Duration) <-chan time.Time {
	ready := make(chan time.Time)
	close(ready)
	return ready
}

// Without a cap its full jitter overflows, and panics; its exponential delays stop growing in time since 4.7.
func TestTrapDelaysOverflow(t *testing.T) {
	assert.NotNil(t, panics(func() {
		_ = retry.Do(func() error { return errDown }, retry.Attempts(100), retry.Delay(sec),
			retry.DelayType(retry.FullJitterBackoffDelay), retry.WithTimer(instantly{}))
	}), "retry-go's full jitter no longer overflows")

	for _, b := range resilient.Backoffs() {
		r := resilient.RetryPolicy{Backoff: b, BaseDelay: 3 * sec, MaxDelay: maxInt}
		for n := 1; n < 200; n++ {
			shortest, longest := r.Delays(n)
			_, next := r.Delays(n + 1)
			assert.True(t, 0 <= shortest && shortest <= longest && longest <= next, "%s %d", b, n)
		}
	}
	_, last := resilient.RetryPolicy{Backoff: resilient.BackoffExponential, BaseDelay: 3 * sec, MaxDelay: maxInt}.Delays(100)
	assert.Equal(t, maxInt, last)
}

// It calls before it sleeps, but our first attempt has been made by then: the replay must be neither a call of the
// function nor an attempt without a wait.
func TestTrapItCallsBeforeItSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		_ = retry.Do(func() error { at = append(at, time.Since(start)); return errDown },
			retry.Attempts(2), retry.Delay(sec), retry.DelayType(retry.FixedDelay))
		assert.Equal(t, []time.Duration{0, sec}, at)
	})
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{seen}})
		start := time.Now()
		var at []time.Duration
		_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) {
			at = append(at, time.Since(start))
			return 0, errDown
		})
		assert.Equal(t, []time.Duration{0, sec, 2 * sec}, at)
		assert.Len(t, recorded[resilient.AttemptDone](seen), 3)
		assert.Equal(t, 3, g.Circuit().Snapshot().Failures)
	})
}

// bigError shows in the heap when it is kept.
type bigError struct{ _ [1 << 10]byte }

func (*bigError) Error() string { return errDown.Error() }

func (*bigError) Unwrap() error { return errDown }

// P17: its log of errors grows with every attempt; ours keeps the last.
func TestTrapP17TheLogOfErrorsGrows(t *testing.T) {
	var all retry.Error
	err := retry.Do(func() error { return new(bigError) }, retry.Attempts(100), retry.WithTimer(instantly{}))
	require.ErrorAs(t, err, &all)
	assert.Len(t, all, 100, "retry-go no longer keeps them all")

	g := newGuard(t, steady(attempts(100), noDelay), nil)
	var kept []error // 100 KiB each, if each of them kept all of its attempts' errors
	call := func() {
		kept = append(kept, resilient.Do(t.Context(), g, get, func(context.Context) error { return new(bigError) }))
	}
	call()
	before := heap()
	for range 200 {
		call()
	}
	assert.Less(t, heap()-before, int64(2<<20))
	for _, err := range kept {
		require.ErrorIs(t, err, errDown)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, 100, exhausted.Attempts)
	}
}
