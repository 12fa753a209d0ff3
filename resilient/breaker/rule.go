package breaker

import "errors"

// Rule is what made a circuit open. The zero value is NoRule.
type Rule uint8

const (
	// NoRule is where nothing is open, or the circuit is shared and it was another process
	// that opened it: by which rule is not known here.
	NoRule Rule = iota
	// RuleConsecutive is [Settings].FailureThreshold.
	RuleConsecutive
	// RuleFailureRate is Settings.FailureRate.
	RuleFailureRate
	// RuleSlowCalls is Settings.SlowCallRate.
	RuleSlowCalls
	// RuleHold is that the dependency has asked to be left alone: see [Circuit.Withhold].
	RuleHold
	// RuleProbe is that a probe has failed, or was slow.
	RuleProbe
)

var ruleNames = [...]string{"", "consecutive", "failure_rate", "slow_call_rate", "hold", "probe"}

// String returns the rule's name as logs and metrics show it: "consecutive",
// "failure_rate", "slow_call_rate", "hold", "probe", or "" for NoRule.
func (r Rule) String() string { return nameOf(ruleNames[:], int(r)) }

// ErrSlow is the cause of a circuit that was opened by a call which succeeded, but was
// slow (see [Settings].SlowCallDuration).
var ErrSlow = errors.New("the calls are too slow")

// Counts are calls, as a [Settings].Window has them. The zero value is none.
type Counts struct {
	// Calls is how many were settled, as successes or failures.
	Calls uint64
	// Failures is how many of them failed.
	Failures uint64
	// Slow is how many of them were slow, whatever came of them.
	Slow uint64
}
