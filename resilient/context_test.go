package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

func isDone(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

func TestContextDeadlineIsTheEarliest(t *testing.T) {
	tests := []struct {
		name    string
		callers time.Duration // 0 is none
		policy  resilient.Policy
		op      resilient.Op
		want    time.Duration
	}{
		{"the total", 0, steady(total(9 * sec)), get, 9 * sec},
		{"the caller's", 5 * sec, steady(total(9 * sec)), get, 5 * sec},
		{"the attempt's", 5 * sec, steady(total(9*sec), each(sec)), get, sec},
		{"the caller's before the attempt's", 500 * ms, steady(each(sec)), get, 500 * ms},
		{"the op's total", 5 * sec, steady(), get.WithTotalTimeout(2 * sec), 2 * sec},
		{"the op's attempt", 5 * sec, steady(), get.WithAttemptTimeout(3 * sec), 3 * sec},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, tt.policy, nil)
				time.Sleep(time.Hour) // the guard is not new
				ctx := t.Context()
				if tt.callers > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.callers)
					defer cancel()
				}
				start := time.Now()
				_, err := in.call(ctx, g, tt.op, func(ctx context.Context) (int, error) {
					deadline, ok := ctx.Deadline()
					assert.True(t, ok)
					assert.Equal(t, tt.want, deadline.Sub(start))
					return 0, nil
				})
				require.NoError(t, err)
			})
		})
	}
}

// What a context is asked first decides whether it makes its timer; what it answers must not depend on that.
var firstQuestions = map[string]func(ctx context.Context){
	"nothing":   func(context.Context) {},
	"Err":       func(ctx context.Context) { _ = ctx.Err() },
	"Done":      func(ctx context.Context) { _ = ctx.Done() },
	"Cause":     func(ctx context.Context) { _ = context.Cause(ctx) },
	"Deadline":  func(ctx context.Context) { _, _ = ctx.Deadline() },
	"Value":     func(ctx context.Context) { _ = ctx.Value(key{}) },
	"a child":   func(ctx context.Context) { _, cancel := context.WithCancel(ctx); cancel() },
	"AfterFunc": func(ctx context.Context) { context.AfterFunc(ctx, func() {})() },
}

// lastQuestions are those about the end; each is asked of a context of its own.
var lastQuestions = map[string]func(t *testing.T, ctx context.Context, err, cause error){
	"Err": func(t *testing.T, ctx context.Context, err, _ error) {
		assert.True(t, ctx.Err() == err, "the bare %v, not %v", err, ctx.Err())
		assert.True(t, isDone(ctx))
	},
	"Done": func(t *testing.T, ctx context.Context, err, _ error) {
		<-ctx.Done() // at once: a bubble would wait for ever, or an hour
		assert.Equal(t, err, ctx.Err())
	},
	"Cause": func(t *testing.T, ctx context.Context, _, cause error) {
		assert.Equal(t, cause, context.Cause(ctx))
	},
	"Cause after Err": func(t *testing.T, ctx context.Context, err, cause error) {
		assert.Equal(t, err, ctx.Err())
		assert.Equal(t, cause, context.Cause(ctx))
	},
	"Cause of a child": func(t *testing.T, ctx context.Context, err, cause error) {
		child, cancel := context.WithCancel(context.WithValue(ctx, key{}, 1))
		defer cancel()
		assert.Equal(t, err, child.Err())
		assert.Equal(t, cause, context.Cause(child))
	},
	"AfterFunc": func(t *testing.T, ctx context.Context, _, _ error) {
		ran := 0
		stop := context.AfterFunc(ctx, func() { ran++ })
		synctest.Wait()
		assert.Equal(t, 1, ran)
		assert.False(t, stop())
	},
}

func TestContextEnds(t *testing.T) {
	type end struct {
		name   string
		policy resilient.Policy
		happen func(cancel context.CancelCauseFunc)
		err    error
		cause  error
	}
	sleep := func(context.CancelCauseFunc) {
		time.Sleep(2 * sec)
		synctest.Wait()
	}
	ends := []end{
		{"with the total timeout", steady(total(2 * sec)), sleep, context.DeadlineExceeded, &resilient.TimeoutError{Limit: resilient.LimitTotal, After: 2 * sec}},
		{"with the attempt timeout", steady(each(2 * sec)), sleep, context.DeadlineExceeded, &resilient.TimeoutError{Limit: resilient.LimitAttempt, After: 2 * sec}},
		{"with the caller's cancellation", steady(), func(cancel context.CancelCauseFunc) { cancel(errOther) }, context.Canceled, errOther},
		{"with the caller's cancellation without a cause", steady(each(sec)), func(cancel context.CancelCauseFunc) { cancel(nil) }, context.Canceled, context.Canceled},
	}
	parents := map[string]func() (context.Context, context.CancelCauseFunc){
		"a cancel context": func() (context.Context, context.CancelCauseFunc) {
			return context.WithCancelCause(context.Background())
		},
		"a value context": func() (context.Context, context.CancelCauseFunc) {
			ctx, cancel := context.WithCancelCause(context.Background())
			return context.WithValue(ctx, key{}, "value"), cancel
		},
		"the background": func() (context.Context, context.CancelCauseFunc) { return context.Background(), nil },
		"another call's": func() (context.Context, context.CancelCauseFunc) {
			// The context of a call that is running, as a nested call gets it.
			g, err := resilient.NewGuard("outer", resilient.DefaultPolicy(), nil)
			if err != nil {
				panic(err)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			inside := make(chan context.Context)
			go func() {
				_ = resilient.Do(ctx, g, apply, func(ctx context.Context) error {
					inside <- ctx
					<-ctx.Done()
					return ctx.Err()
				})
			}()
			return <-inside, cancel
		},
	}
	for _, end := range ends {
		for parentName, parent := range parents {
			for firstName, first := range firstQuestions {
				for lastName, last := range lastQuestions {
					if parentName == "the background" && end.cause != nil && end.err == context.Canceled {
						continue // nobody can cancel it
					}
					t.Run(fmt.Sprintf("%s/under %s/first %s, then %s", end.name, parentName, firstName, lastName), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							ctx, cancel := parent()
							g := newGuard(t, end.policy, nil)
							_ = resilient.Do(ctx, g, apply, func(ctx context.Context) error {
								first(ctx)
								assert.NoError(t, ctx.Err())
								end.happen(cancel)
								last(t, ctx, end.err, end.cause)
								return nil
							})
							if cancel != nil {
								cancel(nil)
							}
						})
					})
				}
			}
		}
	}
}

// The caller's deadline is the caller's: with the cause that it was made with.
func TestContextEndsWithTheCallersDeadline(t *testing.T) {
	for firstName, first := range firstQuestions {
		for lastName, last := range lastQuestions {
			t.Run(fmt.Sprintf("first %s, then %s", firstName, lastName), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeoutCause(t.Context(), sec, errOther)
					defer cancel()
					_ = resilient.Do(ctx, newGuard(t, steady(each(time.Minute)), nil), apply, func(ctx context.Context) error {
						first(ctx)
						assert.NoError(t, ctx.Err())
						time.Sleep(sec)
						synctest.Wait()
						last(t, ctx, context.DeadlineExceeded, errOther)
						return nil
					})
				})
			})
		}
	}
}

func TestContextIsOverWhenTheCallReturns(t *testing.T) {
	parents := map[string]func(t *testing.T) context.Context{
		"background":  func(*testing.T) context.Context { return context.Background() },
		"value":       func(*testing.T) context.Context { return context.WithValue(context.Background(), key{}, 1) },
		"cancellable": func(t *testing.T) context.Context { return t.Context() },
	}
	for parentName, parent := range parents {
		for firstName, first := range firstQuestions {
			for lastName, last := range lastQuestions {
				t.Run(fmt.Sprintf("%s/first %s, then %s", parentName, firstName, lastName), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						ctx := parent(t)
						var inside context.Context
						err := resilient.Do(ctx, newGuard(t, steady(), nil), get, func(ctx context.Context) error {
							inside = ctx
							first(ctx)
							return ctx.Err()
						})
						require.NoError(t, err)
						last(t, inside, context.Canceled, context.Canceled)
						time.Sleep(time.Hour)
						assert.Equal(t, context.Canceled, inside.Err(), "what has ended stays as it is")
					})
				})
			}
		}
	}
}

func TestContextIsOverAfterAFailure(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var inside []context.Context
		_, err := in.call(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) (int, error) {
			inside = append(inside, ctx)
			return 0, errDown
		})
		require.ErrorIs(t, err, errDown)
		require.Len(t, inside, 3)
		for _, ctx := range inside {
			assert.Equal(t, context.Canceled, ctx.Err())
		}
	})
}

// With an attempt timeout each attempt has a context of its own, and what an earlier one started ends before the next.
func TestContextOfEachAttempt(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		start := time.Now()
		var inside []context.Context
		_, err := in.call(t.Context(), newGuard(t, steady(each(5*sec), delay(sec)), nil), get, func(ctx context.Context) (int, error) {
			if len(inside) > 0 {
				assert.ErrorIs(t, inside[len(inside)-1].Err(), context.Canceled, "the one before is over")
			}
			assert.NoError(t, ctx.Err())
			deadline, _ := ctx.Deadline()
			assert.Equal(t, time.Since(start)+5*sec, deadline.Sub(start))
			inside = append(inside, ctx)
			assert.Equal(t, len(inside), resilient.Attempt(ctx))
			return 0, errDown
		})
		require.ErrorIs(t, err, errDown)
		assert.Len(t, inside, 3)
	})
}

// Without one, the call has one context, and an attempt that failed ends nothing that a later one needs.
func TestContextOfTheWholeCall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		start := time.Now()
		ran := make(chan int, 1)
		var fromFirst context.Context
		_, err := in.call(t.Context(), newGuard(t, steady(total(10*sec)), nil), get, func(ctx context.Context) (int, error) {
			if resilient.Attempt(ctx) == 1 {
				var cancel context.CancelFunc
				fromFirst, cancel = context.WithCancel(ctx)
				context.AfterFunc(fromFirst, cancel)
			}
			assert.NoError(t, fromFirst.Err())
			deadline, _ := ctx.Deadline()
			assert.Equal(t, 10*sec, deadline.Sub(start), "the total does not begin anew")
			return 0, errDown
		})
		require.ErrorIs(t, err, errDown)
		close(ran)
		assert.Error(t, fromFirst.Err())
	})
}

func TestP51ValuesOfTheCallerInEachAttempt(t *testing.T) {
	for _, limit := range []time.Duration{0, sec} {
		overEntries(t, func(t *testing.T, in entry) {
			ctx := context.WithValue(t.Context(), key{}, "value")
			seen := 0
			_, err := in.call(ctx, newGuard(t, steady(each(limit)), nil), get, func(ctx context.Context) (int, error) {
				assert.Equal(t, "value", ctx.Value(key{}))
				_ = ctx.Done() // and once it has made its timer
				assert.Equal(t, "value", ctx.Value(key{}))
				assert.Nil(t, ctx.Value("another"))
				seen++
				return 0, errDown
			})
			require.ErrorIs(t, err, errDown)
			assert.Equal(t, 3, seen)
		})
	}
}

func TestContextCarriesTheScope(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var inside context.Context
		_, _ = in.call(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) (int, error) {
			for range 2 {
				assert.Equal(t, []string{"plans.get"}, nesting.Path(ctx))
				assert.True(t, nesting.UnderRetry(ctx))
				scope := nesting.From(ctx)
				assert.Equal(t, "plans", scope.Service())
				assert.Equal(t, "get", scope.Operation())
				assert.Nil(t, scope.Outer())
				_ = ctx.Done()
			}
			inside = ctx
			return 0, nil
		})
		assert.Empty(t, nesting.Path(inside), "its call has returned")
		assert.False(t, nesting.UnderRetry(inside))
		_, _ = in.call(t.Context(), newGuard(t, steady(), nil), apply, func(ctx context.Context) (int, error) {
			assert.False(t, nesting.UnderRetry(ctx), "this call does not retry")
			assert.Equal(t, 1, nesting.Depth(ctx))
			return 0, nil
		})
	})
}

func TestAttempt(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		assert.Zero(t, resilient.Attempt(t.Context()))
		for _, limit := range []time.Duration{0, time.Minute} {
			g := newGuard(t, steady(each(limit)), nil)
			var numbers []int
			_, _ = in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
				numbers = append(numbers, resilient.Attempt(context.WithValue(ctx, key{}, 1)))
				assert.Zero(t, resilient.Attempt(nesting.Detach(ctx)))
				_ = resilient.Do(ctx, g, apply, func(ctx context.Context) error {
					assert.Equal(t, 1, resilient.Attempt(ctx), "the inner call's own")
					return nil
				})
				return 0, errDown
			})
			assert.Equal(t, []int{1, 2, 3}, numbers)
		}
	})
}

func TestContextAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var early, late, stopped atomic.Int64
		g := newGuard(t, steady(total(2*sec)), nil)
		_ = resilient.Do(t.Context(), g, apply, func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { early.Add(1) })
			stop := context.AfterFunc(ctx, func() { stopped.Add(1) })
			assert.True(t, stop())
			time.Sleep(sec)
			synctest.Wait()
			assert.Zero(t, early.Load())
			time.Sleep(sec)
			synctest.Wait()
			assert.EqualValues(t, 1, early.Load(), "at the limit, not at the return")
			return nil
		})
		_ = resilient.Do(t.Context(), g, apply, func(ctx context.Context) error {
			context.AfterFunc(ctx, func() { late.Add(1) })
			return nil
		})
		synctest.Wait()
		assert.Equal(t, []int64{1, 1, 0}, []int64{early.Load(), late.Load(), stopped.Load()})
	})
}

func TestContextChildrenStartNoGoroutine(t *testing.T) {
	for parentName, parent := range map[string]context.Context{
		"background": context.Background(), "test": t.Context(), "value": context.WithValue(t.Context(), key{}, 1),
	} {
		for _, in := range entries() {
			t.Run(parentName+"/"+in.name, func(t *testing.T) {
				g := newGuard(t, steady(each(time.Minute)), nil)
				_, err := in.call(parent, g, get, func(ctx context.Context) (int, error) {
					before := runtime.NumGoroutine()
					for i := range 1000 {
						child, cancel := context.WithCancel(ctx)
						if i%2 == 0 {
							child, cancel = context.WithTimeout(ctx, time.Hour)
						}
						defer cancel()
						defer context.AfterFunc(child, func() {})()
						inner, cancelInner := context.WithCancel(context.WithValue(child, key{}, i))
						defer cancelInner()
						_ = resilient.Do(inner, g, apply, func(ctx context.Context) error {
							_, cancel := context.WithCancelCause(ctx)
							cancel(errOther)
							return nil
						})
					}
					assert.LessOrEqual(t, runtime.NumGoroutine(), before)
					return 0, nil
				})
				require.NoError(t, err)
			})
		}
	}
}

// foreign is a context that the standard library does not know.
type foreign struct {
	context.Context
	done chan struct{}
	err  atomic.Pointer[error]
}

func (f *foreign) Done() <-chan struct{} { return f.done }

func (f *foreign) Err() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *foreign) Value(any) any { return nil }

func (f *foreign) cancel(err error) {
	f.err.Store(&err)
	close(f.done)
}

func TestContextUnderAForeignOne(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		caller := &foreign{Context: context.Background(), done: make(chan struct{})}
		g := newGuard(t, steady(threshold(1)), nil)
		before := runtime.NumGoroutine()
		for range 10 {
			_, err := in.call(caller, g, get, func(ctx context.Context) (int, error) {
				_, cancel := context.WithCancel(ctx)
				defer cancel()
				return 0, ctx.Err()
			})
			require.NoError(t, err)
		}
		synctest.Wait()
		goroutines(t, before) // nothing watches it after the call
		_, err := in.call(caller, g, get, func(ctx context.Context) (int, error) {
			caller.cancel(context.Canceled)
			<-ctx.Done()
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, g.Circuit().Snapshot().Failures)
	})
}

// able is a foreign context that tells of its end itself.
type able struct {
	foreign
	told atomic.Int64
}

func (a *able) AfterFunc(func()) func() bool {
	a.told.Add(1)
	return func() bool { return true }
}

// One that has an AfterFunc of its own is asked by it, whatever limits the call has, so that none is watched by a
// goroutine.
func TestContextUnderAForeignOneThatTellsOfItsEnd(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Minute} {
		caller := &able{foreign: foreign{Context: context.Background(), done: make(chan struct{})}}
		err := resilient.Do(caller, newGuard(t, steady(each(limit)), nil), get, func(ctx context.Context) error {
			_ = ctx.Done()
			assert.EqualValues(t, 1, caller.told.Load(), "the call's own, with a limit of %v", limit)
			resilient.Hold(ctx).Release()
			assert.EqualValues(t, 2, caller.told.Load(), "the one that is held, with a limit of %v", limit)
			return nil
		})
		require.NoError(t, err)
	}
}

func TestP50NoChildIsLeftOnALongLivedParent(t *testing.T) {
	parent, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := newGuard(t, steady(each(time.Minute)), nil)
	call := func(n int) {
		for range n {
			_ = resilient.Do(parent, g, get, func(ctx context.Context) error {
				child, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				context.AfterFunc(child, func() {})
				return nil
			})
		}
	}
	call(1000)
	before, running := heap(), runtime.NumGoroutine()
	call(100_000)
	goroutines(t, running)
	assert.Less(t, heap()-before, int64(1<<20), "100 000 children would be tens of megabytes")
}

// A context that is asked by many while its call returns answers all of them alike.
func TestContextIsAskedWhileTheCallReturns(t *testing.T) {
	g := newGuard(t, steady(each(time.Minute), attempts(2), noDelay), nil)
	for i := range 500 {
		var wg sync.WaitGroup
		var inside context.Context
		_ = resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
			inside = ctx
			for j := range 4 {
				wg.Go(func() {
					if (i+j)%2 == 0 {
						runtime.Gosched()
					}
					switch j {
					case 0:
						<-ctx.Done()
						assert.Error(t, ctx.Err())
						assert.Error(t, context.Cause(ctx))
					case 1:
						for ctx.Err() == nil {
							runtime.Gosched()
						}
						assert.True(t, isDone(ctx), "Err is nil until Done is closed")
						assert.Error(t, context.Cause(ctx))
					case 2:
						child, cancel := context.WithTimeout(ctx, time.Hour)
						defer cancel()
						<-child.Done()
						assert.Error(t, ctx.Err())
					default:
						_ = ctx.Value(key{})
						_, _ = ctx.Deadline()
						_ = nesting.Path(ctx)
						_ = resilient.Attempt(ctx)
						for nesting.Depth(ctx) != 0 {
							runtime.Gosched()
						}
					}
				})
			}
			if i%3 == 0 {
				return errDown
			}
			return nil
		})
		wg.Wait()
		assert.True(t, isDone(inside))
	}
}

// Several that ask first at the same time make one timer, and nothing of the others' is left.
func TestContextIsAskedFirstByMany(t *testing.T) {
	caller := &foreign{Context: context.Background(), done: make(chan struct{})}
	g := newGuard(t, steady(each(time.Minute)), nil)
	before := runtime.NumGoroutine()
	for range 2000 {
		_ = resilient.Do(caller, g, get, func(ctx context.Context) error {
			var wg sync.WaitGroup
			channels := make([]<-chan struct{}, 4)
			start := make(chan struct{})
			for i := range channels {
				wg.Go(func() {
					<-start
					channels[i] = ctx.Done()
				})
			}
			close(start)
			wg.Wait()
			for _, c := range channels {
				assert.Equal(t, channels[0], c)
			}
			return nil
		})
	}
	goroutines(t, before)
}

// The model of a derived context is one of the standard library's with the same deadline, cause and parent, cancelled
// when the call returns. A derived context finds out when it is asked; of two ends that it was not asked between, it
// cannot know the first, so it is asked.
func TestContextAnswersAsAStandardOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seconds := rapid.IntRange(1, 6)
		caller := seconds.Draw(rt, "caller's deadline")
		whole := seconds.Draw(rt, "total timeout")
		one := seconds.Draw(rt, "attempt timeout")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"wait", "cancel", "Err", "Done", "Cause", "child", "return"}), 1, 12).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			second := func(n int) time.Duration { return time.Duration(n) * sec }
			ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
			defer cancel(nil)
			ctx, cancelTimeout := context.WithTimeoutCause(ctx, second(caller)-sec/2, errors.New("the caller's own"))
			defer cancelTimeout()

			limit, after := resilient.LimitTotal, second(whole)
			if one < whole {
				limit, after = resilient.LimitAttempt, second(one)
			}
			model, cancelModel := context.WithTimeoutCause(ctx, after, &resilient.TimeoutError{Limit: limit, After: after})
			defer cancelModel()

			inside, release, returned := make(chan context.Context), make(chan struct{}), make(chan struct{})
			g := newGuard(t, steady(total(second(whole)), each(second(one))), nil)
			go func() {
				defer close(returned)
				_ = resilient.Do(ctx, g, apply, func(ctx context.Context) error {
					inside <- ctx
					<-release
					return nil
				})
			}()
			derived := <-inside
			over := false
			finish := func() {
				if !over {
					over = true
					close(release)
					<-returned
					cancelModel()
				}
			}
			same := func(question string, got, want any) {
				if !assert.ObjectsAreEqual(want, got) {
					rt.Errorf("%s is %v, of a standard context %v", question, got, want)
				}
			}
			for _, step := range steps {
				if model.Err() != nil {
					same("Err", derived.Err(), model.Err())
				}
				switch step {
				case "wait":
					time.Sleep(sec / 2)
				case "cancel":
					cancel(errOther)
				case "return":
					finish()
				}
				synctest.Wait()
				switch step {
				case "Err":
					same(step, derived.Err(), model.Err())
				case "Done":
					same(step, isDone(derived), isDone(model))
				case "Cause":
					same(step, context.Cause(derived), context.Cause(model))
				case "child":
					child, cancel := context.WithTimeout(derived, time.Hour)
					same("a child's Err", child.Err(), model.Err())
					same("a child's Cause", context.Cause(child), context.Cause(model))
					cancel()
				}
				same("Value", derived.Value(key{}), model.Value(key{}))
				got, _ := derived.Deadline()
				want, _ := model.Deadline()
				same("Deadline", got.Sub(want), time.Duration(0))
			}
			same("Err before the end", derived.Err(), model.Err())
			finish()
			same("Err at the end", derived.Err(), model.Err())
			same("Cause at the end", context.Cause(derived), context.Cause(model))
		})
	})
}
