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
	// circuit: 1 … 1 000 000. 0 switches this rule off, which is valid only where
	// another one is on.
	FailureThreshold int
	// FailureRate is the share of failures among the calls of the Window that opens
	// the circuit: 0.000001 … 1. 0 is no such rule. It is judged when a failure is
	// counted, and held exactly: 57 of 100 reach 0.57.
	FailureRate float64
	// SlowCallRate is likewise the share of slow calls, whatever came of them:
	// 0.000001 … 1. 0 is no such rule. It is judged when a slow call is counted. A slow
	// success of a probe counts as a failure while the rule is on.
	SlowCallRate float64
	// SlowCallDuration is how long a call takes, at least, that is slow: > 0 … 24 h. It
	// is set with SlowCallRate; 0 without it. Only [Circuit.SettleSince] knows how long
	// a call took.
	SlowCallDuration time.Duration
	// MinimumCalls is how many settled calls there must be in the Window before
	// FailureRate and SlowCallRate are judged at all: 1 … 1 000 000. It is looked at only
	// where one of them is on, as are Window and WindowBuckets.
	MinimumCalls int
	// Window is how far back FailureRate and SlowCallRate look: 1 s … 1 h. It moves on
	// by a bucket at a time, and begins anew with each closing and each reset, and when
	// it is set to another length.
	Window time.Duration
	// WindowBuckets is the number of parts in which the Window forgets: 2 … 100.
	WindowBuckets int
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
	// five in 17 %; if that many failures open the circuit, it opens about three times
	// as often with one.
	SuccessesToClose int
	// RecoveryMultiplier lets the open time grow with each failed recovery:
	// 1 (fixed) … 100.
	RecoveryMultiplier float64
	// MaxRecoveryTimeout caps the growing open time: RecoveryTimeout … 24 h.
	MaxRecoveryTimeout time.Duration
	// RecoveryJitter lengthens each open time by a share of up to so much of it, but no
	// more than 5 minutes, so that not all that failed together come back together:
	// 0 … 1. It never shortens it, be it the settings' or what the dependency has asked
	// for. All that share a circuit draw the same share; circuits of one name that share
	// none do not.
	RecoveryJitter float64
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
	// Observe lets the circuit judge and open, half-open and close as ever, but reject
	// nothing: what it would have rejected is counted (see [Snapshot].WouldReject), and
	// its outcome is not, as it would not have been made. Only an operator's ForceOpen
	// still rejects. An observing circuit keeps to this process, so that a trial opens
	// nothing for others.
	Observe bool
}

// alone reports whether the circuit keeps to this process.
func (s Settings) alone() bool { return s.Local || s.Observe }

// windowed reports whether a rule looks at the window.
func (s Settings) windowed() bool { return s.FailureRate > 0 || s.SlowCallRate > 0 }

// The ends of the ranges that Validate holds.
const (
	maxThreshold  = 1_000_000
	maxProbes     = 100
	maxMultiplier = 100.0
	maxReporters  = 100
	maxTime       = 24 * time.Hour
	leastRate     = 0.000001
	maxCalls      = 1_000_000
	leastWindow   = time.Second
	maxWindow     = time.Hour
	leastBuckets  = 2 // with one, gobreaker forgets everything at once
	maxBuckets    = 100
)

// DefaultSettings are those of a service about which nothing else is said: five
// failures in a row open the circuit for a minute, one probe closes it. No share is
// looked at; where one is, it is that of at least 20 calls in a minute, forgotten in
// tenths.
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
		MinimumCalls:       20,
		Window:             60 * time.Second,
		WindowBuckets:      10,
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
	s.checkRules(check)
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
	check(s.RecoveryJitter >= 0 && s.RecoveryJitter <= 1, "RecoveryJitter is %v, want 0 … 1", s.RecoveryJitter)
	check(s.ProbeLease >= 0 && s.ProbeLease <= maxTime,
		"ProbeLease is %v, want 0 … %v", s.ProbeLease, maxTime)
	check(s.MinReporters >= 1 && s.MinReporters <= maxReporters,
		"MinReporters is %d, want 1 … %d", s.MinReporters, maxReporters)
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// checkRules looks at what makes the circuit open.
func (s Settings) checkRules(check func(ok bool, format string, args ...any)) {
	check(s.FailureThreshold >= 0 && s.FailureThreshold <= maxThreshold && (s.FailureThreshold > 0 || s.windowed()),
		"FailureThreshold is %d, want 1 … %d, or 0 beside a FailureRate or SlowCallRate", s.FailureThreshold, maxThreshold)
	rate := func(v float64) bool { return v == 0 || (v >= leastRate && v <= 1) } // NaN is neither
	check(rate(s.FailureRate), "FailureRate is %v, want %f … 1, or 0 for no such rule", s.FailureRate, leastRate)
	check(rate(s.SlowCallRate), "SlowCallRate is %v, want %f … 1, or 0 for no such rule", s.SlowCallRate, leastRate)
	check(s.SlowCallDuration >= 0 && s.SlowCallDuration <= maxTime,
		"SlowCallDuration is %v, want more than 0 and at most %v, or 0 for no such rule", s.SlowCallDuration, maxTime)
	check((s.SlowCallRate == 0) == (s.SlowCallDuration == 0),
		"SlowCallRate is %v and SlowCallDuration is %v, want both or neither", s.SlowCallRate, s.SlowCallDuration)
	if !s.windowed() {
		return // the rest says nothing then
	}
	check(s.MinimumCalls >= 1 && s.MinimumCalls <= maxCalls, "MinimumCalls is %d, want 1 … %d", s.MinimumCalls, maxCalls)
	check(s.Window >= leastWindow && s.Window <= maxWindow, "Window is %v, want %v … %v", s.Window, leastWindow, maxWindow)
	check(s.WindowBuckets >= leastBuckets && s.WindowBuckets <= maxBuckets,
		"WindowBuckets is %d, want %d … %d", s.WindowBuckets, leastBuckets, maxBuckets)
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

// longestSpread is what jitter adds at most: enough to part those that would come
// together, and less than any store keeps what it has of an open circuit beyond its time.
const longestSpread = 5 * time.Minute

// spread lengthens an open time by its part of the jitter; luck is 0 … 1.
func (s Settings) spread(open time.Duration, luck float64) time.Duration {
	return addTime(open, min(time.Duration(float64(open)*s.RecoveryJitter*luck), longestSpread))
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
