package breaker

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// Settings say when a circuit opens and how it recovers. They are a plain
// value: comparable, copied freely, safe to share. The zero value is not valid;
// start from [DefaultSettings].
type Settings struct {
	// Enabled false switches the circuit off: it admits everything and counts
	// nothing.
	Enabled bool
	// FailureThreshold is the number of consecutive failures that opens the
	// circuit: 1 … 1 000 000.
	FailureThreshold int
	// RecoveryTimeout is how long the circuit stays open the first time:
	// > 0 … 24 h.
	RecoveryTimeout time.Duration
	// Cooldown is the least time between two entries into half-open: 0 … 24 h.
	Cooldown time.Duration
	// MaxProbes is how many probes may be out at a time in half-open: 1 … 100.
	MaxProbes int
	// SuccessesToClose is how many probes must succeed in a row: 1 … 100. With 1, a
	// dependency that fails some of its calls flaps: each lucky probe closes the
	// circuit. One that fails three in ten passes one probe in 70 % of the tries, and
	// five in 17 %.
	SuccessesToClose int
	// RecoveryMultiplier lets the open time grow with each failed recovery:
	// 1 (fixed) … 100.
	RecoveryMultiplier float64
	// MaxRecoveryTimeout caps the growing open time: RecoveryTimeout … 24 h.
	MaxRecoveryTimeout time.Duration
	// ProbeLease lengthens the time after which a silent probe's place is given
	// to another: 0 (derived from the call's own limit) … 24 h. It never
	// shortens it.
	ProbeLease time.Duration
	// MinReporters is how many replicas must find the dependency broken before a
	// shared circuit opens for all of them: 1 … 100. Below that number a replica opens
	// its own only. It means nothing to a circuit without a store.
	MinReporters int
	// Local keeps the circuit in this process, whatever store there is.
	Local bool
}

// The ends of the ranges that Validate holds.
const (
	maxThreshold  = 1_000_000
	maxProbes     = 100
	maxMultiplier = 100.0
	maxReporters  = 100
	maxTime       = 24 * time.Hour
)

// DefaultSettings are those of a service about which nothing else is said: five
// failures in a row open the circuit for a minute, one probe closes it.
func DefaultSettings() Settings {
	return Settings{
		Enabled:            true,
		FailureThreshold:   5,
		RecoveryTimeout:    60 * time.Second,
		Cooldown:           30 * time.Second,
		MaxProbes:          1,
		SuccessesToClose:   1,
		RecoveryMultiplier: 1,
		MaxRecoveryTimeout: maxTime,
		MinReporters:       1,
	}
}

// Validate returns nil, or one error, of one line, that names every field out of its
// range.
func (s Settings) Validate() error {
	var faults []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	check(s.FailureThreshold >= 1 && s.FailureThreshold <= maxThreshold,
		"FailureThreshold is %d, want 1 … %d", s.FailureThreshold, maxThreshold)
	check(s.RecoveryTimeout > 0 && s.RecoveryTimeout <= maxTime,
		"RecoveryTimeout is %v, want more than 0 and at most %v", s.RecoveryTimeout, maxTime)
	check(s.Cooldown >= 0 && s.Cooldown <= maxTime,
		"Cooldown is %v, want 0 … %v", s.Cooldown, maxTime)
	check(s.MaxProbes >= 1 && s.MaxProbes <= maxProbes,
		"MaxProbes is %d, want 1 … %d", s.MaxProbes, maxProbes)
	check(s.SuccessesToClose >= 1 && s.SuccessesToClose <= maxProbes,
		"SuccessesToClose is %d, want 1 … %d", s.SuccessesToClose, maxProbes)
	check(s.RecoveryMultiplier >= 1 && s.RecoveryMultiplier <= maxMultiplier, // NaN fails both
		"RecoveryMultiplier is %v, want 1 … %v", s.RecoveryMultiplier, maxMultiplier)
	check(s.MaxRecoveryTimeout >= s.RecoveryTimeout && s.MaxRecoveryTimeout <= maxTime,
		"MaxRecoveryTimeout is %v, want RecoveryTimeout (%v) … %v", s.MaxRecoveryTimeout, s.RecoveryTimeout, maxTime)
	check(s.ProbeLease >= 0 && s.ProbeLease <= maxTime,
		"ProbeLease is %v, want 0 … %v", s.ProbeLease, maxTime)
	check(s.MinReporters >= 1 && s.MinReporters <= maxReporters,
		"MinReporters is %d, want 1 … %d", s.MinReporters, maxReporters)
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// openFor is how long a circuit of the given generation stays open:
//
//	min(RecoveryTimeout · RecoveryMultiplier^(generation-1), MaxRecoveryTimeout)
//
// What is not finite or would overflow is the maximum.
func (s Settings) openFor(generation int) time.Duration {
	grown := float64(s.RecoveryTimeout) * math.Pow(s.RecoveryMultiplier, float64(generation-1))
	if !(grown < float64(s.MaxRecoveryTimeout)) { // the negation also catches NaN
		return s.MaxRecoveryTimeout
	}
	return time.Duration(grown)
}

// Without a guard round it, a probe may take as long as the longest guarded call.
const longestCall = 300 * time.Second

// leaseFor is how long a probe keeps its place when the call round it may take
// limit: long enough that a probe which hangs until its limit still settles in
// time, since otherwise it would always settle too late.
func (s Settings) leaseFor(limit time.Duration) time.Duration {
	if limit <= 0 {
		limit = longestCall
	}
	lease := addTime(limit, max(time.Second, limit/10))
	return max(lease, s.ProbeLease)
}

// addTime is a + b, at most the longest duration; b is not negative.
func addTime(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
