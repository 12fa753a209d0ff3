package mcpguard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// bell rings at all servers when what their lists show has changed: when a circuit opens,
// when its cooldown is over, and when it closes before. A probe alone changes no list.
type bell struct {
	tools *toolguard.Guard

	mu      sync.Mutex // never held while foreign code runs
	closed  bool
	servers []*served
	hidden  map[string]*time.Timer // by circuit; the timer is nil where there is no end
}

func (b *bell) add(s *served) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, s)
}

func (b *bell) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, timer := range b.hidden {
		stop(timer)
	}
	b.closed, b.hidden = true, nil
}

// Observe is told of each transition, in order for each circuit.
func (b *bell) Observe(_ context.Context, e resilient.Event) {
	change, ok := e.(toolguard.ToolChanged)
	if !ok {
		return
	}
	switch change.To {
	case breaker.Open, breaker.ForcedOpen:
		b.hide(change.Circuit, change.Until)
	default:
		b.show(change.Circuit)
	}
}

func (b *bell) hide(circuit string, until time.Time) {
	b.mu.Lock()
	timer, was := b.hidden[circuit]
	stop(timer)
	if b.closed {
		b.mu.Unlock()
		return
	}
	if b.hidden == nil {
		b.hidden = map[string]*time.Timer{}
	}
	b.hidden[circuit] = nil
	if !until.IsZero() {
		b.hidden[circuit] = time.AfterFunc(time.Until(until), func() { b.check(circuit) })
	}
	b.mu.Unlock()
	if !was {
		b.ring()
	}
}

// check is for when a cooldown should be over: without it, nobody would look at the list
// again, and the tool would stay away for ever. It may have become longer.
func (b *bell) check(circuit string) {
	for _, status := range b.tools.Tools() {
		if toolguard.CircuitName(status.Key, status.Tool) == circuit && hides(status.Snapshot) {
			b.hide(circuit, status.Until)
			return
		}
	}
	b.show(circuit)
}

func hides(s breaker.Snapshot) bool {
	return s.State == breaker.ForcedOpen || s.State == breaker.Open && !s.ProbeDue
}

func (b *bell) show(circuit string) {
	b.mu.Lock()
	timer, was := b.hidden[circuit]
	stop(timer)
	delete(b.hidden, circuit)
	b.mu.Unlock()
	if was {
		b.ring()
	}
}

func stop(timer *time.Timer) {
	if timer != nil {
		timer.Stop()
	}
}

func (b *bell) ring() {
	b.mu.Lock()
	servers := slices.Clone(b.servers)
	b.mu.Unlock()
	for _, s := range servers {
		s.tell()
	}
}
