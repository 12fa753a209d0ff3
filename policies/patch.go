package policies

import (
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// Patch is a part of a policy: nil fields are absent and leave what is beneath
// them as it is, every other one replaces it, 0 and false included. The zero value
// changes nothing.
//
//	policies.Patch{Retry: policies.RetryPatch{MaxAttempts: new(5), Jitter: new(false)}}
//
// Whatever takes a Patch in this package copies what it points to.
type Patch struct {
	Retry   RetryPatch
	Circuit CircuitPatch
	// TotalTimeout is > 0 … [resilient.MaxTotalTimeout].
	TotalTimeout *time.Duration
	// AttemptTimeout is > 0 … [resilient.MaxTotalTimeout]. Without one in any layer
	// an attempt has no limit of its own.
	AttemptTimeout *time.Duration
}

// RetryPatch is a part of a [resilient.RetryPolicy], which describes the fields.
type RetryPatch struct {
	MaxAttempts    *int
	BaseDelay      *time.Duration
	MaxDelay       *time.Duration
	Jitter         *bool
	Backoff        *resilient.Backoff
	IdempotentOnly *bool
	// MaxRetryAfter is, without one in any layer, the MaxDelay that the layers come
	// to.
	MaxRetryAfter *time.Duration
	// Budget is one of the names in [Options].Budgets; "" is none.
	Budget *string
}

// CircuitPatch is a part of a [resilient.CircuitPolicy], which describes the
// fields.
type CircuitPatch struct {
	Enabled *bool
	// FailureThreshold, FailureRate, SlowCallRate and SlowCallDuration are 0 where the
	// rule is off, which an override writes as "off".
	FailureThreshold *int
	FailureRate      *float64
	SlowCallRate     *float64
	SlowCallDuration *time.Duration
	MinimumCalls     *int
	Window           *time.Duration
	WindowBuckets    *int
	RecoveryTimeout  *time.Duration
	Cooldown         *time.Duration
	// HalfOpenMaxSuccesses sets MaxProbes and SuccessesToClose.
	HalfOpenMaxSuccesses *int
	RecoveryMultiplier   *float64
	MaxRecoveryTimeout   *time.Duration
	RecoveryJitter       *float64
	ProbeLease           *time.Duration
	MinReporters         *int
	// Observe is the key "mode": true is "observe", false "enforce".
	Observe *bool
	// Local is the key "store" of an override, which stands beside the timeouts.
	Local *bool
}

// Apply returns onto with the fields that the patch holds replaced. It checks
// nothing: see [resilient.Policy.Validate].
func (p Patch) Apply(onto resilient.Policy) resilient.Policy {
	for i := range fields {
		fields[i].apply(&p, &onto)
	}
	return onto
}

// clone returns a patch that shares nothing with p.
func (p Patch) clone() Patch {
	var own Patch
	for i := range fields {
		fields[i].copy(&p, &own)
	}
	return own
}
