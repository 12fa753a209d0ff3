package toolguard

import (
	"context"
	"log/slog"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/internal/journal"
	"github.com/seed42274fcc/stoic/sanitize"
)

var words = &journal.Words{Panic: "toolguard", Transition: "tool circuit"}

// ToolChanged says that a tool's circuit has changed its state. In it is what every
// observer of circuits knows, [resilient.CircuitChanged]; its Circuit is [CircuitName].
// Observers are told with a context that is never cancelled and has no values. What is
// refused tells nobody: it is counted, in [Status].Refused.
type ToolChanged struct {
	resilient.CircuitChanged
	// Key and Tool are whose tool it is, with secrets taken out.
	Key, Tool string
}

// StoreChanged says that the guard's store is lost, or back. It is told once, by the first
// tool to find out, and not by each; Circuit is that tool's. Observers are told as of a
// [ToolChanged].
type StoreChanged struct{ resilient.StoreChanged }

// onSharing tells what has become of the store, unless another tool has told already. It is
// never called with a lock held.
func (g *Guard) onSharing(t *tool, change breaker.SharingChange) {
	lost := change.To == breaker.Lost
	if lost == (change.From == breaker.Lost) || !g.storeLost.CompareAndSwap(!lost, lost) {
		return // it is not the store's doing, or known
	}
	change.Cause = sanitize.Error(change.Cause)
	event := StoreChanged{resilient.StoreChanged{SharingChange: change}}
	g.logStore(event, sanitize.Message(t.name))
	g.tellAll(event)
}

// onTransition tells of one transition. It is never called with a lock held, and for
// each circuit one at a time.
func (g *Guard) onTransition(t *tool, change breaker.Transition) {
	change.Cause = sanitize.Error(change.Cause)
	event := ToolChanged{
		CircuitChanged: resilient.CircuitChanged{Transition: change},
		Key:            sanitize.Message(t.key), Tool: sanitize.Message(t.name),
	}
	g.log(event)
	g.tellAll(event)
}

func (g *Guard) tellAll(event resilient.Event) {
	for _, o := range g.plan.Observers {
		if o != nil {
			g.tell(o, event)
		}
	}
}

func (g *Guard) tell(o resilient.Observer, event resilient.Event) {
	defer g.journal.Contain("Observer", nil)
	o.Observe(context.Background(), event)
}

// log writes the record of a transition. The key stays out of it: it may be a secret
// that does not look like one.
func (g *Guard) log(e ToolChanged) {
	defer g.journal.Contain("Logger", nil)
	g.journal.Transition(context.Background(), e.Transition, slog.String("tool", e.Tool), slog.String("circuit", e.Circuit))
}

// logStore writes the record of a store that is lost or back, with the tool that found out.
func (g *Guard) logStore(e StoreChanged, tool string) {
	defer g.journal.Contain("Logger", nil)
	g.journal.Sharing(context.Background(), e.SharingChange, slog.String("tool", tool), slog.String("circuit", e.Circuit))
}
