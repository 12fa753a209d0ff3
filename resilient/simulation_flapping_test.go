package resilient_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// flapping is what a dependency that fails three calls in ten makes of circuits that take that for broken.
type flapping struct {
	closed   float64 // the part of the tries to recover that closed the circuit
	openings float64 // of a closed circuit, in an hour
	passed   float64 // the part of the calls that were let through
}

// flap makes two calls a second for half an hour, in each of 20 processes.
func flap(t *testing.T, successes int) (f flapping) {
	t.Helper()
	policy := resilient.DefaultPolicy()
	policy.Retry.MaxAttempts = 1
	policy.Circuit.FailureRate, policy.Circuit.Window = 0.2, 10*time.Second
	policy.Circuit.RecoveryTimeout, policy.Circuit.Cooldown = 10*time.Second, 0
	policy.Circuit.SuccessesToClose = successes
	const processes, length = 20, 30 * time.Minute
	var mu sync.Mutex
	tries, closed, opened, made, passed := 0, 0, 0, 0, 0
	count := func(_ context.Context, event resilient.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case resilient.CircuitChanged:
			switch {
			case e.To == breaker.Closed:
				closed++
				tries++
			case e.From == breaker.HalfOpen:
				tries++
			case e.From == breaker.Closed:
				opened++
			}
		case resilient.CallRejected:
			made++
		case resilient.CallDone:
			made++
			passed++
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for n := range processes {
			guard := newGuard(t, policy, &resilient.Options{
				Logger: slog.New(slog.DiscardHandler), Observers: []resilient.Observer{resilient.ObserverFunc(count)},
			})
			luck := rand.New(rand.NewPCG(2, uint64(n)))
			all.Go(func() {
				for start := time.Now(); time.Since(start) < length; time.Sleep(time.Second / 2) {
					_ = resilient.Do(context.Background(), guard, get, func(context.Context) error {
						if luck.Float64() < 0.3 {
							return errDown
						}
						return nil
					})
				}
			})
		}
		all.Wait()
	})
	require.Greater(t, tries, 500, "too few to tell")
	return flapping{
		closed:   float64(closed) / float64(tries),
		openings: float64(opened) / (processes * length.Hours()),
		passed:   float64(passed) / float64(made),
	}
}

// TestA30ASingleProbeFlaps: to close after one lucky probe is to let a dependency that is still ill have all the calls
// again, and to open anew, time after time.
func TestA30ASingleProbeFlaps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	one, five := flap(t, 1), flap(t, 5)
	t.Logf("one probe: %+v; five: %+v", one, five)
	assert.InDelta(t, 0.7, one.closed, 0.06, "0.7")
	assert.InDelta(t, 0.168, five.closed, 0.06, "0.7 to the power of five")
	assert.Greater(t, one.openings, 2*five.openings)
	assert.Greater(t, one.passed, 1.5*five.passed, "the calls that an ill dependency gets")
}
