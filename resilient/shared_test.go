package resilient_test

import (
	"context"
	"errors"
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

// fickle is a store that can be lost: then each command waits as long as it may.
type fickle struct {
	*breaker.MemoryStore
	lost     atomic.Bool
	commands atomic.Int64
}

var errStore = errors.New("no store")

func (f *fickle) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	f.commands.Add(1)
	if f.lost.Load() {
		<-ctx.Done()
		return breaker.Answer{}, errStore
	}
	return f.MemoryStore.Do(ctx, circuit, c)
}

func shared(t *testing.T, n int, policy resilient.Policy) (*fickle, []*resilient.Guard) {
	store := &fickle{MemoryStore: breaker.NewMemoryStore(nil)}
	guards := make([]*resilient.Guard, n)
	for i := range guards {
		guards[i] = newGuard(t, policy, &resilient.Options{Store: store})
	}
	return store, guards
}

// Calls through one circuit do not wait for each other (P106).
func TestAFleetCallsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, guards := shared(t, 5, steady())
		var running, most atomic.Int64
		var all sync.WaitGroup
		begun := time.Now()
		for _, g := range guards {
			all.Go(func() {
				assert.NoError(t, resilient.Do(t.Context(), g, apply, func(context.Context) error {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(100 * time.Millisecond)
					running.Add(-1)
					return nil
				}))
			})
		}
		all.Wait()
		assert.Equal(t, 100*time.Millisecond, time.Since(begun))
		assert.EqualValues(t, 5, most.Load())
	})
}

// Each failure of the fleet counts, and it opens once (P107).
func TestAFleetLosesNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, guards := shared(t, 5, steady(threshold(100)))
		fail := func(g *resilient.Guard) {
			require.ErrorIs(t, resilient.Do(t.Context(), g, apply, func(context.Context) error { return errDown }), errDown)
		}
		var all sync.WaitGroup
		for _, g := range guards {
			for range 19 {
				all.Go(func() { fail(g) })
			}
		}
		all.Wait()
		for range 4 {
			fail(guards[0])
		}
		answer, err := store.MemoryStore.Do(t.Context(), "plans", breaker.Command{})
		require.NoError(t, err)
		assert.Equal(t, 99, answer.Record.Failures)
		fail(guards[1])
		for _, g := range guards {
			assert.Equal(t, breaker.Open, g.Circuit().State())
			assert.Equal(t, 1, g.Circuit().Snapshot().Generation)
		}
	})
}

// A panic on one replica is a failure for all (P111).
func TestAPanicIsTheFleetsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, guards := shared(t, 2, steady(threshold(1)))
		assert.PanicsWithValue(t, "at the disco", func() {
			_ = resilient.Do(t.Context(), guards[0], apply, func(context.Context) error { panic("at the disco") })
		})
		assert.Equal(t, breaker.Open, guards[1].Circuit().State())
		err := resilient.Do(t.Context(), guards[1], apply, func(context.Context) error { return nil })
		assert.ErrorContains(t, err, "panicked", "and all know why")
	})
}

// What the function returned comes back as it is, whenever the store is lost, and however
// long the call takes: longer than any lease, too (P109, P110).
func TestALostStoreTouchesNoResult(t *testing.T) {
	moments := []string{"before", "during", "after"}
	for at, moment := range moments {
		t.Run(moment, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, guards := shared(t, 1, steady(threshold(3)))
				g := guards[0]
				loses := func(now int) { store.lost.Store(store.lost.Load() || now == at) }
				run := func(err error) error {
					loses(0)
					begun := time.Now()
					value, got := resilient.Execute(t.Context(), g, apply, func(context.Context) (int, error) {
						time.Sleep(4 * time.Minute)
						loses(1)
						return 7, err
					})
					assert.Equal(t, 7, value)
					assert.LessOrEqual(t, time.Since(begun), 4*time.Minute+50*time.Millisecond)
					loses(2)
					return got
				}
				require.NoError(t, run(nil))
				assert.Same(t, errDown, run(errDown))
				assert.Same(t, errDown, run(errDown))
				assert.Same(t, errDown, run(errDown))
				assert.Equal(t, breaker.Open, g.Circuit().State(), "the same rules, without it")
				assert.Equal(t, breaker.Lost, g.Circuit().Snapshot().Sharing)
			})
		})
	}
}

// A probe that takes longer than its lease has its result, and decides nothing (P110).
func TestAProbeBeyondItsLeaseHasItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, guards := shared(t, 2, steady(threshold(1)))
		require.ErrorIs(t, resilient.Do(t.Context(), guards[0], apply, func(context.Context) error { return errDown }), errDown)
		time.Sleep(time.Minute)
		value, err := resilient.Execute(t.Context(), guards[1], apply.WithTotalTimeout(time.Second), func(context.Context) (int, error) {
			time.Sleep(time.Hour) // it does not look at its context
			return 7, nil
		})
		require.NoError(t, err)
		assert.Equal(t, 7, value)
		assert.Equal(t, breaker.HalfOpen, guards[0].Circuit().State())
		require.NoError(t, resilient.Do(t.Context(), guards[0], apply, func(context.Context) error { return nil }))
		assert.Equal(t, breaker.Closed, guards[1].Circuit().State())
	})
}

// A policy can keep its service's circuit in the process.
func TestALocalPolicyAsksNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, guards := shared(t, 2, steady(threshold(1), func(p *resilient.Policy) { p.Circuit.Local = true }))
		require.ErrorIs(t, resilient.Do(t.Context(), guards[0], apply, func(context.Context) error { return errDown }), errDown)
		assert.Equal(t, breaker.Open, guards[0].Circuit().State())
		assert.Equal(t, breaker.Closed, guards[1].Circuit().State())
		assert.Zero(t, store.commands.Load())
	})
}
