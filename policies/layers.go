package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
)

// Origin says which layer a setting in force came from. The zero value is none of
// them.
type Origin string

const (
	// OriginLibrary is [resilient.DefaultPolicy].
	OriginLibrary Origin = "library default"
	// OriginService is the service's own patch in [Defaults].
	OriginService Origin = "default of the service"
	// OriginFallback is the patch for services without one of their own.
	OriginFallback Origin = "fallback default"
	// OriginAll is what is set for all services: environment variables, or the
	// fields of a [Config].
	OriginAll Origin = "setting for all services"
	// OriginOverride is the service's override.
	OriginOverride Origin = "override of the service"
	// OriginRunTime is a [resilient.Guard.SetPolicy] since then.
	OriginRunTime Origin = "changed at run time"
)

// layer is one of the patches that a policy is laid from.
type layer struct {
	origin Origin
	patch  Patch
	where  func(*field) string // what the layer's author calls a field
}

// laid is what layers came to.
type laid struct {
	policy   resilient.Policy
	layers   []layer // without what was skipped
	findings []Finding
}

// A bond is a rule that spans fields. It can be checked only when all layers are
// known: a cap below the base is fine if another layer lowers the base.
type bond struct {
	fields   []string // paths
	conflict func(p resilient.Policy) string
}

// bonds is the table of rules, in the order in which they are looked at: what one of them
// takes away, the next ones see. Nothing writes to it.
var bonds = []bond{
	{
		fields: []string{"retry.base_delay", "retry.max_delay", "retry.backoff_strategy"},
		conflict: func(p resilient.Policy) string {
			switch r := p.Retry; {
			case r.MaxDelay < r.BaseDelay:
				return fmt.Sprintf("max_delay %v is below base_delay %v", r.MaxDelay, r.BaseDelay)
			case r.MaxDelay < r.Backoff.Floor():
				return fmt.Sprintf("max_delay %v is below %v, the floor of strategy %s", r.MaxDelay, r.Backoff.Floor(), r.Backoff)
			}
			return ""
		},
	},
	{
		fields: []string{"circuit_breaker.recovery_timeout", "circuit_breaker.max_recovery_timeout"},
		conflict: func(p resilient.Policy) string {
			if c := p.Circuit; c.MaxRecoveryTimeout < c.RecoveryTimeout {
				return fmt.Sprintf("max_recovery_timeout %v is below recovery_timeout %v", c.MaxRecoveryTimeout, c.RecoveryTimeout)
			}
			return ""
		},
	},
	{
		fields: []string{"circuit_breaker.slow_call_rate", "circuit_breaker.slow_call_duration"},
		conflict: func(p resilient.Policy) string {
			switch c := p.Circuit; {
			case c.SlowCallRate > 0 && c.SlowCallDuration == 0:
				return "slow_call_rate is set and slow_call_duration is not"
			case c.SlowCallRate == 0 && c.SlowCallDuration > 0:
				return "slow_call_duration is set and slow_call_rate is not"
			}
			return ""
		},
	},
	{
		fields: []string{"circuit_breaker.failure_threshold", "circuit_breaker.failure_rate", "circuit_breaker.slow_call_rate", "circuit_breaker.slow_call_duration"},
		conflict: func(p resilient.Policy) string {
			if c := p.Circuit; c.FailureThreshold == 0 && c.FailureRate == 0 && c.SlowCallRate == 0 {
				return "no rule is left that opens the circuit: failure_threshold, failure_rate and slow_call_rate are off"
			}
			return ""
		},
	},
}

// lay applies the layers, lowest first, to the library's default. While a bond is
// broken, the latest layer that touches one of its fields is skipped for all of
// them. That ends, since each step takes a layer's fields away and the library's
// default keeps every bond; the result is valid if the layers' fields are within
// their ranges.
func lay(service string, layers []layer) laid {
	l := laid{layers: slices.Clone(layers)} // patches are values: clearing a field here clears it nowhere else
	for _, b := range bonds {
		for {
			reason := b.conflict(l.apply())
			if reason == "" {
				break
			}
			found, ok := l.skipLatest(service, b, reason)
			if !ok {
				break
			}
			l.findings = append(l.findings, found)
		}
	}
	l.policy = l.apply()
	return l
}

func (l *laid) apply() resilient.Policy {
	p := resilient.DefaultPolicy()
	hinted := false
	for i := range l.layers {
		patch := &l.layers[i].patch
		p = patch.Apply(p)
		hinted = hinted || patch.Retry.MaxRetryAfter != nil
	}
	if !hinted {
		p.Retry.MaxRetryAfter = p.Retry.MaxDelay
	}
	return p
}

// skipLatest takes the bond's fields out of the latest layer that has one.
func (l *laid) skipLatest(service string, b bond, reason string) (Finding, bool) {
	for i := len(l.layers) - 1; i >= 0; i-- {
		layer := &l.layers[i]
		var where []string
		for j := range fields {
			f := &fields[j]
			if slices.Contains(b.fields, f.path()) && f.isSet(&layer.patch) {
				f.clear(&layer.patch)
				where = append(where, layer.where(f))
			}
		}
		if len(where) > 0 {
			return newFinding(service, strings.Join(where, ", "), KindConflict,
				fmt.Sprintf("%s; this part of the %s is skipped", reason, layer.origin)), true
		}
	}
	return Finding{}, false
}

// origin returns the layer whose value of the field is in force.
func (l *laid) origin(f *field) (Origin, string) {
	for i := len(l.layers) - 1; i >= 0; i-- {
		if layer := &l.layers[i]; f.isSet(&layer.patch) {
			return layer.origin, layer.where(f)
		}
	}
	return OriginLibrary, ""
}
