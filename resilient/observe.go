package resilient

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// observed reports whether it is worth making an event that only observers see.
func (g *Guard) observed() bool { return len(g.options.Observers) != 0 }

// emit tells the log and the observers, one after the other.
func (g *Guard) emit(ctx context.Context, event Event) {
	g.log(ctx, event)
	for _, o := range g.options.Observers {
		g.tell(ctx, o, event)
	}
}

func (g *Guard) tell(ctx context.Context, o Observer, event Event) {
	defer g.contain("Observer", nil)
	o.Observe(ctx, event)
}

// contain ends a panic of the user's code that is not the guarded function, and
// reports it. It must be deferred itself. then, if not nil, sets what holds
// instead.
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
	g.logger().Error("resilient: panic contained",
		slog.String("service", g.name), slog.String("in", what),
		slog.String("panic", sanitize.Message(fmt.Sprint(value))), slog.String("stack", string(debug.Stack())))
}

func (g *Guard) logger() *slog.Logger {
	if g.options.Logger != nil {
		return g.options.Logger
	}
	return slog.Default()
}

// logs reports whether a record of that level is wanted.
func (g *Guard) logs(ctx context.Context, level slog.Level) bool {
	defer g.contain("Logger", nil)
	return g.logger().Enabled(ctx, level)
}

// log writes the records that operators rely on: a retry that will be made, and
// each change of the circuit. The rest is for observers.
func (g *Guard) log(ctx context.Context, event Event) {
	defer g.contain("Logger", nil)
	switch e := event.(type) {
	case RetryScheduled:
		attrs := []slog.Attr{
			slog.String("service", e.Service), slog.String("operation", e.Operation),
			slog.Int("attempt", e.Attempt), slog.Duration("delay", e.Delay),
		}
		g.logger().LogAttrs(ctx, slog.LevelWarn, "retry scheduled", appendErr(attrs, e.Err)...)
	case CircuitChanged:
		g.logTransition(ctx, e)
	}
}

var transitionMessages = map[breaker.State]string{
	breaker.Closed:       "circuit closed",
	breaker.Open:         "circuit opened",
	breaker.HalfOpen:     "circuit half-open",
	breaker.ForcedOpen:   "circuit forced open",
	breaker.ForcedClosed: "circuit forced closed",
	breaker.Disabled:     "circuit disabled",
}

func (g *Guard) logTransition(ctx context.Context, e CircuitChanged) {
	failures := uint64(max(e.Failures, 0))
	if e.Rule == breaker.RuleFailureRate {
		failures = e.Window.Failures
	}
	attrs := []slog.Attr{
		slog.String("service", e.Circuit), slog.String("from", e.From.String()),
		slog.Uint64("failure_count", failures), slog.Uint64("round", e.Round),
	}
	if e.Observe {
		attrs = append(attrs, slog.String("mode", "observe"))
	}
	level := slog.LevelInfo
	switch e.To {
	case breaker.Open:
		level = slog.LevelError
		attrs = append(attrs, slog.Int("generation", e.Generation), slog.Time("until", e.Until))
		attrs = appendErr(appendRule(attrs, e), e.Cause)
	case breaker.ForcedOpen, breaker.ForcedClosed, breaker.Disabled:
		level = slog.LevelWarn // somebody's hand, to be remembered
	default: // recovery
	}
	g.logger().LogAttrs(ctx, level, transitionMessages[e.To], attrs...)
}

// appendRule says what opened the circuit, where it is known.
func appendRule(attrs []slog.Attr, e CircuitChanged) []slog.Attr {
	if e.Rule == breaker.NoRule {
		return attrs
	}
	attrs = append(attrs, slog.String("rule", e.Rule.String()))
	if n := e.Window; n.Calls > 0 {
		attrs = append(attrs, slog.Uint64("window_calls", n.Calls),
			slog.Uint64("window_failures", n.Failures), slog.Uint64("window_slow", n.Slow))
	}
	return attrs
}

func appendErr(attrs []slog.Attr, err error) []slog.Attr {
	if err == nil {
		return attrs
	}
	return append(attrs, slog.String("error", safeText(err)))
}

// onTransition passes the circuit's transitions on.
func (g *Guard) onTransition(t breaker.Transition) {
	t.Cause = sanitize.Error(t.Cause)
	g.emit(context.Background(), CircuitChanged{Transition: t})
}

// names are the call's, as they may leave.
func (g *Guard) names(operation string) Call {
	return Call{Service: g.name, Operation: sanitize.Message(operation)}
}

// The events of a call, in the order in which they can come.

func (g *Guard) refused(ctx context.Context, operation string, made int, rejected *RejectedError) {
	g.emit(ctx, CallRejected{Call: g.names(operation), Attempts: made, Rejection: rejected})
}

func (g *Guard) attempted(ctx context.Context, names Call, n int, began time.Duration, outcome Outcome, counted bool, err error) {
	g.emit(ctx, AttemptDone{Call: names, Attempt: n, Outcome: outcome, Err: sanitize.Error(err), Duration: g.circuit.Now() - began})
	if !counted {
		g.emit(ctx, LateResult{Call: names, Attempt: n, Outcome: outcome})
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

func (g *Guard) done(c *call, made int, err error) {
	g.emit(c.ctx, CallDone{Call: g.names(c.operation), Attempts: made, Err: sanitize.Error(err), Duration: g.circuit.Now() - c.start})
}
