package resilient

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// MaxTotalTimeout is the longest that a guarded call may take, all attempts and
// waits together.
const MaxTotalTimeout = 300 * time.Second

// Policy says how one service is protected. It is a plain value: comparable,
// printable, copied freely, shared by nobody. It must be complete: start from
// [DefaultPolicy]; the zero value is not valid.
type Policy struct {
	// Retry says which failures are tried again, how often and when.
	Retry RetryPolicy
	// Circuit says when the service is given a rest.
	Circuit CircuitPolicy
	// TotalTimeout ends a call with all its attempts and waits:
	// > 0 … [MaxTotalTimeout].
	TotalTimeout time.Duration
	// AttemptTimeout ends each attempt: > 0 … MaxTotalTimeout; 0 sets none.
	AttemptTimeout time.Duration
}

// CircuitPolicy is the part of a policy that the circuit follows.
type CircuitPolicy = breaker.Settings

// RetryPolicy is the part of a policy that decides on further attempts.
type RetryPolicy struct {
	// MaxAttempts counts the first attempt too: 1 (no retry) … 100.
	MaxAttempts int
	// BaseDelay is what the strategy starts from: 0 … 1 h.
	BaseDelay time.Duration
	// MaxDelay caps every delay: at least BaseDelay and the strategy's floor, at
	// most 24 h.
	MaxDelay time.Duration
	// Backoff is how the delays grow.
	Backoff Backoff
	// Jitter spreads each delay over its upper half, at the cap too, so that
	// callers which failed together do not return together. Full jitter
	// ([BackoffJitter]) is spread already.
	Jitter bool
	// IdempotentOnly keeps retries to the ops that are declared idempotent.
	// Switching it off declares every op of the service to be.
	IdempotentOnly bool
	// MaxRetryAfter is the longest hint of a server (see [RetryAfter]) that a call
	// waits for; a longer one ends it: 0 … 24 h.
	MaxRetryAfter time.Duration
}

const (
	maxAttempts = 100
	maxBase     = time.Hour
	maxDelay    = 24 * time.Hour
)

// DefaultPolicy is the policy of a service about which nothing else is said:
// three attempts with exponential, jittered delays from one second, for
// idempotent ops only; a circuit that opens after five failures in a row; five
// minutes in all.
func DefaultPolicy() Policy {
	return Policy{
		Retry: RetryPolicy{
			MaxAttempts:    3,
			BaseDelay:      time.Second,
			MaxDelay:       60 * time.Second,
			Backoff:        BackoffExponential,
			Jitter:         true,
			IdempotentOnly: true,
			MaxRetryAfter:  60 * time.Second,
		},
		Circuit:      breaker.DefaultSettings(),
		TotalTimeout: MaxTotalTimeout,
	}
}

// AttemptLimit is how long an attempt may take at most, where the op has no limits of
// its own.
func (p Policy) AttemptLimit() time.Duration { return attemptLimit(p.TotalTimeout, p.AttemptTimeout) }

// Validate returns nil, or one error, of one line, that names every field out of its
// range.
func (p Policy) Validate() error {
	if p == (Policy{}) {
		return errors.New("the policy is empty; start from DefaultPolicy")
	}
	var faults []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	r := p.Retry
	check(r.MaxAttempts >= 1 && r.MaxAttempts <= maxAttempts,
		"Retry.MaxAttempts is %d, want 1 … %d", r.MaxAttempts, maxAttempts)
	check(r.BaseDelay >= 0 && r.BaseDelay <= maxBase,
		"Retry.BaseDelay is %v, want 0 … %v", r.BaseDelay, maxBase)
	check(r.Backoff.Valid(), "Retry.Backoff is %q, want one of %v", r.Backoff, Backoffs())
	least := max(r.BaseDelay, r.Backoff.Floor())
	check(r.MaxDelay >= least && r.MaxDelay <= maxDelay,
		"Retry.MaxDelay is %v, want at least %v (BaseDelay, and the floor of %q) and at most %v",
		r.MaxDelay, least, r.Backoff, maxDelay)
	check(r.MaxRetryAfter >= 0 && r.MaxRetryAfter <= maxDelay,
		"Retry.MaxRetryAfter is %v, want 0 … %v", r.MaxRetryAfter, maxDelay)
	if err := p.Circuit.Validate(); err != nil {
		check(false, "Circuit: %v", err)
	}
	check(p.TotalTimeout > 0 && p.TotalTimeout <= MaxTotalTimeout,
		"TotalTimeout is %v, want more than 0 and at most %v", p.TotalTimeout, MaxTotalTimeout)
	check(p.AttemptTimeout >= 0 && p.AttemptTimeout <= MaxTotalTimeout,
		"AttemptTimeout is %v, want 0 (none) … %v", p.AttemptTimeout, MaxTotalTimeout)
	if len(faults) == 0 {
		return nil
	}
	if r.Backoff == "" || p.Circuit == (CircuitPolicy{}) || p.TotalTimeout == 0 { // what nobody chooses
		faults = append(faults, "parts of the policy are empty: start from DefaultPolicy")
	}
	return errors.New(strings.Join(faults, "; "))
}
