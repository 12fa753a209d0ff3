package dashboard

import (
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// probeDue is the state of an open circuit whose time has passed: nothing is refused any
// more, but nobody has called since.
const probeDue = "probe-due"

// tile is the state of a guard as it is shown. Times are milliseconds since 1970, 0 is none.
type tile struct {
	Name       string `json:"name"`
	State      string `json:"state"`
	Generation int    `json:"generation"`
	Failures   int    `json:"failures"`
	Successes  int    `json:"successes"`
	Probes     int    `json:"probes"`
	Round      uint64 `json:"round"`
	Since      int64  `json:"since"`
	Until      int64  `json:"until"`
	Failed     int64  `json:"failed"` // when the last failure was
	Cause      string `json:"cause,omitempty"`
	Author     string `json:"author,omitempty"` // of the last order
	Reason     string `json:"reason,omitempty"`
	Sharing    string `json:"sharing,omitempty"` // "" if it is alone
	Observe    bool   `json:"observe,omitempty"` // it admits what it would refuse
	Spared     uint64 `json:"spared,omitempty"`  // attempts that it would have refused
	Rule       string `json:"rule,omitempty"`    // that opened it
}

// stateOf is a circuit's state in one word.
func stateOf(s *breaker.Snapshot) string {
	if s.ProbeDue {
		return probeDue
	}
	return s.State.String()
}

// tileOf looks at a guard. before is how it was seen last; its texts are used again where
// they are the same.
func tileOf(guard *resilient.Guard, before tile) tile {
	s := guard.Circuit().Snapshot()
	t := tile{
		Name: guard.Name(), State: stateOf(&s),
		Generation: s.Generation, Failures: s.Failures, Successes: s.Successes, Probes: s.Probes, Round: s.Round,
		Since: millis(s.Since), Until: millis(s.Until), Failed: millis(s.LastFailure),
		Author: s.Order.Author, Reason: s.Order.Reason, // the circuit has taken secrets out
	}
	t.Observe, t.Spared, t.Rule = s.Observe, s.WouldReject, s.Rule.String()
	if s.Force != breaker.NoForce {
		t.Until = millis(s.ForceUntil)
	}
	if s.Sharing != breaker.Alone {
		t.Sharing = s.Sharing.String()
	}
	switch {
	case s.Cause == nil:
	case before.Cause != "" && before.Failed == t.Failed && before.Round == t.Round:
		t.Cause = before.Cause
	default:
		t.Cause = s.Cause.Error()
	}
	return t
}
