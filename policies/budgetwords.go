package policies

import (
	"fmt"
	"math"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// budgetName is the budget that the policy names, for people.
func (s *subject) budgetName() string { return "budget " + sanitize.Message(s.policy.Retry.Budget) }

// budgetInWords says what the budget pays for; "" if the policy names none, or repeats
// nothing.
func (s *subject) budgetInWords() string {
	if !s.retries() {
		return ""
	}
	switch rule := s.budget.(type) {
	case resilient.TokenBucket:
		text := fmt.Sprintf("retries draw on %s, with all that name it: when full it pays for %d, or %d of throttled calls",
			s.budgetName(), rule.Capacity/rule.RetryCost, rule.Capacity/rule.ThrottledCost)
		if rule.Refill > 0 {
			text += fmt.Sprintf("; when empty for one after every %d calls that succeed at once", (rule.RetryCost+rule.Refill-1)/rule.Refill)
		}
		return text
	case resilient.CallRatio:
		text := fmt.Sprintf("retries draw on %s, with all that name it: %d within %s in any case", s.budgetName(), rule.Floor, short(rule.Window))
		if pays(rule) {
			text += fmt.Sprintf(", or %v for each call", rule.Ratio)
		}
		return text
	}
	return ""
}

// pays reports whether calls earn retries. A ratio counts in whole millionths.
func pays(rule resilient.CallRatio) bool { return math.Round(rule.Ratio*1e6) > 0 }

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
