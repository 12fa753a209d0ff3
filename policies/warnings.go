package policies

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// warnings is the table of what is probably not meant. Nothing writes to it.
var warnings = []rule{
	{
		code:   "attempts-never-made",
		fields: []string{"total_timeout", "retry.max_attempts", "retry.base_delay", "retry.backoff_strategy"},
		find: func(s *subject) (string, string) {
			all, possible := len(s.schedule.Attempts), s.schedule.Possible
			if possible == all {
				return "", ""
			}
			wayOut := fmt.Sprintf("retry.max_attempts %d says what happens; shorter waits leave room for more", possible)
			if needed := s.shortestWaits(); needed < resilient.MaxTotalTimeout {
				wayOut += fmt.Sprintf(", and so does a total_timeout of more than %s", short(needed))
			}
			return fmt.Sprintf("total_timeout %s is over before attempt %d can begin: at most %d of %d attempts are made",
				short(s.policy.TotalTimeout), possible+1, possible, all), wayOut
		},
	},
	{
		code:   "attempt-cut",
		fields: []string{"total_timeout", "attempt_timeout", "retry.max_attempts"},
		find: func(s *subject) (string, string) {
			limit, total := s.policy.AttemptTimeout, s.policy.TotalTimeout
			if limit == 0 || limit >= total {
				return "", ""
			}
			for _, a := range s.schedule.Attempts {
				if a.Never || a.LatestStart <= total-limit {
					continue
				}
				what := "is cut by"
				if a.LatestStart >= total {
					what = "is not made within"
				}
				wayOut := fmt.Sprintf("a shorter attempt_timeout, or retry.max_attempts %d", a.Number-1)
				if needed := s.longestCall(); needed <= resilient.MaxTotalTimeout {
					wayOut += fmt.Sprintf(", or a total_timeout of %s for all %d", short(needed), len(s.schedule.Attempts))
				}
				return fmt.Sprintf("where the attempts before it take their %s and the waits are the longest, attempt %d %s total_timeout %s",
					short(limit), a.Number, what, short(total)), wayOut
			}
			return "", ""
		},
	},
	{
		code:   "attempt-timeout-without-effect",
		fields: []string{"attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			if s.policy.AttemptTimeout < s.policy.TotalTimeout {
				return "", ""
			}
			return fmt.Sprintf("attempt_timeout %s ends no attempt: total_timeout %s is not longer",
				short(s.policy.AttemptTimeout), short(s.policy.TotalTimeout)), "an attempt_timeout that leaves time for another attempt"
		},
	},
	{
		code:   "no-jitter",
		fields: []string{"retry.jitter", "retry.backoff_strategy", "retry.base_delay"},
		find: func(s *subject) (string, string) {
			if !s.several() || s.longestWait() == 0 || s.spreads() {
				return "", ""
			}
			wayOut := "retry.jitter true, or retry.backoff_strategy jitter"
			if s.policy.Retry.Jitter || s.policy.Retry.Backoff == resilient.BackoffJitter {
				wayOut = fmt.Sprintf("a retry.base_delay above %s, the least that is waited anyway", short(s.schedule.Floor))
			}
			return "each wait is equally long in every process, so what has failed together returns together", wayOut
		},
	},
	{
		code:   "retry-without-wait",
		fields: []string{"retry.backoff_strategy", "retry.base_delay", "retry.jitter"},
		find: func(s *subject) (string, string) {
			if !s.retries() || s.longestWait() > 0 {
				return "", ""
			}
			text := "each retry follows at once, on a dependency that has had no time to recover"
			if s.policy.Retry.Jitter {
				text += "; there is nothing for retry.jitter to spread"
			}
			return text, "a strategy that waits, such as exponential, or retry.max_attempts 1"
		},
	},
	{
		code:   "slow-to-open",
		fields: []string{"circuit_breaker.failure_threshold"},
		find: func(s *subject) (string, string) {
			if !s.circuit.Enabled || s.circuit.NineInTen <= patientAttempts {
				return "", ""
			}
			enough := s.circuit.Failures
			for attemptsUntil(enough, 0.9) > patientAttempts {
				enough = min(enough-1, 2*patientAttempts)
			}
			return fmt.Sprintf("a dependency that fails nine attempts in ten passes: %d failures in a row come about after %s attempts on average",
				s.circuit.Failures, count(s.circuit.NineInTen)), fmt.Sprintf("with a failure_threshold of %d at most it is %d", enough, patientAttempts)
		},
	},
	{
		code:   "circuit-ends-retries",
		fields: []string{"circuit_breaker.failure_threshold", "retry.max_attempts"},
		find: func(s *subject) (string, string) {
			threshold, possible := s.circuit.Failures, s.schedule.Possible
			if !s.circuit.Enabled || threshold >= possible {
				return "", ""
			}
			rest := fmt.Sprintf("attempts %d to %d are", threshold+1, possible)
			if threshold+1 == possible {
				rest = fmt.Sprintf("attempt %d is", possible)
			}
			return fmt.Sprintf("failure %d of a single call opens the circuit and so ends the call: %s made only if others succeed meanwhile",
					threshold, rest),
				fmt.Sprintf("a failure_threshold of %d or more, or retry.max_attempts %d", possible, threshold)
		},
	},
	{
		code:   "long-lease",
		fields: []string{"circuit_breaker.probe_lease", "attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			c := s.policy.Circuit
			lease := c.ProbeLease
			c.ProbeLease = 0
			needed := c.LeaseFor(s.policy.AttemptLimit())
			if !s.circuit.Enabled || lease/longLease < needed || lease <= c.RecoveryTimeout {
				return "", ""
			}
			return fmt.Sprintf("a probe that is lost keeps its place for %s, and the circuit may reject everything meanwhile; an attempt needs no more than %s",
				short(lease), short(needed)), "no probe_lease: it follows the time limits by itself"
		},
	},
	{
		code:   "hint-beyond-total",
		fields: []string{"retry.max_retry_after", "total_timeout"},
		find: func(s *subject) (string, string) {
			// What nobody has set follows max_delay, and is no mistake of anybody's.
			if !s.retries() || !s.isSet("retry.max_retry_after") || s.policy.Retry.MaxRetryAfter < s.policy.TotalTimeout {
				return "", ""
			}
			return fmt.Sprintf("max_retry_after %s allows waits that do not fit into total_timeout %s: a call that is asked for one ends",
				short(s.policy.Retry.MaxRetryAfter), short(s.policy.TotalTimeout)), "a max_retry_after below total_timeout"
		},
	},
	{
		code:   "circuit-off",
		fields: []string{"circuit_breaker.enabled"},
		find: func(s *subject) (string, string) {
			idle := s.circuitSettings()
			if s.policy.Circuit.Enabled || len(idle) == 0 {
				return "", ""
			}
			return "the circuit is off, so nothing comes of " + strings.Join(idle, ", "),
				"circuit_breaker.enabled true, or an override without what is idle"
		},
	},
	{
		code:   "reporters-without-store",
		fields: []string{"circuit_breaker.min_reporters", "store"},
		find: func(s *subject) (string, string) {
			if n := s.policy.Circuit.MinReporters; n > 1 && s.policy.Circuit.Enabled && !s.shared {
				return fmt.Sprintf("the circuit is this process's own, so min_reporters %d has no effect", n),
					"a store that the circuit is shared through"
			}
			return "", ""
		},
	},
	{
		code:   "too-few-replicas",
		fields: []string{"circuit_breaker.min_reporters"},
		find: func(s *subject) (string, string) {
			if n := s.policy.Circuit.MinReporters; s.policy.Circuit.Enabled && s.shared && s.replicas > 0 && n > s.replicas {
				return fmt.Sprintf("min_reporters %d is more than there are replicas (%d): the circuit never opens for all", n, s.replicas),
					fmt.Sprintf("a min_reporters of %d at most", s.replicas)
			}
			return "", ""
		},
	},
}

// patientAttempts is how many attempts a dependency that fails nine in ten may take
// on average until its circuit opens.
const patientAttempts = 100

// longLease is how many times longer than needed a lease may be.
const longLease = 10

// shortestWaits is how long all waits take together at least.
func (s *subject) shortestWaits() (sum time.Duration) {
	for _, a := range s.schedule.Attempts {
		sum += a.Shortest
	}
	return sum
}

// longestCall is how long a call would take at most that nothing cuts.
func (s *subject) longestCall() (sum time.Duration) {
	for _, a := range s.schedule.Attempts {
		sum += a.Longest + s.policy.AttemptLimit()
	}
	return sum
}

// spreads reports whether chance has a part in any wait.
func (s *subject) spreads() bool {
	return slices.ContainsFunc(s.schedule.Attempts, func(a Attempt) bool { return a.Shortest < a.Longest })
}

// circuitSettings are what the service alone sets of the circuit, but that it is off.
// What is set for all services has its effect on the others.
func (s *subject) circuitSettings() (keys []string) {
	for _, at := range s.settings {
		own := at.Origin == OriginService || at.Origin == OriginOverride || at.Origin == OriginRunTime
		if own && strings.HasPrefix(at.Key, sectionCircuit+".") && at.Key != sectionCircuit+".enabled" {
			keys = append(keys, at.Key)
		}
	}
	return keys
}

// count is a number of attempts for people.
func count(attempts float64) string {
	if attempts > 1e6 {
		return "over a million"
	}
	return fmt.Sprintf("%.0f", attempts)
}
