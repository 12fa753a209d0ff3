package otelguard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed42274fcc/stoic/integrations/otelguard"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

var (
	errDown = errors.New("down")

	get   = resilient.Idempotent("get")
	apply = resilient.NonIdempotent("apply")
)

// policy has three attempts one second apart, and a circuit that never opens by itself.
func policy(edits ...func(*resilient.Policy)) resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffFixed
	p.Retry.Jitter = false
	p.Circuit.FailureThreshold = 1_000_000
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func threshold(n int) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Circuit.FailureThreshold = n }
}

func guard(tb testing.TB, name string, policy resilient.Policy, options resilient.Options) *resilient.Guard {
	tb.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	g, err := resilient.NewGuard(name, policy, &options)
	require.NoError(tb, err)
	return g
}

func observers(o ...resilient.Observer) resilient.Options { return resilient.Options{Observers: o} }

func returns(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// measured is an instrumentation with what collects from it.
type measured struct {
	*otelguard.Instrumentation
	reader *sdkmetric.ManualReader
}

func newMeasured(tb testing.TB, options otelguard.Options) *measured {
	tb.Helper()
	reader := sdkmetric.NewManualReader()
	options.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	telemetry, err := otelguard.New(&options)
	require.NoError(tb, err)
	return &measured{telemetry, reader}
}

func (m *measured) metrics(tb testing.TB) []metricdata.Metrics {
	tb.Helper()
	var collected metricdata.ResourceMetrics
	require.NoError(tb, m.reader.Collect(context.Background(), &collected))
	var all []metricdata.Metrics
	for _, scope := range collected.ScopeMetrics {
		all = append(all, scope.Metrics...)
	}
	return all
}

// collect returns every number, as "stoic.calls{operation=get,result=success,service=plans}"; of a histogram
// the count and the sum.
func (m *measured) collect(tb testing.TB) map[string]float64 {
	tb.Helper()
	numbers := map[string]float64{}
	for _, metric := range m.metrics(tb) {
		switch data := metric.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range data.DataPoints {
				numbers[metric.Name+labels(p.Attributes)] = float64(p.Value)
			}
		case metricdata.Gauge[int64]:
			for _, p := range data.DataPoints {
				numbers[metric.Name+labels(p.Attributes)] = float64(p.Value)
			}
		case metricdata.Gauge[float64]:
			for _, p := range data.DataPoints {
				numbers[metric.Name+labels(p.Attributes)] = p.Value
			}
		case metricdata.Histogram[int64]:
			for _, p := range data.DataPoints {
				numbers[metric.Name+".count"+labels(p.Attributes)] = float64(p.Count)
				numbers[metric.Name+".sum"+labels(p.Attributes)] = float64(p.Sum)
			}
		case metricdata.Histogram[float64]:
			for _, p := range data.DataPoints {
				numbers[metric.Name+".count"+labels(p.Attributes)] = float64(p.Count)
				numbers[metric.Name+".sum"+labels(p.Attributes)] = p.Sum
			}
		default:
			tb.Fatalf("%s is a %T", metric.Name, data)
		}
	}
	return numbers
}

// labels are sorted by the set.
func labels(set attribute.Set) string {
	var pairs []string
	for _, kv := range set.ToSlice() {
		pairs = append(pairs, fmt.Sprintf("%s=%s", kv.Key, kv.Value.String()))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// only keeps the numbers whose names begin so.
func only(numbers map[string]float64, prefixes ...string) map[string]float64 {
	kept := map[string]float64{}
	for name, value := range numbers {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				kept[name] = value
			}
		}
	}
	return kept
}

// is returns the label of the one series of an enumeration that is 1.
func is(tb testing.TB, numbers map[string]float64, prefix string) string {
	tb.Helper()
	var found []string
	for name, value := range only(numbers, prefix) {
		if value == 1 {
			found = append(found, strings.TrimSuffix(strings.TrimPrefix(name, prefix), "}"))
		}
	}
	require.Len(tb, found, 1, "%s", prefix)
	return found[0]
}

// fragileStore is a store that can be told to fail.
type fragileStore struct {
	*breaker.MemoryStore
	down atomic.Bool
}

func newFragileStore() *fragileStore {
	return &fragileStore{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
}

func (s *fragileStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.down.Load() {
		return breaker.Answer{}, errDown
	}
	return s.MemoryStore.Do(ctx, circuit, c)
}

const sec = time.Second
