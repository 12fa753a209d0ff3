package toolguard

import "github.com/seed42274fcc/stoic/resilient/breaker"

// Outcome is what a call says about the tool. Only Error counts against it, and only
// Success for it; every other one gives the permit back and changes nothing. The zero
// value is Ignored.
type Outcome uint8

const (
	// Ignored says nothing about the tool: bad arguments, a tool that does not exist, a
	// refusal of the guard's own.
	Ignored Outcome = iota
	// Success says that the tool has done its work, or has answered with a "no".
	Success
	// Error says that the tool did not do its work.
	Error
	// Denied says that somebody may not use it: a permission that was refused.
	Denied
	// Interrupted says that the caller gave up.
	Interrupted
	// Running says that the call goes on elsewhere, or waits for somebody's input.
	Running
)

var outcomeNames = [...]string{"ignored", "success", "error", "denied", "interrupted", "running"}

// String returns the outcome's name in lower case.
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return "unknown"
	}
	return outcomeNames[o]
}

// circuits is what the circuit is told.
func (o Outcome) circuits() breaker.Outcome {
	switch o {
	case Success:
		return breaker.Success
	case Error:
		return breaker.Failure
	default: // an outcome that nobody knows is no reason to withhold a tool
		return breaker.Neutral
	}
}

// WithOutcome marks an error with what it says about the tool, where its type does not:
// WithOutcome(err, Denied) for a 403, WithOutcome(err, Ignored) for arguments that make
// no sense. The mark works through any wrapping and joining, adds no text, and is
// stronger than all else but a panic. WithOutcome(nil, o) is nil.
func WithOutcome(err error, o Outcome) error {
	if err == nil {
		return nil
	}
	return &outcomeMark{error: err, outcome: o}
}

type outcomeMark struct {
	error
	outcome Outcome
}

func (m *outcomeMark) Unwrap() error { return m.error }

// markedOutcome finds the outermost mark.
func markedOutcome(err error) (o Outcome, ok bool) {
	if m, ok := found[*outcomeMark](err); ok && m != nil {
		return m.outcome, true
	}
	return Ignored, false
}
