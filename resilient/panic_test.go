package resilient_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// panics calls f and returns what it panicked with.
func panics(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

type crashed struct{ at *int }

func TestAPanicGoesOnAndIsCounted(t *testing.T) {
	at := new(int)
	for _, in := range entries() {
		if in.name == "Async" {
			continue // a typed error; see the tests of Async
		}
		for _, failuresBefore := range []int{0, 2} { // in the first attempt, and in one that retry-go drives
			t.Run(fmt.Sprint(in.name, failuresBefore), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					seen := &recorder{}
					g := newGuard(t, steady(threshold(3)), &resilient.Options{Observers: []resilient.Observer{
						resilient.ObserverFunc(func(context.Context, resilient.Event) { panic("an observer of panics") }), seen,
					}})
					calls := 0
					value := panics(func() {
						_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) {
							if calls++; calls <= failuresBefore {
								return 0, errDown
							}
							panic(crashed{at})
						})
					})
					require.Equal(t, crashed{at}, value, "the same value")
					assert.Same(t, at, value.(crashed).at)
					assert.Equal(t, failuresBefore+1, calls, "not retried")
					snap := g.Circuit().Snapshot()
					if failuresBefore == 2 {
						assert.Equal(t, breaker.Open, snap.State)
					}
					assert.Equal(t, failuresBefore+1, snap.Failures)
					done := recorded[resilient.AttemptDone](seen)
					require.Len(t, done, failuresBefore+1)
					assert.Equal(t, resilient.OutcomeFailure, done[failuresBefore].Outcome)
					assert.Equal(t, failuresBefore+1, done[failuresBefore].Attempt)
					ended := recorded[resilient.CallDone](seen)
					require.Len(t, ended, 1)
					assert.Equal(t, failuresBefore+1, ended[0].Attempts)
					assert.Error(t, ended[0].Err)
				})
			})
		}
	}
}

func TestAPanicWithNilIsAPanic(t *testing.T) {
	g := newGuard(t, steady(), nil)
	value := panics(func() {
		_ = resilient.Do(context.Background(), g, get, func(context.Context) error { panic(nil) })
	})
	assert.IsType(t, new(runtime.PanicNilError), value)
	assert.Equal(t, 1, g.Circuit().Snapshot().Failures)
}

// P81, A25: a probe that panics or ends its goroutine has failed, and its place is free.
func TestA25AProbeThatDoesNotReturn(t *testing.T) {
	ways := map[string]func(){"panic": func() { panic("probe") }, "Goexit": runtime.Goexit}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(threshold(1)), nil)
				halfOpen(t, g)
				ended := make(chan struct{})
				returned := false
				go func() {
					defer close(ended)
					defer func() { _ = recover() }()
					_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) {
						way()
						return 0, nil
					})
					returned = true
				}()
				<-ended
				assert.Equal(t, in.name == "Async", returned, "it goes on as what it is")
				snap := g.Circuit().Snapshot()
				assert.Equal(t, breaker.Open, snap.State)
				assert.Equal(t, 2, snap.Generation, "a failed recovery")
				assert.Zero(t, snap.Probes)
				require.Error(t, snap.Cause)
				time.Sleep(time.Hour)
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, nil })
				require.NoError(t, err)
				assert.Equal(t, breaker.Closed, g.Circuit().State())
			})
		})
	}
}

func TestGoexitInALaterAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(), nil)
		ended := make(chan struct{})
		calls := 0
		var inside context.Context
		go func() {
			defer close(ended)
			_ = resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
				if calls++; calls == 1 {
					return errDown
				}
				inside = ctx
				runtime.Goexit()
				return nil
			})
			t.Error("it returned")
		}()
		<-ended
		assert.Equal(t, 2, calls)
		assert.Equal(t, 2, g.Circuit().Snapshot().Failures)
		assert.ErrorIs(t, inside.Err(), context.Canceled, "its context is over")
	})
}

// Who ends the goroutine between two attempts ends the call's context with it.
func TestGoexitBetweenTwoAttempts(t *testing.T) {
	ways := map[string]*resilient.Options{
		"an observer": {Observers: []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
			if _, ok := e.(resilient.RetryScheduled); ok {
				runtime.Goexit()
			}
		})}},
		"an attempt limit": {AttemptLimits: []resilient.AttemptLimit{{Max: 1, Match: func(error) bool {
			runtime.Goexit()
			return false
		}}}},
	}
	for name, options := range ways {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, steady(), options)
			ended := make(chan struct{})
			var inside context.Context
			go func() {
				defer close(ended)
				_ = resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
					inside = ctx
					return errDown
				})
				t.Error("it returned")
			}()
			<-ended
			require.ErrorIs(t, inside.Err(), context.Canceled)
			assert.False(t, nesting.UnderRetry(inside), "nobody repeats what still runs in it")
		})
	}
}

// A predicate that ends its goroutine takes no probe's place along.
func TestA25APredicateThatDoesNotReturnTakesNoProbe(t *testing.T) {
	for _, in := range entries() {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			exit := false
			g := newGuard(t, steady(threshold(1)), &resilient.Options{ReadOnlyPlan: func(any) bool {
				if exit {
					runtime.Goexit()
				}
				return false
			}})
			halfOpen(t, g)
			exit = true
			go func() {
				defer close(ended)
				_, _ = in.call(t.Context(), g, get.ExecutesTools(), func(context.Context) (int, error) { return 0, nil })
			}()
			<-ended
			assert.Zero(t, g.Circuit().Snapshot().Probes, in.name)
		})
	}
}
