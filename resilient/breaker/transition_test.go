package breaker_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// TestTransitionsArriveInOrder is P94: however many goroutines flap the circuit,
// its transitions come one at a time and each begins where the last one ended.
func TestTransitionsArriveInOrder(t *testing.T) {
	settings := small()
	settings.FailureThreshold = 1
	var inside atomic.Int32
	var seen []breaker.Transition // guarded by what is under test: the race detector tells
	c := newCircuit(t, settings, &breaker.Options{OnTransition: func(tr breaker.Transition) {
		assert.EqualValues(t, 1, inside.Add(1), "one at a time")
		seen = append(seen, tr)
		inside.Add(-1)
	}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20_000 {
				switch (n + i) % 4 {
				case 0:
					attempt(c, breaker.Failure)
				case 1:
					c.ForceOpen()
				case 2:
					c.Release()
				default:
					c.Reset()
				}
			}
		})
	}
	wg.Wait()
	require.Greater(t, len(seen), 1000)
	at, round := breaker.Closed, uint64(0)
	for _, tr := range seen {
		require.Equal(t, at, tr.From)
		require.NotEqual(t, tr.From, tr.To)
		require.Greater(t, tr.Round, round)
		at, round = tr.To, tr.Round
	}
	require.Equal(t, c.State(), at, "the last event is the final state")
}

// TestListenerMayUseTheCircuit is P93: no lock is held, and what the listener
// causes is delivered after, not inside.
func TestListenerMayUseTheCircuit(t *testing.T) {
	var c *breaker.Circuit
	var order []breaker.State
	depth := 0
	c = newCircuit(t, small(), &breaker.Options{OnTransition: func(tr breaker.Transition) {
		depth++
		assert.Equal(t, 1, depth, "no recursion")
		order = append(order, tr.To)
		c.Snapshot()
		attempt(c, breaker.Success)
		if tr.To == breaker.Open {
			c.Reset()
		}
		depth--
	}})
	trip2(c)
	require.Equal(t, []breaker.State{breaker.Open, breaker.Closed}, order)
}

func trip2(c *breaker.Circuit) {
	attempt(c, breaker.Failure)
	attempt(c, breaker.Failure)
}

// TestListenerThatBreaks is P95: after a panic and after a Goexit in the listener,
// the next transition is delivered, and the caller of the first goes on.
func TestListenerThatBreaks(t *testing.T) {
	var panics []any
	var seen []breaker.State
	c := newCircuit(t, small(), &breaker.Options{
		OnTransition: func(tr breaker.Transition) {
			seen = append(seen, tr.To)
			switch len(seen) {
			case 1:
				panic("listener")
			case 2:
				runtime.Goexit()
			}
		},
		OnPanic: func(v any) { panics = append(panics, v) },
	})
	trip2(c)
	require.Equal(t, []any{"listener"}, panics)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Reset()
		t.Error("a Goexit ends the goroutine")
	}()
	<-done
	c.ForceOpen()
	require.Equal(t, []breaker.State{breaker.Open, breaker.Closed, breaker.ForcedOpen}, seen)
}

// TestListenerThatEndsTheProbesGoroutine: when a listener ends the goroutine that was
// to get the first permit of a half-open round, its place is free at once (P81).
func TestListenerThatEndsTheProbesGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t, small(), &breaker.Options{OnTransition: func(tr breaker.Transition) {
			if tr.To == breaker.HalfOpen {
				runtime.Goexit()
			}
		}})
		trip2(c)
		time.Sleep(10 * time.Second)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = c.Acquire(c.Now(), 0)
			t.Error("a Goexit ends the goroutine")
		})
		wg.Wait()
		require.Zero(t, c.Snapshot().Probes)
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, breaker.Closed, c.State())
	})
}

// TestNeutralProbesMakeNoTransitions is P97: what is told equals what happened.
func TestNeutralProbesMakeNoTransitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := map[breaker.State]int{}
		c := newCircuit(t, small(), &breaker.Options{OnTransition: func(tr breaker.Transition) { told[tr.To]++ }})
		trip2(c)
		time.Sleep(10 * time.Second)
		for range 5 {
			require.True(t, attempt(c, breaker.Neutral))
		}
		require.True(t, attempt(c, breaker.Success))
		require.Equal(t, map[breaker.State]int{breaker.Open: 1, breaker.HalfOpen: 1, breaker.Closed: 1}, told)
	})
}

// TestTransitionTellsAll: what an operator needs is in the one event.
func TestTransitionTellsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last breaker.Transition
		c := newCircuit(t, small(), &breaker.Options{OnTransition: func(tr breaker.Transition) { last = tr }})
		trip2(c)
		now := time.Now().Round(0)
		last.At, last.Until = last.At.Round(0), last.Until.Round(0)
		require.Equal(t, breaker.Transition{
			Circuit: "search", From: breaker.Closed, To: breaker.Open, Round: 1, Generation: 1, Failures: 2,
			At: now, Until: now.Add(10 * time.Second), Cause: errDown,
			Rule: breaker.RuleConsecutive,
		}, last)
	})
}

// TestSettlingOnceOnly is A11: a probe's success and another probe's failure at the
// same time end in either order's result, never lost and never double.
func TestSettlingOnceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			settings := small()
			settings.MaxProbes = 2
			c := newCircuit(t, settings, nil)
			trip(t, c, settings)
			time.Sleep(10 * time.Second)
			a, _ := c.Acquire(c.Now(), 0)
			b, _ := c.Acquire(c.Now(), 0)
			var wg sync.WaitGroup
			var first, second bool
			wg.Go(func() { first = c.Settle(a, breaker.Success, nil) })
			wg.Go(func() { second = c.Settle(b, breaker.Failure, errDown) })
			wg.Wait()
			snap := c.Snapshot()
			switch snap.State {
			case breaker.Closed: // the success came first, and the failure is late
				require.True(t, first)
				require.False(t, second)
			case breaker.Open:
				require.True(t, second)
				require.False(t, first)
				require.Equal(t, 2, snap.Generation)
			default:
				require.Fail(t, "undecided", snap.State)
			}
		}
	})
}

// TestGoexitInAListenerLosesNoTransition: what it has caused before is delivered.
func TestGoexitInAListenerLosesNoTransition(t *testing.T) {
	var c *breaker.Circuit
	var seen []breaker.State
	c = newCircuit(t, small(), &breaker.Options{OnTransition: func(tr breaker.Transition) {
		seen = append(seen, tr.To)
		if tr.To == breaker.Open {
			c.Reset()
			runtime.Goexit()
		}
	}})
	var wg sync.WaitGroup
	wg.Go(func() { trip2(c) })
	wg.Wait()
	require.Equal(t, []breaker.State{breaker.Open, breaker.Closed}, seen)
}

// TestWhoPanicsOnAPanicReachesNoCall: nor does OnPanic.
func TestWhoPanicsOnAPanicReachesNoCall(t *testing.T) {
	c := newCircuit(t, small(), &breaker.Options{
		OnTransition: func(breaker.Transition) { panic("listener") },
		OnPanic:      func(any) { panic("again") },
	})
	require.NotPanics(t, func() { trip2(c) })
	require.Equal(t, breaker.Open, c.State())
}
