package otelguard

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed42274fcc/stoic/resilient"
)

// spans tells traces of what happens to calls.
type spans struct {
	events bool         // on the caller's span
	tracer trace.Tracer // of spans for attempts; nil for none
}

// event adds an event to the caller's span, if that is recorded. attributes are made only
// then.
func (s *spans) event(ctx context.Context, name string, call *resilient.Call, attributes func() []attribute.KeyValue) {
	if !s.events {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.AddEvent(name, trace.WithAttributes(append(attributes(), names(call)...)...))
}

func names(call *resilient.Call) []attribute.KeyValue {
	return []attribute.KeyValue{
		attribute.String("stoic.service", call.Service), attribute.String("stoic.operation", call.Operation),
	}
}

// message is an error's text, which has its secrets taken out already.
func message(err error) attribute.KeyValue { return attribute.String("error.message", err.Error()) }

func (s *spans) retry(ctx context.Context, e *resilient.RetryScheduled) {
	s.event(ctx, "stoic.retry", &e.Call, func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{
			attribute.Int("stoic.attempt", e.Attempt), attribute.Float64("stoic.delay", e.Delay.Seconds()),
		}
		if e.Err != nil {
			attributes = append(attributes, message(e.Err))
		}
		return attributes
	})
}

func (s *spans) rejected(ctx context.Context, e *resilient.CallRejected) {
	if e.Rejection == nil {
		return
	}
	s.event(ctx, "stoic.rejected", &e.Call, func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{
			attribute.Int("stoic.attempts", e.Attempts), attribute.String("stoic.state", e.Rejection.State.String()), message(e.Rejection),
		}
		if until := e.Rejection.Until; !until.IsZero() {
			attributes = append(attributes, attribute.String("stoic.until", until.UTC().Format(time.RFC3339Nano)))
		}
		return attributes
	})
}

func (s *spans) late(ctx context.Context, e *resilient.LateResult) {
	s.event(ctx, "stoic.late_result", &e.Call, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.Int("stoic.attempt", e.Attempt), attribute.String("stoic.outcome", e.Outcome.String())}
	})
}

// done tells of a call that did not simply succeed.
func (s *spans) done(ctx context.Context, e *resilient.CallDone) {
	if e.Err == nil && e.Attempts == 1 {
		return
	}
	s.event(ctx, "stoic.call", &e.Call, func() []attribute.KeyValue {
		attributes := []attribute.KeyValue{
			attribute.Int("stoic.attempts", e.Attempts), attribute.String("stoic.outcome", e.Outcome.String()),
			attribute.String("stoic.result", resultNames[resultOf(e.Err)]),
		}
		if e.Err != nil {
			attributes = append(attributes, message(e.Err))
		}
		return attributes
	})
}

// attempt makes a span of an attempt that is over: an observer learns of it only then.
func (s *spans) attempt(ctx context.Context, e *resilient.AttemptDone) {
	if s.tracer == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	end := time.Now()
	_, span := s.tracer.Start(ctx, "attempt", trace.WithTimestamp(end.Add(-e.Duration)), trace.WithAttributes(
		append(names(&e.Call), attribute.Int("stoic.attempt", e.Attempt), attribute.String("stoic.outcome", e.Outcome.String()))...))
	if e.Err != nil {
		span.SetAttributes(message(e.Err))
		if e.Outcome == resilient.OutcomeFailure {
			span.SetStatus(codes.Error, e.Err.Error())
		}
	}
	span.End(trace.WithTimestamp(end))
}
