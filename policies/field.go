package policies

import (
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// A field is one setting: what it is called wherever it can be written, and how to
// get at it. All that reads, checks, lays or shows settings goes over the table of
// fields, so that a setting is added in one place.
type field struct {
	section  string   // of an override: "retry", "circuit_breaker", or ""
	key      string   // in that section
	aliases  []string // other spellings that are accepted there
	config   string   // the key of a Config; "" if it exists in overrides only
	variable string   // the environment variable, after the prefix; "" likewise
	access
}

// path names the field in an override.
func (f *field) path() string {
	if f.section == "" {
		return f.key
	}
	return f.section + "." + f.key
}

// access gets at one field of a patch and of a policy.
type access interface {
	isSet(p *Patch) bool
	clear(p *Patch)
	copy(from, to *Patch)
	// read takes a value as it was written (see value) and checks it.
	read(value any, to *Patch) *fault
	// check looks at the range of a value that is set.
	check(p *Patch) *fault
	// wire is a set value as JSON has it.
	wire(p *Patch) any
	apply(p *Patch, onto *resilient.Policy)
	// show is the policy's value for people.
	show(p *resilient.Policy) string
}

// slot is access to a field of type T.
type slot[T any] struct {
	in func(*Patch) **T
	of func(*resilient.Policy) []*T // more than one where a key sets several
	kind[T]
}

// kind is how values of a field's type are read, checked and written.
type kind[T any] struct {
	parse func(value any) (T, *fault)
	limit func(T) *fault
	json  func(T) any
	text  func(T) string
}

func (s slot[T]) isSet(p *Patch) bool { return *s.in(p) != nil }
func (s slot[T]) clear(p *Patch)      { *s.in(p) = nil }

func (s slot[T]) copy(from, to *Patch) {
	if v := *s.in(from); v != nil {
		*s.in(to) = new(*v)
	}
}

func (s slot[T]) read(value any, to *Patch) *fault {
	v, bad := s.parse(value)
	if bad == nil {
		bad = s.limit(v)
	}
	if bad == nil {
		*s.in(to) = &v
	}
	return bad
}

func (s slot[T]) check(p *Patch) *fault {
	if v := *s.in(p); v != nil {
		return s.limit(*v)
	}
	return nil
}

func (s slot[T]) wire(p *Patch) any { return s.json(**s.in(p)) }

func (s slot[T]) apply(p *Patch, onto *resilient.Policy) {
	if v := *s.in(p); v != nil {
		for _, to := range s.of(onto) {
			*to = *v
		}
	}
}

func (s slot[T]) show(p *resilient.Policy) string {
	all := s.of(p)
	text := s.text(*all[0])
	for _, v := range all[1:] {
		// The fields under one key can differ when the policy was set in code.
		if other := s.text(*v); other != text {
			text += " and " + other
		}
	}
	return text
}

const (
	sectionRetry   = "retry"
	sectionCircuit = "circuit_breaker"
)

// fields is the table. Nothing writes to it.
var fields = []field{
	{
		section: sectionRetry, key: "max_attempts", config: "retry_max_attempts", variable: "RETRY_MAX_ATTEMPTS",
		access: slot[int]{
			in:   func(p *Patch) **int { return &p.Retry.MaxAttempts },
			of:   func(p *resilient.Policy) []*int { return []*int{&p.Retry.MaxAttempts} },
			kind: whole(1, 100),
		},
	},
	{
		section: sectionRetry, key: "base_delay", config: "retry_base_delay", variable: "RETRY_BASE_DELAY",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Retry.BaseDelay },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Retry.BaseDelay} },
			kind: span(0, time.Hour),
		},
	},
	{
		section: sectionRetry, key: "max_delay", config: "retry_max_delay", variable: "RETRY_MAX_DELAY",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Retry.MaxDelay },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Retry.MaxDelay} },
			kind: span(0, day),
		},
	},
	{
		section: sectionRetry, key: "jitter", config: "retry_jitter", variable: "RETRY_JITTER",
		access: slot[bool]{
			in:   func(p *Patch) **bool { return &p.Retry.Jitter },
			of:   func(p *resilient.Policy) []*bool { return []*bool{&p.Retry.Jitter} },
			kind: flag(),
		},
	},
	{
		section: sectionRetry, key: "backoff_strategy", config: "retry_backoff_strategy", variable: "RETRY_BACKOFF_STRATEGY",
		access: slot[resilient.Backoff]{
			in:   func(p *Patch) **resilient.Backoff { return &p.Retry.Backoff },
			of:   func(p *resilient.Policy) []*resilient.Backoff { return []*resilient.Backoff{&p.Retry.Backoff} },
			kind: strategy(),
		},
	},
	{
		section: sectionRetry, key: "retry_on_idempotent_only",
		access: slot[bool]{
			in:   func(p *Patch) **bool { return &p.Retry.IdempotentOnly },
			of:   func(p *resilient.Policy) []*bool { return []*bool{&p.Retry.IdempotentOnly} },
			kind: flag(),
		},
	},
	{
		section: sectionRetry, key: "max_retry_after",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Retry.MaxRetryAfter },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Retry.MaxRetryAfter} },
			kind: span(0, day),
		},
	},
	{
		section: sectionCircuit, key: "enabled",
		access: slot[bool]{
			in:   func(p *Patch) **bool { return &p.Circuit.Enabled },
			of:   func(p *resilient.Policy) []*bool { return []*bool{&p.Circuit.Enabled} },
			kind: flag(),
		},
	},
	{
		section: sectionCircuit, key: "failure_threshold",
		config: "circuit_breaker_failure_threshold", variable: "CB_FAILURE_THRESHOLD",
		access: slot[int]{
			in:   func(p *Patch) **int { return &p.Circuit.FailureThreshold },
			of:   func(p *resilient.Policy) []*int { return []*int{&p.Circuit.FailureThreshold} },
			kind: whole(1, 1_000_000),
		},
	},
	{
		section: sectionCircuit, key: "recovery_timeout",
		config: "circuit_breaker_recovery_timeout", variable: "CB_RECOVERY_TIMEOUT",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Circuit.RecoveryTimeout },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Circuit.RecoveryTimeout} },
			kind: positive(day),
		},
	},
	{
		section: sectionCircuit, key: "cooldown", aliases: []string{"cooldown_seconds"},
		config: "circuit_breaker_cooldown", variable: "CB_COOLDOWN",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Circuit.Cooldown },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Circuit.Cooldown} },
			kind: span(0, day),
		},
	},
	{
		section: sectionCircuit, key: "half_open_max_successes",
		access: slot[int]{
			in: func(p *Patch) **int { return &p.Circuit.HalfOpenMaxSuccesses },
			of: func(p *resilient.Policy) []*int {
				return []*int{&p.Circuit.MaxProbes, &p.Circuit.SuccessesToClose}
			},
			kind: whole(1, 100),
		},
	},
	{
		section: sectionCircuit, key: "recovery_multiplier",
		access: slot[float64]{
			in:   func(p *Patch) **float64 { return &p.Circuit.RecoveryMultiplier },
			of:   func(p *resilient.Policy) []*float64 { return []*float64{&p.Circuit.RecoveryMultiplier} },
			kind: ratio(1, 100),
		},
	},
	{
		section: sectionCircuit, key: "max_recovery_timeout",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Circuit.MaxRecoveryTimeout },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Circuit.MaxRecoveryTimeout} },
			kind: positive(day),
		},
	},
	{
		section: sectionCircuit, key: "probe_lease",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.Circuit.ProbeLease },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.Circuit.ProbeLease} },
			kind: span(0, day),
		},
	},
	{
		section: sectionCircuit, key: "min_reporters",
		access: slot[int]{
			in:   func(p *Patch) **int { return &p.Circuit.MinReporters },
			of:   func(p *resilient.Policy) []*int { return []*int{&p.Circuit.MinReporters} },
			kind: whole(1, 100),
		},
	},
	{
		key: "store",
		access: slot[bool]{
			in:   func(p *Patch) **bool { return &p.Circuit.Local },
			of:   func(p *resilient.Policy) []*bool { return []*bool{&p.Circuit.Local} },
			kind: place(),
		},
	},
	{
		key: "total_timeout",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.TotalTimeout },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.TotalTimeout} },
			kind: positive(resilient.MaxTotalTimeout),
		},
	},
	{
		key: "attempt_timeout",
		access: slot[time.Duration]{
			in:   func(p *Patch) **time.Duration { return &p.AttemptTimeout },
			of:   func(p *resilient.Policy) []*time.Duration { return []*time.Duration{&p.AttemptTimeout} },
			kind: optional(positive(resilient.MaxTotalTimeout)),
		},
	},
}

const day = 24 * time.Hour

// fieldAt finds a field of an override by section and key, or an alias of it.
func fieldAt(section, key string) *field {
	for i := range fields {
		f := &fields[i]
		if f.section == section && (f.key == key || slices.Contains(f.aliases, key)) {
			return f
		}
	}
	return nil
}

// fieldOf finds a field by the key of a Config.
func fieldOf(config string) *field {
	for i := range fields {
		if fields[i].config == config && config != "" {
			return &fields[i]
		}
	}
	return nil
}
