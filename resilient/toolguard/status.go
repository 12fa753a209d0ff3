package toolguard

import (
	"cmp"
	"slices"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Status is what is known of one tool. It is a value.
type Status struct {
	// Key and Tool are whose tool it is, as the application has said it.
	Key, Tool string
	// Refused is how many of its calls were refused here.
	Refused uint64
	// Snapshot is its circuit's.
	breaker.Snapshot
}

// Circuit returns a tool's circuit, to look at it or to steer it; nil while nothing is
// known of the tool.
func (g *Guard) Circuit(key, tool string) *breaker.Circuit {
	if !g.usable() {
		return nil
	}
	ts := g.shelf.of(key, g.now())
	if ts == nil {
		return nil
	}
	if one := ts.get(tool); one != nil {
		return one.circuit.Load()
	}
	return nil
}

// Tools returns what is known, by key and tool. What is healthy and has never failed is
// mostly not known.
func (g *Guard) Tools() []Status {
	if !g.usable() {
		return nil
	}
	all := g.shelf.snapshot()
	found := make([]Status, 0, len(all))
	for _, one := range all {
		if c := one.circuit.Load(); c != nil {
			found = append(found, Status{Key: one.key, Tool: one.name, Refused: one.refused.Load(), Snapshot: c.Snapshot()})
		}
	}
	slices.SortFunc(found, func(a, b Status) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Tool, b.Tool)) })
	return found
}
