// Package otelguard tells OpenTelemetry what guards do: metrics of calls and circuits,
// events on the callers' spans, and a span for each attempt if that is wanted.
//
//	telemetry, err := otelguard.New(nil)
//	…
//	services, err := policies.FromEnv("APP", &policies.Options{
//		Options: resilient.Options{Observers: []resilient.Observer{telemetry}},
//	})
//	…
//	telemetry.Watch(services)
//
// # Metrics
//
// Of what happens, by service and operation; durations are in seconds:
//
//	stoic.calls           counter    result: success, error, rejected (before an attempt)
//	stoic.call.duration   histogram  result: success, error
//	stoic.call.attempts   histogram  attempts of a call that made any
//	stoic.attempts        counter    outcome: success, failure, neutral
//	stoic.retry.delay     histogram  waits before further attempts; its count is that of the retries
//	stoic.rejections      counter    state: open, half-open, forced-open; attempts that were refused
//	stoic.exhausted       counter    reason: attempts-used-up, timed-out, no-time-left, …; calls that a limit ended
//	stoic.late_results    counter    attempts whose outcome came too late to count
//	stoic.circuit.changes counter    from, to; without operation
//	stoic.store.losses    counter    how often the circuit found its store lost; without operation
//
// Of the circuits as they are when somebody looks, with traffic or without, by service:
//
//	stoic.circuit.state             gauge  state: 1 for closed, open, probe-due, half-open, forced-open,
//	                                       forced-closed or disabled, 0 for the others
//	stoic.circuit.since             gauge  when the state began, since 1970
//	stoic.circuit.until             gauge  when it ends by itself, since 1970
//	stoic.circuit.generation        gauge  openings in a row
//	stoic.circuit.failures          gauge  failures in a row that the state rests on
//	stoic.circuit.probes            gauge  half-open permits that are out
//	stoic.circuit.probe_limit       gauge  how many may be
//	stoic.circuit.recovery_timeout  gauge  the policy's
//	stoic.circuit.lease             gauge  how long a silent probe keeps its place
//	stoic.circuit.sharing           gauge  mode: 1 for alone, shared, apart or lost, 0 for the others
//	stoic.circuit.observing         gauge  1 for a circuit that only observes: whatever its state, it admits
//	stoic.circuit.would_reject      counter  what such a circuit would have refused
//	stoic.retry.budget.left         gauge  by budget: see [Instrumentation.WatchBudgets]
//
// An open circuit whose time has passed is probe-due: the next call will be let through. A
// circuit learns that its store is lost, or back, from what uses it and from the store's
// news.
//
// Attributes hold names and words of a fixed set, never the text of an error. Services are
// as many as there are guards, up to [MaxServices], operations as many as
// [Options].MaxOperations; further ones are [Other]. The SDK has a limit of its own, 2000
// series for an instrument, beyond which all is one series: it is reached with 285 guards,
// by stoic.circuit.state. See sdk/metric.WithCardinalityLimit.
//
// A permit held by hand is a call of one attempt, without a name. A call that succeeds at
// once costs two allocations in all, in a recorded span as well.
//
// # In Prometheus
//
// OpenTelemetry's exporter calls them stoic_calls_total, stoic_call_duration_seconds,
// stoic_circuit_state and so on. Where targets have a label service of their own, scrape
// with honor_labels. The folder operations has a board for Grafana and alerts.
//
// # Traces
//
// On the caller's span, if that is recorded: stoic.retry, stoic.rejected, stoic.late_result,
// and stoic.call for a call that did not succeed at its first attempt. They hold the
// sanitised text of errors.
//
// With [Options].AttemptSpans each attempt is a span below the caller's, named "attempt",
// with its number and outcome. It is made when the attempt is over, with the times at which
// it began and ended: what the function traces itself is beside it, not below. A sampler
// that decides by the parent treats them alike; where the caller has no span there is none.
package otelguard
