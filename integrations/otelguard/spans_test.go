package otelguard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/resilient"
)

// traced runs fn in a span, with a guard that opens at the third failure, and returns the spans that have ended.
func traced(t *testing.T, options otelguard.Options, fn func(ctx context.Context, g *resilient.Guard)) tracetest.SpanStubs {
	t.Helper()
	exported := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
	options.TracerProvider = provider
	g := guard(t, "plans", policy(threshold(3)), observers(newMeasured(t, options)))
	ctx, span := provider.Tracer("test").Start(t.Context(), "caller")
	fn(ctx, g)
	span.End()
	return exported.GetSpans()
}

// told is what an event or a span says, without the names that all have.
func told(t *testing.T, attributes []attribute.KeyValue) map[string]any {
	t.Helper()
	said := map[string]any{}
	for _, kv := range attributes {
		said[string(kv.Key)] = kv.Value.AsInterface()
	}
	assert.Equal(t, []any{"plans", "get"}, []any{said["stoic.service"], said["stoic.operation"]})
	delete(said, "stoic.service")
	delete(said, "stoic.operation")
	return said
}

func failing(ctx context.Context, g *resilient.Guard) {
	_ = resilient.Do(ctx, g, get, func(context.Context) error {
		time.Sleep(2 * sec)
		return errors.New("down, password=hunter2")
	})
}

func TestEventsOnTheCallersSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var until time.Time
		spans := traced(t, otelguard.Options{}, func(ctx context.Context, g *resilient.Guard) {
			_ = resilient.Do(ctx, g, get, returns(nil)) // nothing to tell
			failing(ctx, g)
			until = g.Circuit().Snapshot().Until
			failing(ctx, g)
		})
		require.Len(t, spans, 1, "no span of its own")
		var events []any
		for _, e := range spans[0].Events {
			events = append(events, e.Name, told(t, e.Attributes))
		}
		rejection := "plans: circuit open until " + until.UTC().Format(time.RFC3339) + ": last failure: down, password=***"
		assert.Equal(t, []any{
			"stoic.retry", map[string]any{"stoic.attempt": int64(1), "stoic.delay": 1.0, "error.message": "down, password=***"},
			"stoic.retry", map[string]any{"stoic.attempt": int64(2), "stoic.delay": 1.0, "error.message": "down, password=***"},
			"stoic.call", map[string]any{
				"stoic.attempts": int64(3), "stoic.outcome": "failure", "stoic.result": "error",
				"error.message": "plans.get: gave up after 3 attempts: down, password=***",
			},
			"stoic.rejected", map[string]any{
				"stoic.attempts": int64(0), "stoic.state": "open", "stoic.until": until.UTC().Format(time.RFC3339Nano), "error.message": rejection,
			},
		}, events)
		assert.Equal(t, codes.Unset, spans[0].Status.Code, "the caller's span is the caller's to judge")
	})
}

func TestNoEventsIfTheyAreNotWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := traced(t, otelguard.Options{NoSpanEvents: true}, failing)
		require.Len(t, spans, 1)
		assert.Empty(t, spans[0].Events)
	})
}

// Each attempt has a span below the caller's, with the times at which it ran and not those at which it was made.
func TestSpansOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		spans := traced(t, otelguard.Options{AttemptSpans: true, NoSpanEvents: true}, func(ctx context.Context, g *resilient.Guard) {
			calls := 0
			require.NoError(t, resilient.Do(ctx, g, get, func(context.Context) error {
				time.Sleep(2 * sec)
				if calls++; calls == 1 {
					return errors.New("down, password=hunter2")
				}
				return nil
			}))
		})
		require.Len(t, spans, 3)
		caller := spans[2]
		for i, want := range []struct {
			from   time.Duration
			status sdktrace.Status
			said   map[string]any
		}{
			{0, sdktrace.Status{Code: codes.Error, Description: "down, password=***"},
				map[string]any{"stoic.attempt": int64(1), "stoic.outcome": "failure", "error.message": "down, password=***"}},
			{3 * sec, sdktrace.Status{}, map[string]any{"stoic.attempt": int64(2), "stoic.outcome": "success"}},
		} {
			span := spans[i]
			assert.Equal(t, "attempt", span.Name)
			assert.Equal(t, caller.SpanContext.SpanID(), span.Parent.SpanID())
			assert.Equal(t, []time.Duration{want.from, want.from + 2*sec}, []time.Duration{span.StartTime.Sub(began), span.EndTime.Sub(began)})
			assert.Equal(t, want.status, span.Status)
			assert.Equal(t, want.said, told(t, span.Attributes))
		}
	})
}

// Without a span of the caller's there is nothing to hang attempts on: they would be traces of their own.
func TestNoSpanWithoutTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exported := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
		m := newMeasured(t, otelguard.Options{TracerProvider: provider, AttemptSpans: true})
		failing(t.Context(), guard(t, "plans", policy(), observers(m)))
		assert.Empty(t, exported.GetSpans())
		failing(trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true,
		})), guard(t, "plans", policy(), observers(m)))
		assert.Len(t, exported.GetSpans(), 3, "one that is in another process will do")
	})
}

func TestALateResultIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spans := traced(t, otelguard.Options{}, func(ctx context.Context, g *resilient.Guard) {
			require.NoError(t, resilient.Do(ctx, g, get, func(context.Context) error {
				g.Circuit().ForceOpen() // a new round
				return nil
			}))
		})
		require.Len(t, spans[0].Events, 1)
		assert.Equal(t, "stoic.late_result", spans[0].Events[0].Name)
		assert.Equal(t, map[string]any{"stoic.attempt": int64(1), "stoic.outcome": "success"}, told(t, spans[0].Events[0].Attributes))
	})
}
