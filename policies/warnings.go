package policies

import (
	"fmt"
	"math"
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
			if s.circuit.NineInTen <= patientAttempts || s.circuit.nineReach() {
				return "", ""
			}
			enough := s.circuit.Failures
			for attemptsUntil(enough, 0.9) > patientAttempts {
				enough = min(enough-1, 2*patientAttempts)
			}
			return fmt.Sprintf("a dependency that fails nine attempts in ten passes: %d failures in a row come about after %s attempts on average",
				s.circuit.Failures, count(s.circuit.NineInTen)), fmt.Sprintf("with a failure_threshold of %d at most it is %d; or a failure_rate of 0.9 at most", enough, patientAttempts)
		},
	},
	{
		code:   "circuit-ends-retries",
		fields: []string{"circuit_breaker.failure_threshold", "circuit_breaker.minimum_calls", "retry.max_attempts"},
		find: func(s *subject) (string, string) {
			enough, possible := s.circuit.FailingAtOnce.OneCallerAttempts, s.schedule.Possible
			if enough == 0 || enough >= possible || s.circuit.Observes {
				return "", ""
			}
			rest := fmt.Sprintf("attempts %d to %d are", enough+1, possible)
			if enough+1 == possible {
				rest = fmt.Sprintf("attempt %d is", possible)
			}
			return fmt.Sprintf("failure %d of a single call opens the circuit and so ends the call: %s made only if others succeed meanwhile",
					enough, rest),
				fmt.Sprintf("%s of %d or more, or retry.max_attempts %d", s.opensBelow(possible), possible, enough)
		},
	},
	{
		code:   "failures-pass",
		fields: []string{"circuit_breaker.failure_threshold", "circuit_breaker.failure_rate"},
		find: func(s *subject) (string, string) {
			switch o := s.circuit; {
			case !o.Enabled || o.Failures > 0 || o.nineReach():
				return "", ""
			case o.FailureShare.Calls > 0:
				return fmt.Sprintf("a dependency that fails nine attempts in ten passes: failure_rate %v is more than that, and failure_threshold is off",
					o.FailureShare.Rate), "a failure_rate of 0.9 at most, or a failure_threshold beside it"
			}
			return "no rule looks at failures: a dependency that refuses everything at once never opens the circuit",
				"a failure_threshold or a failure_rate beside slow_call_rate"
		},
	},
	{
		code:   "one-failure-opens",
		fields: []string{"circuit_breaker.failure_rate", "circuit_breaker.minimum_calls"},
		find: func(s *subject) (string, string) {
			share := s.circuit.FailureShare
			if share.Bad != 1 || s.circuit.Failures == 1 { // which says so
				return "", ""
			}
			wayOut := fmt.Sprintf("a minimum_calls that the rate is several failures of, such as %d", callsFor(share.Rate))
			if callsFor(share.Rate) <= share.Calls { // no more are possible
				wayOut = fmt.Sprintf("a failure_rate that is several of minimum_calls, such as %v", 5/float64(share.Calls))
			}
			return fmt.Sprintf("a single failure opens the circuit: one of minimum_calls %d reaches failure_rate %v", share.Calls, share.Rate),
				wayOut
		},
	},
	{
		code:   "slow-rule-without-effect",
		fields: []string{"circuit_breaker.slow_call_duration", "attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			slow, limit := s.circuit.SlowFrom, s.policy.AttemptLimit()
			switch {
			case slow == 0 || slow < limit:
				return "", ""
			case slow == limit:
				return fmt.Sprintf("slow_call_duration %s is all that an attempt may take: only those that are cut are slow, and they are failures already",
					short(slow)), fmt.Sprintf("a slow_call_duration below %s", short(limit))
			}
			return fmt.Sprintf("slow_call_duration %s is longer than an attempt may take (%s): none is ever slow", short(slow), short(limit)),
				fmt.Sprintf("a slow_call_duration below %s", short(limit))
		},
	},
	{
		code:   "window-shorter-than-attempt",
		fields: []string{"circuit_breaker.window", "attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			c, limit := s.policy.Circuit, s.policy.AttemptLimit()
			if !s.windowed() || limit <= c.Window || c.MinimumCalls == 1 { // one is always in it when it is judged
				return "", ""
			}
			atATime := math.Ceil(float64(c.MinimumCalls) * float64(limit) / float64(c.Window))
			wayOut := fmt.Sprintf("an attempt_timeout of %s at most", short(c.Window))
			if limit <= time.Hour {
				wayOut += fmt.Sprintf(", or a window of %s", short(limit))
			}
			return fmt.Sprintf("an attempt that hangs counts after %s, longer than window %s: unless they begin together, it takes %.0f callers at a time for minimum_calls %d of them in it",
				short(limit), short(c.Window), atATime, c.MinimumCalls), wayOut
		},
	},
	{
		code:   "no-rule-for-window",
		fields: []string{"circuit_breaker.failure_rate", "circuit_breaker.slow_call_rate"},
		find: func(s *subject) (string, string) {
			idle := slices.DeleteFunc(s.circuitSettings(), func(key string) bool {
				return !slices.Contains([]string{"circuit_breaker.minimum_calls", "circuit_breaker.window", "circuit_breaker.window_buckets"}, key)
			})
			if !s.circuit.Enabled || s.windowed() || len(idle) == 0 {
				return "", ""
			}
			return "no rule looks at a window, so nothing comes of " + strings.Join(idle, ", "), "a failure_rate or a slow_call_rate"
		},
	},
	{
		code:   "lease-without-effect",
		fields: []string{"circuit_breaker.probe_lease", "attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			lease, needed := s.policy.Circuit.ProbeLease, s.neededLease()
			if !s.circuit.Enabled || lease == 0 || lease >= needed {
				return "", ""
			}
			return fmt.Sprintf("probe_lease %s shortens nothing: an attempt may take %s, so a probe keeps its place for %s",
					short(lease), short(s.policy.AttemptLimit()), short(needed)),
				"no probe_lease: it follows the time limits by itself"
		},
	},
	{
		code:   "long-lease",
		fields: []string{"circuit_breaker.probe_lease", "attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			lease, needed := s.policy.Circuit.ProbeLease, s.neededLease()
			if !s.circuit.Enabled || lease/longLease < needed || lease <= s.policy.Circuit.RecoveryTimeout {
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
	{
		code:   "budget-pays-nothing",
		fields: []string{pathBudget},
		find: func(s *subject) (string, string) {
			rule, ok := s.budget.(resilient.CallRatio)
			if !ok || !s.retries() || rule.Floor > 0 || pays(rule) {
				return "", ""
			}
			return fmt.Sprintf("%s never pays for a retry: its ratio is %v and it has no floor", s.budgetName(), rule.Ratio),
				"a ratio or a floor, or retry.max_attempts 1"
		},
	},
	{
		code:   "budget-never-refills",
		fields: []string{pathBudget},
		find: func(s *subject) (string, string) {
			rule, ok := s.budget.(resilient.TokenBucket)
			if !ok || !s.retries() || rule.Refill > 0 {
				return "", ""
			}
			return fmt.Sprintf("%s is never refilled: once %d retries have failed there are no more, for as long as the process lives",
				s.budgetName(), rule.Capacity/rule.RetryCost), "a refill of 1 or more"
		},
	},
	{
		code:   "budget-below-one-call",
		fields: []string{pathBudget, "retry.max_attempts"},
		find: func(s *subject) (string, string) {
			rule, ok := s.budget.(resilient.TokenBucket)
			retries := s.schedule.Possible - 1
			if !ok || rule.Capacity/rule.RetryCost >= retries {
				return "", ""
			}
			return fmt.Sprintf("%s has no more than %s when it is full, and a single call may want %d",
					s.budgetName(), plural(rule.Capacity/rule.RetryCost, "retry", "retries"), retries),
				fmt.Sprintf("a capacity of %d or more, or retry.max_attempts %d", rule.RetryCost*retries, 1+rule.Capacity/rule.RetryCost)
		},
	},
	{
		code:   "capped",
		fields: []string{"retry.max_attempts", "retry.max_delay"},
		find: func(s *subject) (string, string) {
			if s.cap == nil || !s.retries() {
				return "", ""
			}
			attempts := ""
			if s.cap.Attempts > 0 {
				attempts = fmt.Sprintf("attempts to %d and ", s.cap.Attempts)
			}
			return fmt.Sprintf("Options.Cap, which is for tests, holds %swaits to %s: what is said here goes by the policy alone", attempts, short(s.cap.Delay)),
				"no Options.Cap outside of tests"
		},
	},
}

// patientAttempts is how many attempts a dependency that fails nine in ten may take
// on average until its circuit opens.
const patientAttempts = 100

// callsFor is how many calls five failures are that share of.
func callsFor(rate float64) int { return int(min(math.Ceil(5/rate), 1_000_000)) }

// longLease is how many times longer than needed a lease may be.
const longLease = 10

// neededLease is how long a probe keeps its place if no probe_lease says otherwise.
func (s *subject) neededLease() time.Duration {
	c := s.policy.Circuit
	c.ProbeLease = 0
	return c.LeaseFor(s.policy.AttemptLimit())
}

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

// opensBelow names what lets the circuit open with fewer failures in a row than that.
func (s *subject) opensBelow(failures int) string {
	var keys []string
	if n := s.circuit.Failures; n > 0 && n < failures {
		keys = append(keys, "a failure_threshold")
	}
	if n := s.circuit.FailureShare.Calls; n > 0 && n < failures {
		keys = append(keys, "a minimum_calls")
	}
	return strings.Join(keys, " and ")
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
