package resilient

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/internal/journal"
	"github.com/seed42274fcc/stoic/sanitize"
)

var words = &journal.Words{Panic: "resilient", Transition: "circuit"}

// journal is the guard's, made where it is needed: guards are many, and seldom write.
func (g *Guard) journal() *journal.Journal {
	return &journal.Journal{Words: words, Service: g.Name(), Logger: g.options.Logger}
}

// audience is what a guard with observers knows of them, and remembers for them.
type audience struct {
	callsOnly bool // none wants the attempts of calls
	ops       opNames
}

// observed reports whether it is worth making an event that only observers see.
func (g *Guard) observed() bool { return g.audience != nil }

// attemptsObserved likewise, for the attempts of calls: see [CallObserver].
func (g *Guard) attemptsObserved() bool { return g.observed() && !g.audience.callsOnly }

// wantsAttempts asks an observer. One that panics wants them.
func (g *Guard) wantsAttempts(o Observer) (yes bool) {
	defer g.journal().Contain("Observer", func() { yes = true })
	calls, ok := o.(CallObserver)
	return !ok || !calls.CallsOnly()
}

// emit tells the log and the observers, one after the other.
func (g *Guard) emit(ctx context.Context, event Event) {
	g.log(ctx, event)
	g.tellAll(ctx, event)
}

// tellAll tells the observers of what has no record of its own.
func (g *Guard) tellAll(ctx context.Context, event Event) {
	for _, o := range g.options.Observers {
		g.tell(ctx, o, event)
	}
}

func (g *Guard) tell(ctx context.Context, o Observer, event Event) {
	defer g.journal().Contain("Observer", nil)
	o.Observe(ctx, event)
}

// logs reports whether a record of that level is wanted.
func (g *Guard) logs(ctx context.Context, level slog.Level) bool {
	defer g.journal().Contain("Logger", nil)
	return g.journal().Out().Enabled(ctx, level)
}

// log writes the records that operators rely on: a retry that will be made, and
// each change of the circuit. The rest is for observers.
func (g *Guard) log(ctx context.Context, event Event) {
	defer g.journal().Contain("Logger", nil)
	switch e := event.(type) {
	case RetryScheduled:
		attrs := []slog.Attr{
			slog.String("service", e.Service), slog.String("operation", e.Operation),
			slog.Int("attempt", e.Attempt), slog.Duration("delay", e.Delay),
		}
		if e.Err != nil {
			attrs = append(attrs, slog.String("error", e.Err.Error()))
		}
		g.journal().Out().LogAttrs(ctx, slog.LevelWarn, "retry scheduled", attrs...)
	case CircuitChanged:
		g.journal().Transition(ctx, e.Transition, slog.String("service", e.Circuit))
	case StoreChanged:
		g.journal().Sharing(ctx, e.SharingChange, slog.String("service", e.Circuit))
	}
}

// onTransition passes the circuit's transitions on.
func (g *Guard) onTransition(t breaker.Transition) {
	t.Cause = sanitize.Error(t.Cause)
	g.emit(context.Background(), CircuitChanged{Transition: t})
}

// onSharing passes on what has become of the circuit's store.
func (g *Guard) onSharing(c breaker.SharingChange) {
	c.Cause = sanitize.Error(c.Cause)
	g.emit(context.Background(), StoreChanged{SharingChange: c})
}

// names are the call's, as they may leave.
func (g *Guard) names(operation string) Call {
	if g.audience == nil {
		return Call{Service: g.Name(), Operation: sanitize.Message(operation)}
	}
	return Call{Service: g.Name(), Operation: g.audience.ops.clean(operation)}
}

// The events of a call, in the order in which they can come.

func (g *Guard) refused(ctx context.Context, operation string, made int, rejected *RejectedError) {
	g.tellAll(ctx, CallRejected{Call: g.names(operation), Attempts: made, Rejection: rejected})
}

// attempted tells of an attempt that began then and has been settled.
func (g *Guard) attempted(ctx context.Context, done AttemptDone, began time.Duration, counted bool) {
	if done.ByHand || g.attemptsObserved() {
		done.Err, done.Duration = sanitize.Error(done.Err), g.circuit.Now()-began
		g.tellAll(ctx, done)
	}
	if !counted {
		g.tellAll(ctx, LateResult{Call: done.Call, Attempt: done.Attempt, Outcome: done.Outcome})
	}
}

// scheduled reports whether anybody was told.
func (g *Guard) scheduled(c *call, made int, delay time.Duration, err error) bool {
	if !g.observed() && !g.logs(c.ctx, slog.LevelWarn) {
		return false
	}
	g.emit(c.ctx, RetryScheduled{Call: g.names(c.operation), Attempt: made, Delay: delay, Err: sanitize.Error(err)})
	return true
}

func (g *Guard) done(c *call, made int, last Outcome, err error) {
	g.tellAll(c.ctx, CallDone{
		Call: g.names(c.operation), Attempts: made, Err: sanitize.Error(err), Duration: g.circuit.Now() - c.start, Outcome: last,
	})
}

func (g *Guard) fellOver(ctx context.Context, operation string, next *Guard, err error) {
	g.tellAll(ctx, FellOver{Call: g.names(operation), Next: next.Name(), Err: sanitize.Error(err)})
}
