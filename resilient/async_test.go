package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// ignore is a function that ignores its context and returns late, with a value that nobody is to see.
func ignore(d time.Duration) func(context.Context) (int, error) {
	return func(context.Context) (int, error) {
		time.Sleep(d)
		return 13, nil
	}
}

func TestAsyncReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := resilient.Async(t.Context(), newGuard(t, steady(), nil), get, ignore(sec))
		assert.Zero(t, time.Since(start))
		select {
		case <-f.Done():
			t.Error("done already")
		default:
		}
		<-f.Done()
		assert.Equal(t, sec, time.Since(start))
		for range 3 { // any number of times the same
			value, err := f.Await(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 13, value)
		}
		assert.Equal(t, sec, time.Since(start))
	})
}

func TestAsyncAwaitByMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := resilient.Async(t.Context(), newGuard(t, steady(), nil), get, ignore(sec))
		var got atomic.Int64
		for range 100 {
			go func() {
				value, err := f.Await(t.Context())
				if err == nil && value == 13 {
					got.Add(1)
				}
			}()
		}
		time.Sleep(2 * sec)
		assert.EqualValues(t, 100, got.Load())
	})
}

func TestAwaitEndsWithItsOwnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		f := resilient.Async(t.Context(), newGuard(t, steady(), nil), get, ignore(10*sec))
		ctx, cancel := context.WithTimeoutCause(t.Context(), sec, errOther)
		defer cancel()
		start := time.Now()
		value, err := f.Await(ctx)
		assert.Equal(t, errOther, err, "the cause")
		assert.Zero(t, value)
		assert.Equal(t, sec, time.Since(start))
		value, err = f.Await(t.Context())
		require.NoError(t, err, "and the call goes on")
		assert.Equal(t, 13, value)
		value, err = f.Await(ctx)
		require.NoError(t, err, "what is there is not lost to a context that is over")
		assert.Equal(t, 13, value)
	})
}

func TestAwaitNothing(t *testing.T) {
	var none *resilient.Future[int]
	var noContext context.Context
	_, err := none.Await(context.Background())
	assert.Equal(t, resilient.ErrNilFuture, err)
	assert.Nil(t, none.Done())
	none.Cancel()
	f := resilient.Async(context.Background(), resilient.Passthrough(), get, ignore(0))
	_, err = f.Await(noContext)
	assert.Equal(t, resilient.ErrNilContext, err)
	synctest.Test(t, func(t *testing.T) { // the zero value never ends
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var zero resilient.Future[int]
		zero.Cancel()
		_, err := zero.Await(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// What a function does while it is cut: it ignores its context, or it has looked at it once, or it waits for it. The
// result is the same, and never a success that did not happen.
var cutFunctions = map[string]func(ctx context.Context) (int, error){
	"ignores its context":      func(ctx context.Context) (int, error) { return ignore(time.Hour)(ctx) },
	"looks at it, and goes on": func(ctx context.Context) (int, error) { _ = ctx.Done(); return ignore(time.Hour)(ctx) },
	"waits for it":             func(ctx context.Context) (int, error) { <-ctx.Done(); return 13, ctx.Err() },
	"has a child that waits": func(ctx context.Context) (int, error) {
		child, cancel := context.WithCancel(ctx)
		defer cancel()
		<-child.Done()
		return 13, child.Err()
	},
}

func TestAwaitReturnsAtTheTotalDeadline(t *testing.T) {
	for name, fn := range cutFunctions {
		for _, op := range []resilient.Op{apply, get} {
			t.Run(name+"/"+op.Name(), func(t *testing.T) {
				for range 100 { // the limit and its observers fire in the same instant, in any order
					synctest.Test(t, func(t *testing.T) {
						defer time.Sleep(2 * time.Hour) // what was left behind ends before the bubble does
						g := newGuard(t, steady(threshold(1), total(10*sec)), nil)
						start := time.Now()
						_, err := resilient.Async(t.Context(), g, op, fn).Await(t.Context())
						if !assert.Error(t, err, "nothing has succeeded") {
							return
						}
						assert.Equal(t, 10*sec, time.Since(start))
						var exhausted *resilient.ExhaustedError
						require.ErrorAs(t, err, &exhausted)
						assert.Equal(t, resilient.ReasonTimeout, exhausted.Reason)
						assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 10 * sec}, exhausted.Limit)
						assert.Equal(t, 1, exhausted.Attempts)
						require.ErrorIs(t, err, context.DeadlineExceeded)
						assert.Equal(t, breaker.Open, g.Circuit().State(), "settled then")
						time.Sleep(2 * time.Hour)
						assert.Equal(t, breaker.Open, g.Circuit().State(), "the late success is dropped")
						assert.Zero(t, g.Circuit().Snapshot().Late, "the attempt is settled once")
					})
				}
			})
		}
	}
}

func TestAwaitReturnsAtTheCallersDeadline(t *testing.T) {
	for name, fn := range cutFunctions {
		t.Run(name, func(t *testing.T) {
			for range 100 {
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(2 * time.Hour)
					g := newGuard(t, steady(threshold(1)), nil)
					ctx, cancel := context.WithTimeout(t.Context(), 2*sec)
					defer cancel()
					start := time.Now()
					_, err := resilient.Async(ctx, g, apply, fn).Await(context.Background())
					require.ErrorIs(t, err, context.DeadlineExceeded, "nothing has succeeded")
					assert.Equal(t, 2*sec, time.Since(start))
					assert.Equal(t, breaker.Open, g.Circuit().State())
				})
			}
		})
	}
}

// A function that ignores its context is not cut off by the limit of one attempt: nothing could stop the next one from
// running beside it.
func TestAsyncAttemptTimeoutLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(each(sec), attempts(2)), nil)
		running, most := 0, 0
		start := time.Now()
		_, err := resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
			running++
			most = max(most, running)
			time.Sleep(5 * sec)
			running--
			return 0, errDown
		}).Await(t.Context())
		require.ErrorIs(t, err, errDown)
		assert.Equal(t, 11*sec, time.Since(start))
		assert.Equal(t, 1, most)
	})
}

func TestFutureCancel(t *testing.T) {
	for name, fn := range cutFunctions {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					defer time.Sleep(2 * time.Hour)
					g := newGuard(t, steady(threshold(1)), nil)
					f := resilient.Async(t.Context(), g, get, fn)
					time.AfterFunc(sec, f.Cancel)
					start := time.Now()
					_, err := f.Await(t.Context())
					require.ErrorIs(t, err, context.Canceled)
					assert.Equal(t, sec, time.Since(start), "it does not wait")
					snap := g.Circuit().Snapshot()
					assert.Equal(t, breaker.Closed, snap.State, "neutral")
					assert.Zero(t, snap.Failures)
					f.Cancel()
					_, again := f.Await(t.Context())
					assert.Equal(t, err, again)
					time.Sleep(2 * time.Hour)
					_, again = f.Await(t.Context())
					assert.Equal(t, err, again, "the late value is dropped")
				})
			}
		})
	}
}

func TestFutureCancelBeforeAndAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(), nil)
		fn, calls := fails(always)
		f := resilient.Async(t.Context(), g, get, fn)
		f.Cancel() // its goroutine may have begun or not
		_, err := f.Await(t.Context())
		require.Error(t, err)
		assert.LessOrEqual(t, calls.Load(), int64(1))
		if calls.Load() == 0 {
			require.ErrorIs(t, err, context.Canceled)
		}

		f = resilient.Async(t.Context(), g, get, ignore(0))
		_, _ = f.Await(t.Context())
		f.Cancel()
		value, err := f.Await(t.Context())
		require.NoError(t, err, "a call that has ended stays as it is")
		assert.Equal(t, 13, value)
	})
}

func TestFutureCancelDuringTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fn, calls := fails(always)
		f := resilient.Async(t.Context(), newGuard(t, steady(delay(time.Minute)), nil), get, fn)
		time.AfterFunc(sec, f.Cancel)
		start := time.Now()
		_, err := f.Await(t.Context())
		assert.Equal(t, sec, time.Since(start))
		require.ErrorIs(t, err, errDown)
		require.ErrorIs(t, err, context.Canceled)
		assert.EqualValues(t, 1, calls.Load())
	})
}

func TestFutureCancelUnguarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(2 * time.Hour)
		f := resilient.Async(t.Context(), resilient.Passthrough(), get, ignore(time.Hour))
		time.AfterFunc(sec, f.Cancel)
		start := time.Now()
		_, err := f.Await(t.Context())
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, sec, time.Since(start))
	})
}

func TestAsyncGoesOnIfNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1), attempts(1)), nil)
		resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
			time.Sleep(sec)
			return 0, errDown
		})
		time.Sleep(2 * sec)
		assert.Equal(t, breaker.Open, g.Circuit().State())
	})
}

func TestAsyncPanicIsATypedError(t *testing.T) {
	for _, failures := range []int{0, 1} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuard(t, steady(threshold(failures+1)), nil)
				var calls int
				value, err := resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
					if calls++; calls <= failures {
						if calls == g.Policy().Circuit.FailureThreshold {
							t.Error("the circuit would open")
						}
						return 0, errDown
					}
					panicHere()
					return 1, nil
				}).Await(t.Context())
				var crash *resilient.PanicError
				require.ErrorAs(t, err, &crash)
				assert.Same(t, crash, err, "not retried, so not exhausted")
				assert.Equal(t, errOther, crash.Value)
				assert.False(t, crash.Goexit)
				assert.Contains(t, string(crash.Stack), "panicHere", "the stack is the panic's")
				require.ErrorIs(t, err, errOther, "the value, if it is an error")
				assert.Equal(t, "panic: other", err.Error())
				assert.Zero(t, value)
				assert.Equal(t, failures+1, calls)
				assert.Equal(t, breaker.Open, g.Circuit().State(), "a failure")
			})
		})
	}
}

func panicHere() { panic(errOther) }

func TestAsyncPanicsOfAllKinds(t *testing.T) {
	values := map[string]any{
		"a string":   "boom",
		"an integer": 7,
		"a struct":   crashed{},
		// R4: in Execute none of these is asked what it says about the dependency.
		"a neutral error":    resilient.Neutral(errDown),
		"a permanent error":  resilient.Permanent(errDown),
		"a rejection":        &resilient.RejectedError{Service: "another", State: breaker.Open},
		"an exhausted error": &resilient.ExhaustedError{Service: "another"},
		"a cancellation":     context.Canceled,
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGuard(t, steady(threshold(2)), nil)
				calls := 0
				_, err := resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
					calls++
					panic(value)
				}).Await(t.Context())
				var crash *resilient.PanicError
				require.ErrorAs(t, err, &crash)
				assert.Equal(t, value, crash.Value)
				assert.Equal(t, 1, calls)
				assert.Equal(t, 1, g.Circuit().Snapshot().Failures, "a panic is a failure")
				assert.Equal(t, value, panics(func() {
					_ = resilient.Do(t.Context(), g, get, func(context.Context) error { panic(value) })
				}))
				assert.Equal(t, breaker.Open, g.Circuit().State(), "as in Execute")
			})
		})
	}
}

func TestAsyncGoexitIsATypedError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1)), nil)
		calls := 0
		_, err := resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
			calls++
			runtime.Goexit()
			return 1, nil
		}).Await(t.Context())
		var crash *resilient.PanicError
		require.ErrorAs(t, err, &crash)
		assert.True(t, crash.Goexit)
		assert.Nil(t, crash.Value)
		assert.Contains(t, err.Error(), "Goexit")
		assert.Equal(t, 1, calls)
		assert.Equal(t, breaker.Open, g.Circuit().State())
	})
}

// A test that fails inside the function, with t.FailNow, ends its goroutine in just this way.
func TestAsyncPanicAfterItWasLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour) // and the program lives
		_, err := resilient.Async(t.Context(), newGuard(t, steady(total(sec)), nil), get, func(context.Context) (int, error) {
			time.Sleep(time.Minute)
			panic("nobody is listening")
		}).Await(t.Context())
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestP55ALateValueIsNotSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour)
		type result struct{ text []string }
		f := resilient.Async(t.Context(), newGuard(t, steady(total(sec)), nil), get, func(context.Context) (result, error) {
			late := result{text: make([]string, 3)}
			for i := range late.text {
				time.Sleep(sec / 2)
				late.text[i] = "late"
			}
			return late, nil
		})
		value, err := f.Await(t.Context())
		require.Error(t, err)
		assert.Zero(t, value)
		time.Sleep(time.Hour)
		value, _ = f.Await(t.Context())
		assert.Zero(t, value)
	})
}

func TestP53FunctionsThatReturnLateLeaveNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 10_000
		g := newGuard(t, steady(total(sec)), nil)
		baseline := runtime.NumGoroutine()
		release := make(chan struct{})
		var timedOut atomic.Int64
		for range calls {
			f := resilient.Async(t.Context(), g, get, func(context.Context) (int, error) {
				<-release
				return 0, nil
			})
			go func() {
				if _, err := f.Await(context.Background()); errors.Is(err, context.DeadlineExceeded) {
					timedOut.Add(1)
				}
			}()
		}
		time.Sleep(2 * sec)
		assert.EqualValues(t, calls, timedOut.Load())
		synctest.Wait()
		goroutines(t, baseline+calls) // only the functions themselves
		close(release)
		synctest.Wait()
		goroutines(t, baseline)
	})
}

func TestP54CancelledWaitsLeaveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := steady(attempts(2), func(p *resilient.Policy) {
			p.Retry.BaseDelay, p.Retry.MaxDelay = 299*sec, 299*sec
		})
		g := newGuard(t, p, nil)
		baseline, before := runtime.NumGoroutine(), heap()
		for range 10 {
			var futures []*resilient.Future[int]
			for range 1000 {
				fn, _ := fails(always)
				futures = append(futures, resilient.Async(t.Context(), g, get, fn))
			}
			synctest.Wait()
			for _, f := range futures {
				f.Cancel()
				_, err := f.Await(t.Context())
				require.ErrorIs(t, err, context.Canceled)
			}
		}
		synctest.Wait()
		goroutines(t, baseline)
		assert.Less(t, heap()-before, int64(4<<20))
	})
}

// Nothing of a call is shared with the goroutine that was left behind: the race detector would say so.
func TestAsyncUnderTheRaceDetector(t *testing.T) {
	g := newGuard(t, steady(noDelay), &resilient.Options{Observers: []resilient.Observer{&recorder{}}})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			failures := i % 4
			var calls atomic.Int64
			f := resilient.Async(t.Context(), g, get, func(ctx context.Context) (string, error) {
				if int(calls.Add(1)) <= failures {
					return "", errDown
				}
				if i%5 == 0 {
					<-ctx.Done()
				}
				return strings.Repeat("x", i), ctx.Err()
			})
			if i%5 == 0 {
				go f.Cancel()
			}
			value, err := f.Await(context.Background())
			if err == nil {
				assert.Len(t, value, i)
			}
			<-f.Done()
		})
	}
	wg.Wait()
}
