package toolguard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// tool is what is known of one pair of key and tool.
type tool struct {
	guard     *Guard
	key, name string
	shift     time.Duration // what the circuit's clock is ahead of the guard's
	used      atomic.Int64  // when it was called last, on the guard's clock
	refused   atomic.Uint64

	// The circuit is nil while it is made: that asks the store, so no lock is held and
	// nobody waits. Who comes meanwhile finds a tool of which nothing is known.
	circuit atomic.Pointer[breaker.Circuit]

	mu      sync.Mutex
	ready   bool
	waiting []func() // until then, in order
}

// make makes the circuit, and then does what others have left to be done.
func (t *tool) make() {
	g := t.guard
	circuit, err := breaker.New(CircuitName(t.key, t.name), t.rule().settings, &breaker.Options{
		OnTransition: func(change breaker.Transition) { t.do(func() { g.onTransition(t, change) }) },
		OnSharing:    func(change breaker.SharingChange) { t.do(func() { g.onSharing(t, change) }) },
		OnPanic:      func(value any) { g.journal.Report("Observer", value) },
		Store:        g.plan.Store,
	})
	if err != nil { // the settings were valid when the guard was made
		g.journal.Report("New", err)
		return
	}
	t.shift = circuit.Now() - g.now()
	t.circuit.Store(circuit)
	t.drain()
}

// rule is how the tool is watched at the moment.
func (t *tool) rule() *rule { return t.guard.rules.Load().of(t.name) }

// drain does what is waiting. Foreign code in it that ends the goroutine does not end
// the rest.
func (t *tool) drain() {
	returned := false
	defer func() {
		if !returned {
			t.drain()
		}
	}()
	for {
		t.mu.Lock()
		if len(t.waiting) == 0 {
			t.waiting, t.ready, returned = nil, true, true
			t.mu.Unlock()
			return
		}
		next := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.mu.Unlock()
		next()
	}
}

// do does something once the circuit is made: now, or on the goroutine that makes it.
func (t *tool) do(f func()) {
	t.mu.Lock()
	if !t.ready {
		t.waiting = append(t.waiting, f)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	f()
}

// clock turns a time on the guard's clock into one on the circuit's. It was read before
// the circuit was made, maybe: then it is the circuit's first.
func (t *tool) clock(now time.Duration) time.Duration { return max(now+t.shift, 1) }

// admits reports whether a call at that time, on the guard's clock, needs to ask for
// nothing.
func (t *tool) admits(now time.Duration) bool {
	c := t.circuit.Load()
	return c == nil || c.Admits(t.clock(now))
}

// rejects reports whether a call at that time would be refused, as far as is known.
func (t *tool) rejects(now time.Duration) bool {
	c := t.circuit.Load()
	return c != nil && c.Rejects(t.clock(now)) != nil
}

// evictable reports whether nothing is lost that keeps a call from a broken tool.
func (t *tool) evictable() bool {
	c := t.circuit.Load()
	if c == nil {
		return false // it is being made
	}
	switch snap := c.Snapshot(); snap.State {
	case breaker.Closed:
		return true
	case breaker.Open:
		return snap.ProbeDue
	case breaker.HalfOpen:
		return snap.Probes == 0
	default: // an operator's order
		return false
	}
}
