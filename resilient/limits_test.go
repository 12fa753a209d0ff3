package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestP35AContextThatIsOverMakesNoCall(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	expired, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	shutdown, stop := context.WithCancelCause(context.Background())
	stop(errOther)
	tests := []struct {
		name string
		ctx  context.Context
		want error
	}{
		{"cancelled", cancelled, context.Canceled},
		{"expired", expired, context.DeadlineExceeded},
		{"P45 with a cause", shutdown, errOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				seen := &recorder{}
				g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
				before := g.Circuit().Snapshot()
				fn, calls := fails(always)
				_, err := in.call(tt.ctx, g, get, fn)
				assert.Equal(t, tt.want, err)
				assert.Zero(t, calls.Load())
				assert.Equal(t, before, g.Circuit().Snapshot(), "the circuit is untouched")
				assert.Empty(t, seen.all())
			})
		})
	}
}

// The places of a half-open circuit are not spent on calls that will not be made.
func TestA18AContextThatIsOverTakesNoProbe(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1)), nil)
		open(t, g)
		time.Sleep(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := in.call(ctx, g, get, func(context.Context) (int, error) { return 0, nil })
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, breaker.Open, g.Circuit().State())
		assert.True(t, g.Circuit().Snapshot().ProbeDue)
	})
}

func TestP37P54TheWaitEndsWithTheContext(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		ctx, cancel := context.WithCancelCause(t.Context())
		g := newGuard(t, steady(delay(10*sec)), nil)
		fn, calls := fails(always)
		time.AfterFunc(50*ms, func() { cancel(errOther) })
		start := time.Now()
		value, err := in.call(ctx, g, get, fn)
		assert.Equal(t, 50*ms, time.Since(start))
		assert.EqualValues(t, 1, calls.Load())
		assert.Equal(t, 1, value)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted, "A57: a real error, never nil")
		assert.Equal(t, resilient.ReasonContext, exhausted.Reason)
		assert.Equal(t, 1, exhausted.Attempts)
		require.ErrorIs(t, err, errOther, "P45: the cause")
		require.ErrorIs(t, err, errDown, "and the function's own error")
	})
}

func TestP39NoWaitThatEndsAtOrPastTheDeadline(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration // the caller's
		policy  resilient.Policy
		delay   time.Duration
		calls   int64
	}{
		{"far past the caller's deadline", 200 * ms, steady(), 10 * sec, 1},
		{"at the caller's deadline", sec, steady(), sec, 1},
		{"just before the caller's deadline", sec + 1, steady(), sec, 2},
		{"at the total timeout", time.Hour, steady(total(sec)), sec, 1},
		{"just before the total timeout", time.Hour, steady(total(sec + 1)), sec, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				policy := tt.policy
				policy.Retry.BaseDelay = tt.delay
				g := newGuard(t, policy, nil)
				ctx, cancel := context.WithTimeout(t.Context(), tt.timeout)
				defer cancel()
				fn, calls := fails(always)
				start := time.Now()
				_, err := in.call(ctx, g, get, fn)
				assert.Equal(t, tt.delay*time.Duration(tt.calls-1), time.Since(start), "it does not wait in vain")
				assert.Equal(t, tt.calls, calls.Load())
				var exhausted *resilient.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, resilient.ReasonNoTimeLeft, exhausted.Reason)
				assert.EqualValues(t, tt.calls, exhausted.Attempts)
				require.ErrorIs(t, err, errDown, "both causes")
				require.ErrorIs(t, err, context.DeadlineExceeded, "both causes")
				var timeout *resilient.TimeoutError
				if ours := policy.TotalTimeout < tt.timeout; ours {
					require.ErrorAs(t, err, &timeout)
					assert.Equal(t, resilient.TimeoutError{Limit: resilient.LimitTotal, After: policy.TotalTimeout}, *timeout)
				} else {
					assert.False(t, errors.As(err, &timeout), "the caller's deadline is none of our limits")
				}
			})
		})
	}
}

func TestP41NoAttemptStartsAtOrAfterTheLimit(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(total(sec), delay(300*ms), attempts(100)), nil)
		start := time.Now()
		var at []time.Duration
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
			at = append(at, time.Since(start))
			time.Sleep(400 * ms)
			return 0, errDown
		})
		require.Error(t, err)
		assert.Equal(t, in.name != "Async", errors.Is(err, errDown), "Async leaves the second attempt behind")
		assert.LessOrEqual(t, time.Since(start), sec+100*ms)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []time.Duration{0, 700 * ms}, at)
	})
}

func TestP41NoAttemptStartsAtOrAfterAnyLimit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := time.Duration(rapid.IntRange(1, 50).Draw(rt, "limit")) * 100 * ms
		callers := time.Duration(rapid.IntRange(1, 50).Draw(rt, "caller's")) * 100 * ms
		takes := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20).Draw(rt, "takes")
		wait := time.Duration(rapid.IntRange(1, 9).Draw(rt, "delay")) * 100 * ms
		synctest.Test(t, func(t *testing.T) {
			g := newGuard(t, steady(total(limit), delay(wait), attempts(100)), nil)
			ctx, cancel := context.WithTimeout(t.Context(), callers)
			defer cancel()
			start, calls := time.Now(), 0
			end := min(limit, callers)
			var finished time.Duration
			err := resilient.Do(ctx, g, get, func(context.Context) error {
				if calls > 0 && time.Since(start)-finished != wait {
					rt.Errorf("waited %v, not %v", time.Since(start)-finished, wait)
				}
				if at := time.Since(start); at >= end {
					rt.Errorf("attempt %d starts at %v", calls+1, at)
				}
				time.Sleep(time.Duration(takes[calls%len(takes)]) * 100 * ms)
				calls++
				finished = time.Since(start)
				return errDown
			})
			if time.Since(start) != finished {
				rt.Errorf("slept %v in vain", time.Since(start)-finished)
			}
			if finished+wait < end && calls < 100 {
				rt.Errorf("gave up at %v of %v", finished, end)
			}
			if !errors.Is(err, errDown) {
				rt.Errorf("lost the error: %v", err)
			}
		})
	})
}

func TestA53NoWaitPastTheTotalTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(attempts(9), total(5*sec), func(p *resilient.Policy) {
			p.Retry.Backoff = resilient.BackoffExponential
		}), nil)
		fn, calls := fails(always)
		start := time.Now()
		_, err := resilient.Execute(t.Context(), g, get, fn)
		assert.Equal(t, 3*sec, time.Since(start), "1 + 2; 4 would not fit")
		assert.EqualValues(t, 3, calls.Load())
		require.ErrorIs(t, err, errDown)
	})
}

func TestP43A54TheTotalTimeoutCutsAnAttempt(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, op := range []resilient.Op{get, apply} {
			g := newGuard(t, steady(total(10*sec), threshold(1)), nil)
			calls := 0
			start := time.Now()
			_, err := in.call(t.Context(), g, op, func(ctx context.Context) (int, error) {
				calls++
				select {
				case <-ctx.Done():
					return 0, fmt.Errorf("reading: %w", ctx.Err())
				case <-time.After(11 * sec):
					return 0, nil
				}
			})
			assert.Equal(t, 10*sec, time.Since(start))
			synctest.Wait()
			assert.Equal(t, 1, calls)
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, 1, exhausted.Attempts)
			assert.Equal(t, resilient.ReasonTimeout, exhausted.Reason)
			assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 10 * sec}, exhausted.Limit)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, breaker.Open, g.Circuit().State(), "a hung dependency opens the circuit")
		}
	})
}

func TestR10TotalTimeout(t *testing.T) {
	assert.Equal(t, 300*sec, resilient.DefaultPolicy().TotalTimeout)
	tests := []struct {
		name   string
		policy time.Duration
		op     resilient.Op
		want   time.Duration
	}{
		{"the default", 300 * sec, get, 300 * sec},
		{"the policy's", 20 * sec, get, 20 * sec},
		{"the op's, shorter", 20 * sec, get.WithTotalTimeout(5 * sec), 5 * sec},
		{"the op's, longer", 20 * sec, get.WithTotalTimeout(50 * sec), 50 * sec},
		{"the op's, above the most", 20 * sec, get.WithTotalTimeout(time.Hour), 300 * sec},
		{"A55 the op's, zero", 20 * sec, get.WithTotalTimeout(0), 20 * sec},
		{"the op's, taken back", 20 * sec, get.WithTotalTimeout(5 * sec).WithTotalTimeout(0), 20 * sec},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(total(tt.policy)), nil)
				start := time.Now()
				_, err := in.call(t.Context(), g, tt.op, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, ctx.Err()
				})
				assert.Equal(t, tt.want, time.Since(start))
				var timeout *resilient.TimeoutError
				require.ErrorAs(t, err, &timeout)
				assert.Equal(t, resilient.TimeoutError{Limit: resilient.LimitTotal, After: tt.want}, *timeout)
			})
		})
	}
}

func TestAttemptTimeoutEndsEachAttempt(t *testing.T) {
	tests := []struct {
		name   string
		policy resilient.Policy
		op     resilient.Op
		at     []time.Duration // when attempts start
		limit  resilient.TimeoutError
		reason resilient.Reason
	}{
		{
			"each, and the last", steady(each(2 * sec)), get, []time.Duration{0, 3 * sec, 6 * sec},
			resilient.TimeoutError{Limit: resilient.LimitAttempt, After: 2 * sec}, resilient.ReasonTimeout,
		},
		{
			"of the only one", steady(each(2 * sec)), apply, []time.Duration{0},
			resilient.TimeoutError{Limit: resilient.LimitAttempt, After: 2 * sec}, resilient.ReasonTimeout,
		},
		{
			"the op's own", steady(each(2 * sec)), get.WithAttemptTimeout(4 * sec), []time.Duration{0, 5 * sec, 10 * sec},
			resilient.TimeoutError{Limit: resilient.LimitAttempt, After: 4 * sec}, resilient.ReasonTimeout,
		},
		{
			"the total ends the second", steady(each(2*sec), total(4*sec)), get, []time.Duration{0, 3 * sec},
			resilient.TimeoutError{Limit: resilient.LimitTotal, After: 4 * sec}, resilient.ReasonTimeout,
		},
		{
			"no time for the second", steady(each(2*sec), total(3*sec)), get, []time.Duration{0},
			resilient.TimeoutError{Limit: resilient.LimitTotal, After: 3 * sec}, resilient.ReasonNoTimeLeft,
		},
		{
			"as long as the total", steady(each(4*sec), total(4*sec)), get, []time.Duration{0},
			resilient.TimeoutError{Limit: resilient.LimitTotal, After: 4 * sec}, resilient.ReasonTimeout,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, tt.policy, nil)
				start := time.Now()
				var at []time.Duration
				_, err := in.call(t.Context(), g, tt.op, func(ctx context.Context) (int, error) {
					at = append(at, time.Since(start))
					<-ctx.Done()
					return 0, ctx.Err()
				})
				synctest.Wait()
				assert.Equal(t, tt.at, at)
				var exhausted *resilient.ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, tt.reason, exhausted.Reason)
				assert.Equal(t, &tt.limit, exhausted.Limit)
				assert.Equal(t, len(tt.at), exhausted.Attempts)
				assert.Equal(t, len(tt.at), g.Circuit().Snapshot().Failures, "an expired deadline is a failure")
			})
		})
	}
}

func TestA73NoHiddenTimeout(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, resilient.DefaultPolicy(), nil)
		value, err := in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(299 * sec):
				return 7, nil
			}
		})
		require.NoError(t, err)
		assert.Equal(t, 7, value)
	})
}

func TestP46ASuccessIsKept(t *testing.T) {
	stop := errors.New("stop")
	tests := []struct {
		name string
		end  func(cancel context.CancelCauseFunc)
	}{
		{"though the caller's context was cancelled", func(cancel context.CancelCauseFunc) { cancel(stop) }},
		{"though the time is over", func(context.CancelCauseFunc) { time.Sleep(2 * sec) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range entries() {
				if in.name == "Async" {
					continue // leaves a late function behind, as it says
				}
				synctest.Test(t, func(t *testing.T) {
					g := newGuard(t, steady(threshold(2), total(sec)), nil)
					require.ErrorIs(t, resilient.Do(t.Context(), g, apply, returns(errDown)), errDown)
					require.Equal(t, 1, g.Circuit().Snapshot().Failures)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					value, err := in.call(ctx, g, get, func(context.Context) (int, error) {
						tt.end(cancel)
						return 42, nil
					})
					require.NoError(t, err, in.name)
					assert.Equal(t, 42, value)
					assert.Zero(t, g.Circuit().Snapshot().Failures, "and counts as a success")
				})
			}
		})
	}
}

func TestP101APolicyThatFlipsTimesNothingOutByMistake(t *testing.T) {
	g := newGuard(t, steady(), nil)
	with, without := steady(each(time.Minute), total(time.Minute)), steady()
	done := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			if i%2 == 0 {
				_ = g.SetPolicy(with)
			} else {
				_ = g.SetPolicy(without)
			}
		}
	}()
	for range 100_000 {
		err := resilient.Do(context.Background(), g, get, func(ctx context.Context) error {
			deadline, ok := ctx.Deadline()
			if !ok || time.Until(deadline) < 30*sec {
				return fmt.Errorf("a deadline at %v", deadline)
			}
			return ctx.Err()
		})
		if !assert.NoError(t, err) {
			break
		}
	}
	close(done)
	<-stopped
}

// A caller that names no real end may well say so with the longest duration there is.
func TestP42ADeadlineInCenturiesIsNone(t *testing.T) {
	farAway := map[string]func() time.Time{
		"292 years from now": func() time.Time { return time.Now().Add(maxInt) },
		"the year 9999":      func() time.Time { return time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC) },
	}
	for name, deadline := range farAway {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(), nil)
				time.Sleep(sec)
				ctx, cancel := context.WithDeadline(t.Context(), deadline())
				defer cancel()
				fn, calls := fails(1)
				value, err := in.call(ctx, g, get, fn)
				require.NoError(t, err)
				assert.Equal(t, 2, value)
				assert.EqualValues(t, 2, calls.Load())
			})
		})
	}
}

// A wait may end late, here because an observer took its time before it began: the limit holds all the same.
func TestP41AWaitThatEndsLate(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		dawdle := resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
			if _, scheduled := e.(resilient.RetryScheduled); scheduled {
				time.Sleep(4 * sec)
			}
		})
		g := newGuard(t, steady(total(5*sec)), &resilient.Options{Observers: []resilient.Observer{dawdle}})
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, fn)
		assert.EqualValues(t, 1, calls.Load(), "at 5 s it is too late")
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonNoTimeLeft, exhausted.Reason)
		assert.Equal(t, 1, exhausted.Attempts)
		assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 5 * sec}, exhausted.Limit)
		require.ErrorIs(t, err, errDown)
	})
}

// due is a context whose deadline has come, and whose timer has yet to fire.
type due struct {
	context.Context
	at time.Time
}

func (d due) Deadline() (time.Time, bool) { return d.at, true }

func TestP35ADeadlineThatHasJustComeMakesNoCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1)), nil)
		time.Sleep(sec)
		for _, ago := range []time.Duration{0, 1, sec, time.Hour} {
			fn, calls := fails(always)
			_, err := in.call(due{t.Context(), time.Now().Add(-ago)}, g, get, fn)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Zero(t, calls.Load(), ago)
		}
		assert.Equal(t, breaker.Closed, g.Circuit().State())
		fn, calls := fails(0)
		_, err := in.call(due{t.Context(), time.Now().Add(1)}, g, get, fn)
		require.NoError(t, err)
		assert.EqualValues(t, 1, calls.Load())
	})
}

// A failure that is no cancellation, of a caller who has given up meanwhile: no retry is scheduled, nor logged.
func TestNoRetryIsScheduledForACallerWhoHasGone(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		g := newGuard(t, steady(), &resilient.Options{Observers: []resilient.Observer{seen}})
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := in.call(ctx, g, get, func(context.Context) (int, error) {
			cancel(errOther)
			return 0, errDown
		})
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonContext, exhausted.Reason)
		assert.Equal(t, errOther, exhausted.Limit)
		assert.Equal(t, errDown, exhausted.Last)
		assert.Empty(t, recorded[resilient.RetryScheduled](seen))
	})
}
