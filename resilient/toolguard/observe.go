package toolguard

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// ToolChanged says that a tool's circuit has changed its state. In it is what every
// observer of circuits knows, [resilient.CircuitChanged]; its Circuit is [CircuitName].
// Observers are told with a context that is never cancelled and has no values. What is
// refused tells nobody: it is counted, in [Status].Refused.
type ToolChanged struct {
	resilient.CircuitChanged
	// Key and Tool are whose tool it is, with secrets taken out.
	Key, Tool string
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
	for _, o := range g.plan.Observers {
		if o != nil {
			g.tell(o, event)
		}
	}
}

func (g *Guard) tell(o resilient.Observer, event resilient.Event) {
	defer g.contain("Observer", nil)
	o.Observe(context.Background(), event)
}

// contain ends a panic of the user's code that is not a tool, and reports it. It must be
// deferred itself. then, if not nil, sets what holds instead.
func (g *Guard) contain(what string, then func()) {
	value := recover()
	if value == nil {
		return
	}
	if then != nil {
		then()
	}
	g.report(what, value)
}

// report logs a contained panic. A logger that panics as well is beyond telling.
func (g *Guard) report(what string, value any) {
	defer func() { _ = recover() }()
	g.logger().Error("toolguard: panic contained",
		slog.String("in", what), slog.String("panic", sanitize.Message(fmt.Sprint(value))),
		slog.String("stack", string(debug.Stack())))
}

func (g *Guard) logger() *slog.Logger {
	if g.plan.Logger != nil {
		return g.plan.Logger
	}
	return slog.Default()
}

var transitionMessages = map[breaker.State]string{
	breaker.Closed:       "tool circuit closed",
	breaker.Open:         "tool circuit opened",
	breaker.HalfOpen:     "tool circuit half-open",
	breaker.ForcedOpen:   "tool circuit forced open",
	breaker.ForcedClosed: "tool circuit forced closed",
	breaker.Disabled:     "tool circuit disabled",
}

// log writes the record of a transition. The key stays out of it: it may be a secret
// that does not look like one.
func (g *Guard) log(e ToolChanged) {
	defer g.contain("Logger", nil)
	attrs := []slog.Attr{
		slog.String("tool", e.Tool), slog.String("circuit", e.Circuit), slog.String("from", e.From.String()),
		slog.Int("failure_count", e.Failures), slog.Uint64("round", e.Round),
	}
	level := slog.LevelInfo
	switch e.To {
	case breaker.Open:
		level = slog.LevelError
		attrs = append(attrs, slog.Int("generation", e.Generation), slog.Time("until", e.Until))
		if e.Cause != nil {
			attrs = append(attrs, slog.String("error", e.Cause.Error()))
		}
	case breaker.ForcedOpen, breaker.ForcedClosed, breaker.Disabled:
		level = slog.LevelWarn // somebody's hand, to be remembered
	default: // recovery
	}
	g.logger().LogAttrs(context.Background(), level, transitionMessages[e.To], attrs...)
}
