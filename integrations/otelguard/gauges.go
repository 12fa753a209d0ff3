package otelguard

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// gauges are what circuits are shown with. They are looked at when somebody collects, so
// they are right without traffic.
type gauges struct {
	state      metric.Int64ObservableGauge
	since      metric.Float64ObservableGauge
	until      metric.Float64ObservableGauge
	generation metric.Int64ObservableGauge
	failures   metric.Int64ObservableGauge
	probes     metric.Int64ObservableGauge
	probeLimit metric.Int64ObservableGauge
	recovery   metric.Float64ObservableGauge
	lease      metric.Float64ObservableGauge
	sharing    metric.Int64ObservableGauge
	observing  metric.Int64ObservableGauge
	would      metric.Int64ObservableCounter
	budget     metric.Int64ObservableGauge
}

func newGauges(m metric.Meter) (*gauges, error) {
	var faults []error
	number := func(name, unit, description string) metric.Int64ObservableGauge {
		g, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
		faults = append(faults, err)
		return g
	}
	seconds := func(name, description string) metric.Float64ObservableGauge {
		g, err := m.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(description))
		faults = append(faults, err)
		return g
	}
	would, err := m.Int64ObservableCounter("stoic.circuit.would_reject", metric.WithUnit("{attempt}"),
		metric.WithDescription("Attempts that a circuit which only observes would have refused."))
	faults = append(faults, err)
	made := &gauges{
		would:      would,
		state:      number("stoic.circuit.state", "{circuit}", "The circuit's state: 1 for the one that it is in, 0 for the others."),
		since:      seconds("stoic.circuit.since", "When the state began, since 1970; absent if it never changed."),
		until:      seconds("stoic.circuit.until", "When the state ends by itself, since 1970; absent if it does not."),
		generation: number("stoic.circuit.generation", "{opening}", "How often in a row the circuit has opened without closing."),
		failures:   number("stoic.circuit.failures", "{failure}", "Failures in a row that the state rests on."),
		probes:     number("stoic.circuit.probes", "{permit}", "Half-open permits that are out."),
		probeLimit: number("stoic.circuit.probe_limit", "{permit}", "Half-open permits that may be out at a time."),
		recovery:   seconds("stoic.circuit.recovery_timeout", "How long the circuit stays open the first time."),
		lease:      seconds("stoic.circuit.lease", "How long a silent probe keeps its place, of an operation without limits of its own."),
		sharing:    number("stoic.circuit.sharing", "{circuit}", "How the circuit stands with those of other processes: 1 for what it is, 0 for the rest."),
		observing:  number("stoic.circuit.observing", "{circuit}", "1 for a circuit that only observes: whatever its state, it admits."),
		budget:     number("stoic.retry.budget.left", "{retry}", "Retries, or tokens, that are left in a budget."),
	}
	return made, errors.Join(faults...)
}

func (g *gauges) all() []metric.Observable {
	return []metric.Observable{
		g.state, g.since, g.until, g.generation, g.failures, g.probes, g.probeLimit, g.recovery, g.lease, g.sharing,
		g.observing, g.would, g.budget,
	}
}

// probeDue is the state of an open circuit whose time has passed: the next attempt will be
// admitted.
const probeDue = "probe-due"

var (
	states = []string{
		breaker.Closed.String(), breaker.Open.String(), probeDue, breaker.HalfOpen.String(),
		breaker.ForcedOpen.String(), breaker.ForcedClosed.String(), breaker.Disabled.String(),
	}
	modes = []string{breaker.Alone.String(), breaker.Shared.String(), breaker.Apart.String(), breaker.Lost.String()}
)

// observe shows one guard's circuit.
func (g *gauges) observe(o metric.Observer, guard *resilient.Guard) {
	snap, policy := guard.Circuit().Snapshot(), guard.Policy()
	service := attribute.String("service", guard.Name())
	plain := metric.WithAttributeSet(attribute.NewSet(service))
	one := func(gauge metric.Int64Observable, label string, names []string, which string) {
		for _, name := range names {
			value := int64(0)
			if name == which {
				value = 1
			}
			o.ObserveInt64(gauge, value, metric.WithAttributeSet(attribute.NewSet(service, attribute.String(label, name))))
		}
	}
	one(g.state, "state", states, stateOf(&snap))
	one(g.sharing, "mode", modes, snap.Sharing.String())
	moment := func(gauge metric.Float64Observable, t time.Time) {
		if !t.IsZero() {
			o.ObserveFloat64(gauge, float64(t.UnixMilli())/1000, plain)
		}
	}
	moment(g.since, snap.Since)
	moment(g.until, untilOf(&snap))
	o.ObserveInt64(g.generation, int64(snap.Generation), plain)
	o.ObserveInt64(g.failures, int64(snap.Failures), plain)
	o.ObserveInt64(g.probes, int64(snap.Probes), plain)
	o.ObserveInt64(g.probeLimit, int64(policy.Circuit.MaxProbes), plain)
	observing := int64(0)
	if snap.Observe {
		observing = 1
	}
	o.ObserveInt64(g.observing, observing, plain)
	o.ObserveInt64(g.would, int64(snap.WouldReject), plain)
	o.ObserveFloat64(g.recovery, policy.Circuit.RecoveryTimeout.Seconds(), plain)
	o.ObserveFloat64(g.lease, policy.Circuit.LeaseFor(policy.AttemptLimit()).Seconds(), plain)
}

func stateOf(snap *breaker.Snapshot) string {
	if snap.ProbeDue {
		return probeDue
	}
	return snap.State.String()
}

// untilOf is when the state ends by itself; zero if it does not.
func untilOf(snap *breaker.Snapshot) time.Time {
	if snap.Force != breaker.NoForce {
		return snap.ForceUntil
	}
	return snap.Until
}
