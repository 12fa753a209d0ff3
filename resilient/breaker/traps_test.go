package breaker_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Each trap of gobreaker that the circuit is built round: that it is there, so that
// we notice when it is gone, and that the circuit does not fall into it.

func raw(st gobreaker.Settings) *gobreaker.CircuitBreaker[int] {
	return gobreaker.NewCircuitBreaker[int](st)
}

func rawFail(cb *gobreaker.CircuitBreaker[int]) {
	_, _ = cb.Execute(func() (int, error) { return 0, errDown })
}

// Its count of consecutive failures decays when buckets are set.
func TestTrapBucketsDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cb := raw(gobreaker.Settings{
			Interval: 30 * time.Second, BucketPeriod: 10 * time.Second,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 5 },
		})
		settings := breaker.DefaultSettings()
		c := newCircuit(t, settings, nil)
		for range 5 {
			rawFail(cb)
			attempt(c, breaker.Failure)
			time.Sleep(19 * time.Second)
		}
		assert.Equal(t, gobreaker.StateClosed, cb.State(), "the trap")
		require.Equal(t, breaker.Open, c.State())
	})
}

// It throws an outcome away when the interval is shorter than the call.
func TestTrapShortIntervalForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cb := raw(gobreaker.Settings{
			Interval:    time.Second,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 1 },
		})
		_, _ = cb.Execute(func() (int, error) { time.Sleep(2 * time.Second); return 0, errDown })
		assert.Equal(t, gobreaker.StateClosed, cb.State(), "the trap")

		settings := small()
		settings.FailureThreshold = 1
		c := newCircuit(t, settings, nil)
		permit, _ := c.Acquire(c.Now(), 0)
		time.Sleep(48 * time.Hour)
		require.True(t, c.Settle(permit, breaker.Failure, errDown))
		require.Equal(t, breaker.Open, c.State())
	})
}

// It calls back under its own mutex.
func TestTrapCallbackUnderMutex(t *testing.T) {
	var answered atomic.Bool
	var asking sync.WaitGroup
	ask := func(question func()) {
		asking.Go(func() { question(); answered.Store(true) })
		for range 10_000 {
			if runtime.Gosched(); answered.Load() {
				return
			}
		}
	}
	var cb *gobreaker.CircuitBreaker[int]
	cb = raw(gobreaker.Settings{
		ReadyToTrip: func(gobreaker.Counts) bool { return true },
		OnStateChange: func(string, gobreaker.State, gobreaker.State) {
			ask(func() { cb.Counts() })
			assert.False(t, answered.Load(), "the trap")
		},
	})
	rawFail(cb)
	asking.Wait()

	var c *breaker.Circuit
	c = newCircuit(t, small(), &breaker.Options{OnTransition: func(breaker.Transition) {
		answered.Store(false)
		asked := make(chan struct{})
		go func() { c.Snapshot(); c.Reset(); close(asked) }()
		<-asked
		answered.Store(true)
	}})
	trip2(c)
	require.True(t, answered.Load())
}

// Its open time is fixed, and a probe that never reports (a Goexit) leaves it
// half-open for ever.
func TestTrapLostProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cb := raw(gobreaker.Settings{
			Timeout:     10 * time.Second,
			ReadyToTrip: func(gobreaker.Counts) bool { return true },
		})
		rawFail(cb)
		time.Sleep(11 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = cb.Execute(func() (int, error) { runtime.Goexit(); return 0, nil }) })
		wg.Wait()
		time.Sleep(1000 * time.Hour)
		_, err := cb.Execute(func() (int, error) { return 1, nil })
		assert.ErrorIs(t, err, gobreaker.ErrTooManyRequests, "the trap")

		c := newCircuit(t, small(), nil)
		trip2(c)
		time.Sleep(10 * time.Second)
		_, rejected := c.Acquire(c.Now(), 0) // and never settled
		require.Nil(t, rejected)
		time.Sleep(330 * time.Second)
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())
	})
}

// Its ratio of failures to requests counts calls in flight and excluded ones (P61).
// The consecutive rule looks at neither.
func TestTrapCallsInFlight(t *testing.T) {
	errExcluded := errors.New("excluded")
	cb := raw(gobreaker.Settings{
		IsExcluded: func(err error) bool { return errors.Is(err, errExcluded) },
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= 4 && 2*c.TotalFailures >= c.Requests
		},
	})
	settings := small()
	settings.FailureThreshold = 5
	c := newCircuit(t, settings, nil)
	for range 20 {
		_, _ = cb.Execute(func() (int, error) { return 0, errExcluded })
		attempt(c, breaker.Neutral)
	}
	for range 5 {
		rawFail(cb)
		attempt(c, breaker.Failure)
	}
	assert.Equal(t, gobreaker.StateClosed, cb.State(), "the trap: 5 of 5 that ended have failed")
	require.Equal(t, breaker.Open, c.State())
}
