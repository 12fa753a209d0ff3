package policies

import "time"

// Explanation is what a service's policy comes to: each setting with its origin, when
// attempts are made, when the circuit opens, and what is worth a word about it. It is
// data, made anew by [Registry.Explain], and the caller's own. [Explanation.WriteText]
// writes it for people, [Explanation.MarshalJSON] for programs.
//
// It speaks of ops without limits of their own; of functions that return when their
// context ends, and where not said otherwise ask for no wait ([resilient.RetryAfter]);
// of callers whose deadlines are not earlier than the total timeout's end; and of
// circuits that are closed to begin with; and of retries and circuits that are switched on.
type Explanation struct {
	// Service is its name, with secrets taken out.
	Service string
	// Fallback is set if nothing names the service: it has, or would get, the fallback
	// policy.
	Fallback bool
	// Guard is the name of the guard that its calls go through: its own, or, once there
	// is no room for more, [SharedGuard].
	Guard string
	// RetriesOff and CircuitsOff are set while retries, or circuits, are switched off for
	// all services: see [Registry.Switch].
	RetriesOff, CircuitsOff bool
	// Settings are all there are, in a fixed order.
	Settings []Setting
	// Schedule is when the attempts of a call are made.
	Schedule Schedule
	// Circuit is when the circuit opens, and for how long.
	Circuit CircuitOutlook
	// Notes are what the settings come to and may surprise.
	Notes []Remark
	// Warnings are what is probably not meant.
	Warnings []Remark
}

// Setting is one setting of a service in force, and why it is what it is. It is a
// plain value.
type Setting struct {
	// Key is the setting's path in an override, such as "retry.max_attempts".
	Key string
	// Value is the value in force, for people: "3", "1m", "exponential".
	Value string
	// Origin is the layer that it came from.
	Origin Origin
	// Where is the variable or key that set it in that layer, or "".
	Where string
}

// Schedule is when the attempts of a call are made that is repeated, and how long it
// takes. All times count from the begin of the call.
type Schedule struct {
	// Attempts are those that the policy allows, the first one included. There is at
	// least one.
	Attempts []Attempt
	// Possible is how many of them can be made before the total timeout, when each
	// fails at once.
	Possible int
	// Floor and Cap are the least and the longest wait that the strategy and the policy
	// allow before any retry, be it made or not.
	Floor, Cap time.Duration
	// Once is the longest that a call takes which is not repeated.
	Once time.Duration
	// Longest is the longest that a repeated one takes.
	Longest time.Duration
	// LongestHinted is the same for a service that asks with each failure to be left
	// alone for as long as max_retry_after allows.
	LongestHinted time.Duration
}

// Attempt is one attempt of a [Schedule].
type Attempt struct {
	// Number is 1 for the first.
	Number int
	// Shortest and Longest are the wait before it: equal without jitter, and 0 for the
	// first.
	Shortest, Longest time.Duration
	// EarliestStart is when it begins if all before it fail at once, and all waits are
	// the shortest.
	EarliestStart time.Duration
	// LatestStart is a time that it never begins after: all before it take as long as
	// they may, and all waits are the longest.
	LatestStart time.Duration
	// LatestEnd is a time that it never ends after.
	LatestEnd time.Duration
	// Never is set if the total timeout is over before it could begin. The three times
	// are the total timeout's end then.
	Never bool
}

// CircuitOutlook is when a closed circuit opens, and how it recovers.
// The zero value is that of a circuit that is off.
type CircuitOutlook struct {
	// Enabled is whether there is a circuit at all.
	Enabled bool
	// Observes is set if it only notes what it would refuse, and refuses nothing.
	Observes bool
	// Failures is how many attempts in a row must fail; 0 if no rule looks at that.
	Failures int
	// FailureShare and SlowShare are how many attempts of the window must fail, or be slow,
	// whichever rule comes first.
	FailureShare, SlowShare Share
	// SlowFrom is how long an attempt takes, at least, that is slow; 0 if no rule looks.
	SlowFrom time.Duration
	// FailingAtOnce is for a dependency that refuses everything at once.
	FailingAtOnce Opening
	// Hanging is for a dependency that never answers.
	Hanging Opening
	// NineInTen is for a dependency that fails nine attempts in ten at random: how many
	// attempts it takes on average until there are Failures in a row. 1e12 stands for more
	// than that, 0 for no such rule. Where FailureShare is reached by nine in ten, its
	// Calls are enough, too.
	NineInTen float64
	// Open are the open times by generation, until they grow no more; of a long growth
	// the first twenty.
	Open []OpenTime
	// CapGeneration is the generation from which on they are max_recovery_timeout; 0 if
	// there is none.
	CapGeneration int
	// Lease is how long a silent probe keeps its place.
	Lease time.Duration
}

// Share is a rule that looks at a part of all attempts of a while. Each process counts
// its own, also where the circuit is shared. The zero value is no such rule.
type Share struct {
	// Rate is the part of all attempts.
	Rate float64
	// Bad is how many that are of Calls.
	Bad int
	// Calls is how many attempts there must be in the window, before anything is judged.
	Calls int
	// Window is how far back they count.
	Window time.Duration
}

// Opening is how long it takes until a circuit opens, by who calls. The zero value is
// that of a dependency which no rule opens the circuit for.
type Opening struct {
	// Attempts is how many it takes at least.
	Attempts int
	// ManyCallers is with as many callers at a time: no circuit opens earlier.
	ManyCallers time.Duration
	// OneCallerAttempts is how many it takes with one caller, who makes one repeated call
	// after the other without a pause, and whose waits are all the shortest. It is 0 if his
	// attempts are too seldom, so that the window never has enough of them, as far as the
	// next thousand.
	OneCallerAttempts int
	// OneCaller is how long that takes.
	OneCaller time.Duration
}

// OpenTime is how long a circuit of one generation stays open.
type OpenTime struct {
	// Generation is 1 for the first opening, and grows with each probe that fails.
	Generation int
	// For and LongestFor count from the last failure. They are equal without
	// recovery_jitter.
	For, LongestFor time.Duration
	// AfterProbe and LongestAfterProbe are the time between two probes at the least, and
	// with all of the jitter: the cooldown, where it is longer.
	AfterProbe, LongestAfterProbe time.Duration
}

// Remark is something worth a word about a policy. It is a plain value.
type Remark struct {
	// Code says which: it is stable, lower-case, with hyphens.
	Code string
	// Fields are the keys of the settings that it is about.
	Fields []string
	// Text is one sentence without a full stop.
	Text string
	// WayOut is what can be done about it, likewise; "" if nothing needs to be.
	WayOut string
}
