package replica

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// Opening gives a replica a circuit that it shares.
type Opening struct {
	URL      string
	Name     string
	Settings breaker.Settings
	// Timeout is the store's; 0 is its default.
	Timeout time.Duration
}

func (o *Opening) do(ctx context.Context) (*breaker.Circuit, error) {
	store, err := redisstore.Open(o.URL, &redisstore.Options{Timeout: o.Timeout})
	if err != nil {
		return nil, err
	}
	go func() { _ = store.Run(ctx) }() // it ends with the process
	return breaker.New(o.Name, o.Settings, &breaker.Options{Store: store})
}

// Working is calls through a circuit.
type Working struct {
	Workers int
	// Call is how long each takes, and FailOneIn how many of them fail.
	Call      time.Duration
	FailOneIn int
	For       time.Duration
}

// Worked is what came of it.
type Worked struct {
	Calls, Failures, Rejected int64
	// Waited is the most that a call took beyond Call.
	Waited time.Duration
}

// ErrDown is what calls fail with.
var ErrDown = errors.New("down")

func (w *Working) do(c *breaker.Circuit) Worked {
	var calls, failures, rejected, waited atomic.Int64
	end := time.Now().Add(w.For)
	var all sync.WaitGroup
	for range w.Workers {
		all.Go(func() {
			for time.Now().Before(end) {
				begun := time.Now()
				p, refused := c.Acquire(c.Now(), w.Call)
				if refused != nil {
					rejected.Add(1)
					time.Sleep(w.Call)
					continue
				}
				asked := time.Since(begun)
				time.Sleep(w.Call)
				begun = time.Now()
				outcome, err := breaker.Success, error(nil)
				if w.FailOneIn > 0 && rand.IntN(w.FailOneIn) == 0 {
					outcome, err = breaker.Failure, ErrDown
					failures.Add(1)
				}
				c.Settle(p, outcome, err)
				calls.Add(1)
				atMost(&waited, int64(asked+time.Since(begun)))
			}
		})
	}
	all.Wait()
	return Worked{calls.Load(), failures.Load(), rejected.Load(), time.Duration(waited.Load())}
}

func atMost(most *atomic.Int64, value int64) {
	for old := most.Load(); value > old; old = most.Load() {
		if most.CompareAndSwap(old, value) {
			return
		}
	}
}

// Rushing is callers that ask for a probe, all at once and again and again.
type Rushing struct {
	Callers int
	// At is when they begin, as a Unix time in nanoseconds, and For how long they go on.
	At  int64
	For time.Duration
	// Hold is how long the probes take, from At on. They fail.
	Hold time.Duration
}

// Rushed is what came of it.
type Rushed struct {
	// Admitted is how many were let through to the dependency.
	Admitted int64
	// State is the circuit's in the end, and Until the end of its open time, as a Unix
	// time in nanoseconds.
	State breaker.State
	Until int64
}

func (w *Rushing) do(c *breaker.Circuit) Rushed {
	begin := time.Unix(0, w.At)
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range w.Callers {
		all.Go(func() {
			time.Sleep(time.Until(begin))
			for time.Since(begin) < w.For {
				if p, refused := c.Acquire(c.Now(), time.Minute); refused == nil {
					admitted.Add(1)
					time.Sleep(time.Until(begin.Add(w.Hold)))
					c.Settle(p, breaker.Failure, ErrDown)
					return
				}
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	all.Wait()
	snap := c.Snapshot()
	return Rushed{admitted.Load(), snap.State, snap.Until.UnixNano()}
}
