package dashboard

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Metrics serves what is known of the guards of a source in Prometheus' text format. The
// circuits are looked at when it is asked, so their state is right without traffic; nil
// sources have none, and with a nil meter nothing is counted. The only label with a name
// that is not ours is service. Durations are in seconds.
//
//	stoic_calls_total{service,result}         counter: success, error, rejected (at once)
//	stoic_call_duration_seconds{service}      histogram, of calls with at least one attempt
//	stoic_attempts_total{service,outcome}     counter: success, failure, neutral
//	stoic_retries_total{service}              counter, with stoic_retry_delay_seconds_total
//	stoic_rejections_total{service,state}     counter, of attempts, by the state that refused them
//	stoic_late_results_total{service}         counter
//	stoic_fallovers_total{service}            counter, of calls that went on to an alternative
//	stoic_circuit_changes_total{service,to}   counter
//	stoic_circuit_state{service,state}        gauge: 1 for closed, open, probe-due, half-open,
//	                                          forced-open, forced-closed or disabled, 0 for the others
//	stoic_circuit_since_seconds{service}      gauge: when the state began, since 1970; 0 if it never changed
//	stoic_circuit_until_seconds{service}      gauge: when it ends by itself, since 1970; 0 if it does not
//	stoic_circuit_generation{service}         gauge: openings in a row
//	stoic_circuit_failures{service}           gauge: failures that the state rests on
//	stoic_circuit_probes{service}             gauge: half-open permits that are out
//	stoic_circuit_recovery_timeout_seconds{service}  gauge: how long it stays open the first time
//	stoic_circuit_lease_seconds{service}      gauge: how long a silent probe keeps its place
//	stoic_circuit_observing{service}          gauge: 1 if it only observes, and refuses nothing
//	stoic_circuit_would_reject{service}       gauge: attempts that it would have refused, since it was made or reset
//	stoic_circuit_window{service,calls}       gauge: all, failed or slow, in the window of a closed circuit
//	stoic_circuit_sharing{service,mode}       gauge: 1 for alone, shared, apart or lost, 0 for the others
func Metrics(source resilient.Source, meter *Meter) http.Handler {
	d := New(source, &Options{Meter: meter})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "metrics are read", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write(exposition(d))
	})
}

// subject is a guard at the moment of a scrape.
type subject struct {
	label  string // service="…"
	policy resilient.Policy
	snap   breaker.Snapshot
	counts *counts
}

// family is one metric.
type family struct {
	name, kind, help string
	counted          bool // by the meter: nothing to say of a guard that it does not know
	write            func(s *subject, put func(labels string, value float64))
}

func exposition(d *Dashboard) []byte {
	guards := slices.Clone(d.guards())
	slices.SortFunc(guards, func(a, b *resilient.Guard) int { return strings.Compare(a.Name(), b.Name()) })
	// Two of one name would be one series twice, which Prometheus refuses with all the rest.
	guards = slices.CompactFunc(guards, func(a, b *resilient.Guard) bool { return a.Name() == b.Name() })
	subjects := make([]subject, len(guards))
	for i, guard := range guards {
		subjects[i] = subject{
			label: label("service", guard.Name()), policy: guard.Policy(), snap: guard.Circuit().Snapshot(), counts: d.meter.of(guard.Name()),
		}
	}
	var out bytes.Buffer
	for _, f := range families {
		out.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " " + f.kind + "\n")
		for i := range subjects {
			s := &subjects[i]
			if f.counted && s.counts == nil {
				continue
			}
			f.write(s, func(labels string, value float64) { sample(&out, f.name, s.label, labels, value) })
		}
	}
	return out.Bytes()
}

// sample writes one line. labels are further ones; a suffix of the name may stand before
// them, as in "_bucket,le=…".
func sample(out *bytes.Buffer, name, service, labels string, value float64) {
	suffix, rest, _ := strings.Cut(labels, ",")
	out.WriteString(name + suffix + "{" + service)
	if rest != "" {
		out.WriteString("," + rest)
	}
	out.WriteString("} " + strconv.FormatFloat(value, 'f', -1, 64) + "\n")
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func label(name, value string) string { return name + `="` + escapes.Replace(value) + `"` }

// states are all that stoic_circuit_state knows.
var states = []string{
	breaker.Closed.String(), breaker.Open.String(), probeDue, breaker.HalfOpen.String(),
	breaker.ForcedOpen.String(), breaker.ForcedClosed.String(), breaker.Disabled.String(),
}

var families = []family{
	{"stoic_calls_total", "counter", "Calls that ended, by how.", true, func(s *subject, put func(string, float64)) {
		t := &s.counts.totals
		put(`,result="success"`, float64(t.succeeded.Load()))
		put(`,result="error"`, float64(t.failed.Load()))
		put(`,result="rejected"`, float64(t.refused.Load()))
	}},
	{"stoic_call_duration_seconds", "histogram", "How long calls took that made an attempt, waits included.", true, writeDurations},
	{"stoic_attempts_total", "counter", "Attempts, by what they say about the dependency.", true, func(s *subject, put func(string, float64)) {
		for o := breaker.Success; o <= breaker.Neutral; o++ {
			put(","+label("outcome", o.String()), float64(s.counts.totals.attempts[o].Load()))
		}
	}},
	{"stoic_retries_total", "counter", "Retries that were scheduled.", true, func(s *subject, put func(string, float64)) {
		put("", float64(s.counts.totals.retries.Load()))
	}},
	{"stoic_retry_delay_seconds_total", "counter", "Waits before them.", true, func(s *subject, put func(string, float64)) {
		put("", nanoseconds(s.counts.totals.delay.Load()))
	}},
	{"stoic_rejections_total", "counter", "Attempts that a circuit refused, by its state.", true, func(s *subject, put func(string, float64)) {
		for _, state := range []breaker.State{breaker.Open, breaker.HalfOpen, breaker.ForcedOpen} {
			put(","+label("state", state.String()), float64(s.counts.totals.rejected[state].Load()))
		}
	}},
	{"stoic_late_results_total", "counter", "Results that came too late to count.", true, func(s *subject, put func(string, float64)) {
		put("", float64(s.counts.totals.late.Load()))
	}},
	{"stoic_fallovers_total", "counter", "Calls that went on to an alternative.", true, func(s *subject, put func(string, float64)) {
		put("", float64(s.counts.totals.fellOver.Load()))
	}},
	{"stoic_circuit_changes_total", "counter", "Transitions of the circuit, by the state they led to.", true, func(s *subject, put func(string, float64)) {
		for state := breaker.Closed; state <= breaker.Disabled; state++ {
			put(","+label("to", state.String()), float64(s.counts.totals.changes[state].Load()))
		}
	}},
	{"stoic_circuit_state", "gauge", "The circuit's state: 1 for the one that it is in.", false, func(s *subject, put func(string, float64)) {
		for _, state := range states {
			put(","+label("state", state), one(state == stateOf(&s.snap)))
		}
	}},
	{"stoic_circuit_since_seconds", "gauge", "When the state began, since 1970; 0 if it never changed.", false, func(s *subject, put func(string, float64)) {
		put("", epoch(s.snap.Since))
	}},
	{"stoic_circuit_until_seconds", "gauge", "When the state ends by itself, since 1970; 0 if it does not.", false, func(s *subject, put func(string, float64)) {
		if s.snap.Force != breaker.NoForce {
			put("", epoch(s.snap.ForceUntil))
			return
		}
		put("", epoch(s.snap.Until))
	}},
	{"stoic_circuit_generation", "gauge", "How often in a row the circuit has opened without closing.", false, func(s *subject, put func(string, float64)) {
		put("", float64(s.snap.Generation))
	}},
	{"stoic_circuit_failures", "gauge", "Failures that the state rests on.", false, func(s *subject, put func(string, float64)) {
		put("", float64(s.snap.Failures))
	}},
	{"stoic_circuit_probes", "gauge", "Half-open permits that are out.", false, func(s *subject, put func(string, float64)) {
		put("", float64(s.snap.Probes))
	}},
	{"stoic_circuit_recovery_timeout_seconds", "gauge", "How long the circuit stays open the first time.", false, func(s *subject, put func(string, float64)) {
		put("", s.policy.Circuit.RecoveryTimeout.Seconds())
	}},
	{"stoic_circuit_lease_seconds", "gauge", "How long a silent probe keeps its place, of an operation without limits of its own.", false, func(s *subject, put func(string, float64)) {
		put("", s.policy.Circuit.LeaseFor(s.policy.AttemptLimit()).Seconds())
	}},
	{"stoic_circuit_observing", "gauge", "1 if the circuit only observes, and refuses nothing.", false, func(s *subject, put func(string, float64)) {
		put("", one(s.snap.Observe))
	}},
	{"stoic_circuit_would_reject", "gauge", "Attempts that a circuit which observes would have refused, since it was made or reset.", false, func(s *subject, put func(string, float64)) {
		put("", float64(s.snap.WouldReject))
	}},
	{"stoic_circuit_window", "gauge", "Calls in the window of a closed circuit; 0 where no rule looks at one.", false, func(s *subject, put func(string, float64)) {
		put(`,calls="all"`, float64(s.snap.Window.Calls))
		put(`,calls="failed"`, float64(s.snap.Window.Failures))
		put(`,calls="slow"`, float64(s.snap.Window.Slow))
	}},
	{"stoic_circuit_sharing", "gauge", "How the circuit stands with those of other processes: 1 for the one that it is.", false, func(s *subject, put func(string, float64)) {
		for mode := breaker.Alone; mode <= breaker.Lost; mode++ {
			put(","+label("mode", mode.String()), one(mode == s.snap.Sharing))
		}
	}},
}

func writeDurations(s *subject, put func(string, float64)) {
	t := &s.counts.totals
	var below uint64
	for i, bound := range bounds {
		below += t.upTo[i].Load()
		put("_bucket,"+label("le", strconv.FormatFloat(bound.Seconds(), 'f', -1, 64)), float64(below))
	}
	below += t.upTo[len(bounds)].Load()
	put(`_bucket,le="+Inf"`, float64(below))
	put("_sum", nanoseconds(t.took.Load()))
	put("_count", float64(below))
}

func nanoseconds(n uint64) float64 { return float64(n) / float64(time.Second) }

func epoch(t time.Time) float64 { return float64(millis(t)) / 1000 }

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
