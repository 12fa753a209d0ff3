package mcpguard

import (
	"context"
	"slices"
	"sync"
	"time"
	"weak"

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
	servers []weak.Pointer[served] // it is the server that keeps one: some live for one session
	missing map[string]*absence    // by circuit
}

// absence is a tool's that is not in the lists. The mutex of the bell guards it.
type absence struct {
	name    string
	circuit *breaker.Circuit // nil if it is forgotten already
	timer   *time.Timer      // nil where there is no end
}

// add adds a server. It reports false where that was done before: two guards of one server
// would refuse each other's probes.
func (b *bell) add(s *served) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	same := func(one weak.Pointer[served]) bool {
		before := one.Value()
		return before != nil && before.server == s.server
	}
	if slices.ContainsFunc(b.servers, same) {
		return false
	}
	b.servers = append(slices.DeleteFunc(b.servers, gone), weak.Make(s))
	return true
}

func gone(s weak.Pointer[served]) bool { return s.Value() == nil }

func (b *bell) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.missing {
		a.stop()
	}
	b.closed, b.missing = true, nil
}

// Observe is told of each transition, in order for each circuit.
func (b *bell) Observe(_ context.Context, e resilient.Event) {
	change, ok := e.(toolguard.ToolChanged)
	if !ok {
		return
	}
	switch change.To {
	case breaker.Open, breaker.ForcedOpen:
		b.hide(&absence{name: change.Circuit, circuit: b.find(change)}, change.Until)
	default:
		b.show(change.Circuit)
	}
}

// find finds the circuit. The event's key has its secrets taken out, so it may be
// another's.
func (b *bell) find(change toolguard.ToolChanged) *breaker.Circuit {
	if c := b.tools.Circuit(change.Key, change.Tool); c != nil && c.Name() == change.Circuit {
		return c
	}
	for _, status := range b.tools.Tools() {
		if status.Name == change.Circuit {
			return b.tools.Circuit(status.Key, status.Tool)
		}
	}
	return nil
}

func (b *bell) hide(a *absence, until time.Time) {
	if a.circuit != nil {
		if snap := a.circuit.Snapshot(); snap.State == breaker.ForcedOpen {
			until = snap.ForceUntil
		}
	}
	b.mu.Lock()
	before := b.missing[a.name]
	before.stop()
	if b.closed {
		b.mu.Unlock()
		return
	}
	if b.missing == nil {
		b.missing = map[string]*absence{}
	}
	b.missing[a.name] = a
	b.wait(a, until)
	b.mu.Unlock()
	if before == nil {
		b.ring()
	}
}

// soon is how late the end of a cooldown may be noticed.
const soon = 10 * time.Millisecond

// wait has somebody look when a cooldown should be over: without it, nobody would list
// the tools again, and this one would stay away for ever. The mutex is held.
func (b *bell) wait(a *absence, until time.Time) {
	if !until.IsZero() {
		a.timer = time.AfterFunc(max(time.Until(until), soon), func() { b.check(a) })
	}
}

// check ends an absence, unless it has become longer.
func (b *bell) check(a *absence) {
	until, longer := a.longer()
	b.mu.Lock()
	if b.missing[a.name] != a { // too late
		b.mu.Unlock()
		return
	}
	if longer {
		b.wait(a, until)
		b.mu.Unlock()
		return
	}
	delete(b.missing, a.name)
	b.mu.Unlock()
	b.ring()
}

// longer reports whether the tool is withheld still, and until when.
func (a *absence) longer() (until time.Time, yes bool) {
	if a.circuit == nil {
		return time.Time{}, false
	}
	switch snap := a.circuit.Snapshot(); {
	case snap.State == breaker.ForcedOpen:
		return snap.ForceUntil, true
	case snap.State == breaker.Open && !snap.ProbeDue:
		return snap.Until, true
	default:
		return time.Time{}, false
	}
}

func (a *absence) stop() {
	if a != nil && a.timer != nil {
		a.timer.Stop()
	}
}

func (b *bell) show(circuit string) {
	b.mu.Lock()
	a := b.missing[circuit]
	a.stop()
	delete(b.missing, circuit)
	b.mu.Unlock()
	if a != nil {
		b.ring()
	}
}

func (b *bell) ring() {
	b.mu.Lock()
	servers := slices.Clone(b.servers)
	b.mu.Unlock()
	for _, one := range servers {
		if s := one.Value(); s != nil {
			s.tell()
		}
	}
}
