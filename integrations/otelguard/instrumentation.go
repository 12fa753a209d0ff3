package otelguard

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
)

// scope names the instruments' meter and tracer.
const scope = "github.com/seed42274fcc/stoic/integrations/otelguard"

// Instrumentation is an observer of guards that measures, and what looks at their circuits
// when measurements are collected. Make it with [New], put it among the Observers of the
// guards, and give it the guards with [Instrumentation.Watch]. It is safe for concurrent
// use, and has no goroutine. Nil observes nothing; the zero value is not usable.
type Instrumentation struct {
	meters  *meters
	catalog *catalog
	spans   spans
	gauges  *gauges
	asked   metric.Registration

	mu      sync.Mutex
	sources []resilient.Source
	budgets map[string]*resilient.Budget
}

// New makes an instrumentation that watches nothing yet. A nil options is valid. It returns
// an error when the meter refuses an instrument.
func New(options *Options) (*Instrumentation, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MaxOperations <= 0 {
		o.MaxOperations = defaultOperations
	}
	meter := o.MeterProvider.Meter(scope)
	i := &Instrumentation{catalog: newCatalog(o.MaxOperations), spans: spans{events: !o.NoSpanEvents}}
	if o.AttemptSpans {
		i.spans.tracer = o.TracerProvider.Tracer(scope)
	}
	var err error
	if i.meters, err = newMeters(meter); err != nil {
		return nil, err
	}
	if i.gauges, err = newGauges(meter); err != nil {
		return nil, err
	}
	i.asked, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		i.look(o)
		return nil
	}, i.gauges.all()...)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Watch shows the circuits of the source's guards, from now on and as they are when they
// are looked at. There may be several sources; of guards with one name one is shown.
func (i *Instrumentation) Watch(source resilient.Source) {
	if i == nil || source == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sources = append(i.sources, source)
}

// WatchBudgets shows what is left in retry budgets, by their names, from now on and as it is
// when it is looked at. The map is copied; give it what [resilient.Options].Budgets has.
func (i *Instrumentation) WatchBudgets(budgets map[string]*resilient.Budget) {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	next := maps.Clone(i.budgets)
	if next == nil {
		next = map[string]*resilient.Budget{}
	}
	maps.Copy(next, budgets)
	i.budgets = next
}

// Close ends watching. What guards tell is still counted.
func (i *Instrumentation) Close() error {
	if i == nil {
		return nil
	}
	i.mu.Lock()
	i.sources, i.budgets = nil, nil
	i.mu.Unlock()
	return i.asked.Unregister()
}

// look observes the circuits as they are.
func (i *Instrumentation) look(o metric.Observer) {
	i.mu.Lock()
	sources, budgets := slices.Clone(i.sources), i.budgets // which is replaced, never changed
	i.mu.Unlock()
	for name, budget := range budgets {
		o.ObserveInt64(i.gauges.budget, int64(budget.Snapshot().Left), metric.WithAttributes(attribute.String("budget", sanitize.Message(name))))
	}
	for _, source := range sources {
		for _, name := range source.Names() {
			if guard, ok := source.Lookup(name); ok && guard.Circuit() != nil {
				i.gauges.observe(o, guard)
			}
		}
	}
}

// CallsOnly reports whether attempts are of interest only as a number, for
// [resilient.CallObserver]: they are, unless they have spans.
func (i *Instrumentation) CallsOnly() bool { return i == nil || i.spans.tracer == nil }

// Observe measures an event, for [resilient.Observer].
func (i *Instrumentation) Observe(ctx context.Context, event resilient.Event) {
	if i == nil {
		return
	}
	switch e := event.(type) {
	case resilient.AttemptDone:
		i.attempted(ctx, &e)
	case resilient.RetryScheduled:
		i.meters.delay.Record(ctx, e.Delay.Seconds(), i.catalog.of(e.Service, e.Operation).plain.record...)
		i.spans.retry(ctx, &e)
	case resilient.CallDone:
		i.meters.call(ctx, i.catalog.of(e.Service, e.Operation), &e)
		i.spans.done(ctx, &e)
	case resilient.CallRejected:
		i.meters.refusal(ctx, i.catalog.of(e.Service, e.Operation), &e)
		i.spans.rejected(ctx, &e)
	case resilient.LateResult:
		i.meters.late.Add(ctx, 1, i.catalog.of(e.Service, e.Operation).plain.add...)
		i.spans.late(ctx, &e)
	case resilient.CircuitChanged:
		i.meters.changes.Add(ctx, 1, metric.WithAttributes(
			attribute.String("service", e.Circuit), attribute.String("from", e.From.String()), attribute.String("to", e.To.String())))
	case resilient.StoreChanged:
		if e.To == breaker.Lost {
			i.meters.losses.Add(ctx, 1, metric.WithAttributes(attribute.String("service", e.Circuit)))
		}
	default: // more may come
	}
}

// attempted measures an attempt. That of a permit held by hand is a call of one attempt, of
// which nothing else tells.
func (i *Instrumentation) attempted(ctx context.Context, e *resilient.AttemptDone) {
	i.spans.attempt(ctx, e)
	if e.ByHand {
		i.meters.call(ctx, i.catalog.of(e.Service, e.Operation), &resilient.CallDone{
			Call: e.Call, Attempts: 1, Err: e.Err, Duration: e.Duration, Outcome: e.Outcome,
		})
	}
}
