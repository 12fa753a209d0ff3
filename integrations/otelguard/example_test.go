package otelguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// region wiring

// newServices makes the registry of a program that is measured, and that Prometheus scrapes.
func newServices(registerer prometheus.Registerer) (*policies.Registry, error) {
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registerer))
	if err != nil {
		return nil, err
	}
	telemetry, err := otelguard.New(&otelguard.Options{
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)),
	})
	if err != nil {
		return nil, err
	}
	services, err := policies.FromEnv("APP", &policies.Options{
		Options: resilient.Options{Observers: []resilient.Observer{telemetry}},
	})
	if err != nil {
		return nil, err
	}
	telemetry.Watch(services) // the circuits are looked at when somebody collects
	return services, nil
}

// endregion

// Metrics for Prometheus: calls as they end, circuits as they are when it scrapes.
func Example() {
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.DiscardHandler))
	registry := prometheus.NewRegistry()
	services, err := newServices(registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	plans := services.Guard("plan_service")
	for range 6 { // five failures open the circuit
		_ = resilient.Do(context.Background(), plans, resilient.NonIdempotent("apply"), func(context.Context) error {
			return errors.New("down")
		})
	}

	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			of := map[string]string{}
			for _, label := range metric.GetLabel() {
				of[label.GetName()] = label.GetValue()
			}
			switch {
			case of["service"] != "plan_service":
			case family.GetName() == "stoic_calls_total":
				fmt.Println(of["operation"], of["result"], metric.GetCounter().GetValue())
			case family.GetName() == "stoic_circuit_state" && metric.GetGauge().GetValue() == 1:
				fmt.Println("the circuit is", of["state"])
			}
		}
	}
	// Output:
	// apply error 5
	// apply rejected 1
	// the circuit is open
}

// A span for each attempt, below the caller's, and the events on the caller's own.
func ExampleOptions() {
	spans := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	telemetry, err := otelguard.New(&otelguard.Options{TracerProvider: tracers, AttemptSpans: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := resilient.DefaultPolicy()
	policy.Retry.Backoff, policy.Retry.BaseDelay = resilient.BackoffNone, 0
	plans, err := resilient.NewGuard("plan_service", policy, &resilient.Options{
		Observers: []resilient.Observer{telemetry}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, span := tracers.Tracer("program").Start(context.Background(), "page")
	_ = resilient.Do(ctx, plans, resilient.Idempotent("get_plan"), func(ctx context.Context) error {
		if resilient.Attempt(ctx) == 1 {
			return errors.New("down")
		}
		return nil
	})
	span.End()

	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name)
		for _, a := range span.Attributes {
			if a.Key == "stoic.attempt" || a.Key == "stoic.outcome" {
				fmt.Println("-", a.Key, a.Value.String())
			}
		}
		for _, event := range span.Events {
			fmt.Println("-", event.Name)
		}
	}
	// Output:
	// attempt
	// - stoic.attempt 1
	// - stoic.outcome failure
	// attempt
	// - stoic.attempt 2
	// - stoic.outcome success
	// page
	// - stoic.retry
	// - stoic.call
}
