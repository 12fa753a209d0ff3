package resilient_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// fleetOf is the same guard in so many processes, which share its circuit.
func fleetOf(t *testing.T, n int, policy resilient.Policy) ([]*resilient.Guard, *fragileStore) {
	store := &fragileStore{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
	guards := make([]*resilient.Guard, n)
	for i := range guards {
		guards[i] = newGuard(t, policy, &resilient.Options{Store: store})
	}
	return guards, store
}

// P106: who shares a circuit does not wait for the calls of the others.
func TestP106SharedCallsRunAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guards, _ := fleetOf(t, 5, steady())
		start := time.Now()
		var all sync.WaitGroup
		for _, g := range guards {
			all.Go(func() {
				assert.NoError(t, resilient.Do(t.Context(), g, get, func(context.Context) error {
					time.Sleep(100 * ms)
					return nil
				}))
			})
		}
		all.Wait()
		assert.Equal(t, 100*ms, time.Since(start))
	})
}

// P110: a success is a success, though its lease is over, or the store gone, when it is reported.
func TestP110ASuccessIsKeptWhateverBecomesOfTheStore(t *testing.T) {
	errGone := errors.New("the store is gone")
	for name, during := range map[string]func(*fragileStore){
		"it takes longer than its lease": func(*fragileStore) { time.Sleep(400 * sec) },
		"the store is gone":              func(s *fragileStore) { s.fault.Store(&errGone) },
	} {
		for _, state := range []breaker.State{breaker.Closed, breaker.HalfOpen} {
			t.Run(name+", "+state.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					guards, store := fleetOf(t, 2, steady(threshold(1)))
					if state == breaker.HalfOpen {
						halfOpen(t, guards[0])
					}
					calls := 0
					value, err := resilient.Execute(t.Context(), guards[0], get, func(context.Context) (int, error) {
						calls++
						during(store)
						return 7, nil
					})
					require.NoError(t, err)
					assert.Equal(t, []int{7, 1}, []int{value, calls})
				})
			})
		}
	}
}

// P111: a panic in one process is a failure for all of them.
func TestP111APanicCountsForTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guards, _ := fleetOf(t, 2, steady(threshold(1)))
		require.NoError(t, resilient.Do(t.Context(), guards[1], get, returns(nil)))
		assert.Panics(t, func() {
			_ = resilient.Do(t.Context(), guards[0], get, func(context.Context) error { panic("down") })
		})
		time.Sleep(2 * sec) // until what the other one knows is too old
		var rejected *resilient.RejectedError
		require.ErrorAs(t, resilient.Do(t.Context(), guards[1], get, returns(nil)), &rejected)
	})
}
