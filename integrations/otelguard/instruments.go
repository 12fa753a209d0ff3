package otelguard

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// meters are the instruments that events are counted with.
type meters struct {
	calls        metric.Int64Counter
	duration     metric.Float64Histogram
	callAttempts metric.Int64Histogram
	attempts     metric.Int64Counter
	delay        metric.Float64Histogram
	rejections   metric.Int64Counter
	exhausted    metric.Int64Counter
	late         metric.Int64Counter
	changes      metric.Int64Counter
	losses       metric.Int64Counter
}

// The bounds of histograms: a call takes at most 300 s, and makes at most 100 attempts.
var (
	durations = metric.WithExplicitBucketBoundaries(
		0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
	delays       = metric.WithExplicitBucketBoundaries(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
	attemptSteps = metric.WithExplicitBucketBoundaries(1, 2, 3, 4, 5, 7, 10, 20, 50, 100)
)

func newMeters(m metric.Meter) (*meters, error) {
	var faults []error
	counter := func(name, unit, description string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		faults = append(faults, err)
		return c
	}
	seconds := func(name, description string, bounds metric.HistogramOption) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), bounds)
		faults = append(faults, err)
		return h
	}
	made := &meters{
		calls:      counter("stoic.calls", "{call}", "Calls that ended, by what the caller got."),
		duration:   seconds("stoic.call.duration", "How long calls took that made an attempt, waits included.", durations),
		attempts:   counter("stoic.attempts", "{attempt}", "Attempts, by what they say about the dependency."),
		delay:      seconds("stoic.retry.delay", "Waits before further attempts.", delays),
		rejections: counter("stoic.rejections", "{attempt}", "Attempts that a circuit refused, by its state."),
		exhausted:  counter("stoic.exhausted", "{call}", "Calls that a limit ended, by which."),
		late:       counter("stoic.late_results", "{attempt}", "Outcomes that came too late to count."),
		changes:    counter("stoic.circuit.changes", "{change}", "Transitions of circuits, by the state that they led to."),
		losses:     counter("stoic.store.losses", "{loss}", "How often a circuit found its store lost."),
	}
	var err error
	made.callAttempts, err = m.Int64Histogram("stoic.call.attempts",
		metric.WithUnit("{attempt}"), metric.WithDescription("Attempts of a call."), attemptSteps)
	return made, errors.Join(append(faults, err)...)
}

// call counts a call that has made attempts.
func (m *meters) call(ctx context.Context, s *series, e *resilient.CallDone) {
	got := &s.result[resultOf(e.Err)]
	m.calls.Add(ctx, 1, got.add...)
	m.duration.Record(ctx, e.Duration.Seconds(), got.record...)
	m.callAttempts.Record(ctx, int64(e.Attempts), s.plain.record...)
	if before := e.Attempts - 1; before > 0 {
		m.attempts.Add(ctx, int64(before), s.outcome[breaker.Failure].add...)
	}
	m.attempts.Add(ctx, 1, s.outcome[min(e.Outcome, breaker.Neutral)].add...)
	if e.Err != nil {
		m.end(ctx, s, e)
	}
}

// end counts what limit ended a call, if one did. It is apart, since errors.As allocates.
func (m *meters) end(ctx context.Context, s *series, e *resilient.CallDone) {
	var exhausted *resilient.ExhaustedError
	if !errors.As(e.Err, &exhausted) || exhausted.Service != e.Service || exhausted.Operation != e.Operation {
		return // no limit, or that of a call inside of this one
	}
	reason := strings.ReplaceAll(exhausted.Reason.String(), " ", "-")
	m.exhausted.Add(ctx, 1, append([]metric.AddOption{metric.WithAttributes(attribute.String("reason", reason))}, s.plain.add...)...)
}

// refusal counts an attempt that was refused, and the call with it if it was the first.
func (m *meters) refusal(ctx context.Context, s *series, e *resilient.CallRejected) {
	if e.Rejection != nil {
		m.rejections.Add(ctx, 1, s.rejected[min(e.Rejection.State, breaker.ForcedOpen)].add...)
	}
	if e.Attempts == 0 {
		m.calls.Add(ctx, 1, s.result[rejected].add...)
	}
}
