package policies

import (
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// notes is the table of what settings come to and may surprise. Nothing writes to it.
var notes = []rule{
	{
		code:   "hang-not-repeated",
		fields: []string{"attempt_timeout", "total_timeout"},
		find: func(s *subject) (string, string) {
			if !s.retries() || s.policy.AttemptTimeout != 0 {
				return "", ""
			}
			return fmt.Sprintf("an attempt that hangs takes all of total_timeout %s and is not repeated, since there is no attempt_timeout",
				short(s.policy.TotalTimeout)), ""
		},
	},
	{
		code:   "repeats-writes",
		fields: []string{"retry.retry_on_idempotent_only"},
		find: func(s *subject) (string, string) {
			if !s.retries() || s.policy.Retry.IdempotentOnly {
				return "", ""
			}
			return "every op is repeated, also those that are not declared idempotent", ""
		},
	},
	{
		code:   "max-delay-never-reached",
		fields: []string{"retry.max_delay"},
		find: func(s *subject) (string, string) {
			r, longest := s.policy.Retry, s.longestWait()
			constant := r.Backoff == resilient.BackoffFixed || r.Backoff == resilient.BackoffLinear || r.Backoff == resilient.BackoffNone
			if !s.retries() || longest >= r.MaxDelay || (constant && !s.isSet("retry.max_delay")) {
				return "", ""
			}
			return fmt.Sprintf("max_delay %s is never reached: the longest wait is %s", short(r.MaxDelay), short(longest)), ""
		},
	},
	{
		code:   "floor-lifts-wait",
		fields: []string{"retry.base_delay", "retry.backoff_strategy"},
		find: func(s *subject) (string, string) {
			r := s.policy.Retry
			if !s.retries() || r.BaseDelay >= s.schedule.Floor {
				return "", ""
			}
			return fmt.Sprintf("base_delay %s is below %s, the least that strategy %s waits", short(r.BaseDelay), short(s.schedule.Floor), r.Backoff), ""
		},
	},
	{
		code:   "linear-is-constant",
		fields: []string{"retry.backoff_strategy"},
		find: func(s *subject) (string, string) {
			if s.policy.Retry.Backoff != resilient.BackoffLinear || s.policy.Retry.MaxAttempts <= 2 {
				return "", ""
			}
			return "strategy linear waits the same each time; what grows is linear_increasing", ""
		},
	},
	{
		code:   "jitter-flag-without-effect",
		fields: []string{"retry.jitter", "retry.backoff_strategy"},
		find: func(s *subject) (string, string) {
			r := s.policy.Retry
			if !s.retries() || r.Jitter || r.Backoff != resilient.BackoffJitter {
				return "", ""
			}
			return "strategy jitter spreads the waits, also with retry.jitter false", ""
		},
	},
	{
		code:   "hint-ends-call",
		fields: []string{"retry.max_retry_after"},
		find: func(s *subject) (string, string) {
			if !s.retries() || s.policy.Retry.MaxRetryAfter > 0 {
				return "", ""
			}
			return "a server that asks for a wait ends the call, since max_retry_after is 0", ""
		},
	},
	{
		code:   "cooldown-never-binds",
		fields: []string{"circuit_breaker.cooldown", "circuit_breaker.recovery_timeout"},
		find: func(s *subject) (string, string) {
			c := s.policy.Circuit
			if !c.Enabled || c.Cooldown == 0 || c.Cooldown > c.OpenFor(1) {
				return "", ""
			}
			return fmt.Sprintf("cooldown %s never binds: the circuit stays open for %s at least", short(c.Cooldown), short(c.OpenFor(1))), ""
		},
	},
	{
		code:   "max-recovery-never-reached",
		fields: []string{"circuit_breaker.max_recovery_timeout", "circuit_breaker.recovery_multiplier"},
		find: func(s *subject) (string, string) {
			if !s.circuit.Enabled || s.circuit.CapGeneration != 0 || !s.isSet("circuit_breaker.max_recovery_timeout") {
				return "", ""
			}
			return fmt.Sprintf("max_recovery_timeout %s is never reached: the open time does not grow",
				short(s.policy.Circuit.MaxRecoveryTimeout)), ""
		},
	},
	{
		code:   "share-needs-calls",
		fields: []string{"circuit_breaker.minimum_calls", "circuit_breaker.window"},
		find: func(s *subject) (string, string) {
			if !s.windowed() {
				return "", ""
			}
			c := s.policy.Circuit
			where := ""
			if s.several() {
				where = " in each process"
			}
			return fmt.Sprintf("shares are judged once there are minimum_calls %d within window %s: that takes an attempt every %s%s",
				c.MinimumCalls, short(c.Window), rough(c.Window/time.Duration(c.MinimumCalls)), where), ""
		},
	},
	{
		code:   "only-observes",
		fields: []string{"circuit_breaker.mode"},
		find: func(s *subject) (string, string) {
			switch {
			case !s.circuit.Enabled || !s.policy.Circuit.Observe:
				return "", ""
			case s.fleet:
				return "the circuit refuses nothing, since mode is observe; it keeps to its process meanwhile, whatever the store", ""
			}
			return "the circuit refuses nothing, since mode is observe", ""
		},
	},
	{
		code:   "retry-budget",
		fields: []string{pathBudget},
		find:   func(s *subject) (string, string) { return s.budgetInWords(), "" },
	},
}
