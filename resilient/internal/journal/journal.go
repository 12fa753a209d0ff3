// Package journal writes down what guards have to say to operators: what has become of a
// circuit, and what foreign code has panicked with.
package journal

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Journal is one guard's. Its methods are safe for concurrent use.
type Journal struct {
	// Words are the package's.
	Words *Words
	// Service is whose panics they are, with secrets taken out; "" is not mentioned.
	Service string
	// Logger takes the records. Nil means slog.Default(), as it is at that moment.
	Logger *slog.Logger
}

// Words are what the records of all guards of a package begin with.
type Words struct {
	// Panic begins the record of a contained panic: "resilient".
	Panic string
	// Transition begins that of a circuit's transition: "circuit".
	Transition string
}

// Out is where the records go.
func (j *Journal) Out() *slog.Logger {
	if j.Logger != nil {
		return j.Logger
	}
	return slog.Default()
}

// Contain ends a panic of the user's code that is not what is guarded, and reports it. It
// must be deferred itself. then, if not nil, sets what holds instead.
func (j *Journal) Contain(what string, then func()) {
	value := recover()
	if value == nil {
		return
	}
	if then != nil {
		then()
	}
	j.Report(what, value)
}

// Report writes down a contained panic. A logger that panics as well is beyond telling.
func (j *Journal) Report(what string, value any) {
	defer func() { _ = recover() }()
	attrs := []slog.Attr{
		slog.String("in", what), slog.String("panic", sanitize.Message(fmt.Sprint(value))),
		slog.String("stack", string(debug.Stack())),
	}
	if j.Service != "" {
		attrs = slices.Insert(attrs, 0, slog.String("service", j.Service))
	}
	j.Out().LogAttrs(context.Background(), slog.LevelError, j.Words.Panic+": panic contained", attrs...)
}

var states = map[breaker.State]string{
	breaker.Closed:       " closed",
	breaker.Open:         " opened",
	breaker.HalfOpen:     " half-open",
	breaker.ForcedOpen:   " forced open",
	breaker.ForcedClosed: " forced closed",
	breaker.Disabled:     " disabled",
}

// Transition writes down a circuit's, whose cause has had its secrets taken out. names
// say which circuit it is.
func (j *Journal) Transition(ctx context.Context, t breaker.Transition, names ...slog.Attr) {
	failures := uint64(max(t.Failures, 0))
	if t.Rule == breaker.RuleFailureRate {
		failures = t.Window.Failures
	}
	attrs := append(names, slog.String("from", t.From.String()),
		slog.Uint64("failure_count", failures), slog.Uint64("round", t.Round))
	if t.Observe {
		attrs = append(attrs, slog.String("mode", "observe"))
	}
	level := slog.LevelInfo
	switch t.To {
	case breaker.Open:
		level = slog.LevelError
		attrs = append(attrs, slog.Int("generation", t.Generation), slog.Time("until", t.Until))
		attrs = appendRule(attrs, t)
		if t.Cause != nil {
			attrs = append(attrs, slog.String("error", t.Cause.Error()))
		}
	case breaker.ForcedOpen, breaker.ForcedClosed, breaker.Disabled:
		level = slog.LevelWarn // somebody's hand, to be remembered
	default: // recovery
	}
	j.Out().LogAttrs(ctx, level, j.Words.Transition+states[t.To], attrs...)
}

// appendRule says what opened the circuit, where it is known.
func appendRule(attrs []slog.Attr, t breaker.Transition) []slog.Attr {
	if t.Rule == breaker.NoRule {
		return attrs
	}
	attrs = append(attrs, slog.String("rule", t.Rule.String()))
	if n := t.Window; n.Calls > 0 {
		attrs = append(attrs, slog.Uint64("window_calls", n.Calls),
			slog.Uint64("window_failures", n.Failures), slog.Uint64("window_slow", n.Slow))
	}
	return attrs
}

// Sharing writes down that a circuit's store is lost, once, and that it is back; what else
// becomes of its sharing is seen in its transitions and settings. The cause has had its
// secrets taken out.
func (j *Journal) Sharing(ctx context.Context, s breaker.SharingChange, names ...slog.Attr) {
	attrs := append(names, slog.String("from", s.From.String()))
	switch {
	case s.To == breaker.Lost:
		if s.Cause != nil {
			attrs = append(attrs, slog.String("error", s.Cause.Error()))
		}
		j.Out().LogAttrs(ctx, slog.LevelWarn, j.Words.Transition+" goes on without its store", attrs...)
	case s.From == breaker.Lost && s.To != breaker.Alone:
		attrs = append(attrs, slog.String("to", s.To.String()))
		j.Out().LogAttrs(ctx, slog.LevelInfo, j.Words.Transition+" has its store back", attrs...)
	default: // not the store's doing
	}
}
