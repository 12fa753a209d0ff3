package breaker

// State is what a circuit does with the next attempt. The zero value is Closed.
type State uint8

const (
	// Closed admits every attempt and counts its outcome.
	Closed State = iota
	// Open rejects every attempt until the open time has passed.
	Open
	// HalfOpen admits a few probes at a time; their outcomes decide what comes next.
	HalfOpen
	// ForcedOpen rejects every attempt until an operator releases it.
	ForcedOpen
	// ForcedClosed admits every attempt and counts nothing until it is released.
	ForcedClosed
	// Disabled admits every attempt and counts nothing: the circuit is switched
	// off by its settings or by an operator.
	Disabled
)

var stateNames = [...]string{"closed", "open", "half-open", "forced-open", "forced-closed", "disabled"}

// String returns the state's name as logs and metrics show it: "closed",
// "open", "half-open", "forced-open", "forced-closed" or "disabled".
func (s State) String() string { return nameOf(stateNames[:], int(s)) }

// Outcome is what an attempt says about the dependency's health. The zero value
// is Unjudged.
type Outcome uint8

const (
	// Unjudged is a classifier's way of having no opinion. A circuit takes it
	// for a Failure: what nobody vouches for is not health.
	Unjudged Outcome = iota
	// Success says that the dependency answered, be it with a "no".
	Success
	// Failure says that the dependency did not do its work.
	Failure
	// Neutral says nothing about the dependency, as when the caller gave up.
	Neutral
)

var outcomeNames = [...]string{"unjudged", "success", "failure", "neutral"}

// String returns "unjudged", "success", "failure" or "neutral".
func (o Outcome) String() string { return nameOf(outcomeNames[:], int(o)) }

// OutcomeOf is the plainest judgement: nil is a Success, any error a Failure.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return Success
	}
	return Failure
}

// Force is what an operator has put over a circuit's own state. The zero value is
// NoForce.
type Force uint8

const (
	// NoForce leaves the circuit to itself.
	NoForce Force = iota
	// ForceOpen rejects everything.
	ForceOpen
	// ForceClosed admits everything and counts nothing.
	ForceClosed
	// ForceDisabled is ForceClosed under the name that says why: the circuit is off.
	ForceDisabled
)

var forceNames = [...]string{"none", "open", "closed", "disabled"}

// String returns "none", "open", "closed" or "disabled".
func (f Force) String() string { return nameOf(forceNames[:], int(f)) }

// state is the effective state that the force imposes.
func (f Force) state() State {
	return [...]State{ForceOpen: ForcedOpen, ForceClosed: ForcedClosed, ForceDisabled: Disabled}[f]
}

func nameOf(names []string, i int) string {
	if i >= len(names) {
		return "unknown"
	}
	return names[i]
}
