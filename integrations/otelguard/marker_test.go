package otelguard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	name, operation, budget string
	fail, store             error
	order                   breaker.Order
}

// A86, A91: a secret goes into every input of a guard that is measured, one at a time, and comes out of no attribute, no
// span, and nothing that is scraped.
func TestNoSecretIsExported(t *testing.T) {
	sinks := marker.New(t, "integrations/otelguard")
	for input, p := range map[string]poison{
		"guard's name":  {name: marker.Pair},
		"operation":     {operation: marker.URL},
		"error":         {fail: errors.New(marker.Text)},
		"store's error": {store: errors.New(marker.Text)},
		"operator's author and reason": {order: breaker.Order{
			Force: breaker.ForceOpen, For: time.Minute, Author: "ann, " + marker.Pair, Reason: marker.Text,
		}},
		"budget name": {budget: marker.Pair},
	} {
		t.Run(input, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) })
		})
	}
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry))
	require.NoError(t, err)
	exported := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported))
	told, err := otelguard.New(&otelguard.Options{
		MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)),
		TracerProvider: tracer, AttemptSpans: true,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, told.Close()) }()
	budget, err := resilient.NewBudget(resilient.DefaultTokenBucket())
	require.NoError(t, err)
	if p.fail == nil {
		p.fail = errors.New("down")
	}
	store := &faultStore{fragileStore: newFragileStore()}
	options := resilient.Options{Observers: []resilient.Observer{told}, Store: store, Budgets: map[string]*resilient.Budget{"b " + p.budget: budget}}
	g := guard(t, "plans "+p.name, policy(threshold(4), func(q *resilient.Policy) { q.Retry.Budget = "b " + p.budget }), options)
	told.Watch(resilient.GuardList{g})
	ctx, span := tracer.Tracer("test").Start(t.Context(), "caller")
	use := func() {
		_ = resilient.Do(ctx, g, resilient.Idempotent("get "+p.operation), func(context.Context) error { return p.fail })
		one := resilient.Alternative[int]{Guard: g, Call: func(context.Context) (int, error) { return 0, p.fail }}
		_, _ = resilient.FirstOf(ctx, resilient.Idempotent("get "+p.operation), one, one)
	}
	use()
	use()
	if p.order.Author != "" {
		require.NoError(t, g.Circuit().Steer(t.Context(), p.order))
		use()
	}
	store.fault = p.store
	time.Sleep(time.Hour)
	use()
	span.End()
	for _, s := range exported.GetSpans() {
		out.Put("span", s.Name, s.Status.Description, fmt.Sprint(s.Attributes))
		for _, e := range s.Events {
			out.Put("span event", e.Name+fmt.Sprint(e.Attributes))
		}
	}
	scraped := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(scraped, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, scraped.Code)
	out.Put("metrics", scraped.Body.String())
}

// faultStore is a store that fails with that error.
type faultStore struct {
	*fragileStore
	fault error
}

func (s *faultStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.fault != nil {
		return breaker.Answer{}, s.fault
	}
	return s.fragileStore.Do(ctx, circuit, c)
}
