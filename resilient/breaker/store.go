package breaker

import (
	"context"
	"errors"
	"time"
)

// Store keeps the state of circuits for all processes that share them. A circuit
// with a store ([Options].Store) asks it where the state is to change, and goes on
// by itself while the store cannot be asked.
//
// # Rules for those who write one
//
// A store is safe for concurrent use. [Record.Apply] says what each command does; a
// store either calls it or does the same.
//
//   - Do is one atomic step: what is read and what is written belong together, and
//     no other command on that circuit comes between. Counting a failure and opening
//     the circuit are the same step.
//   - The store's clock decides, and no client's. It is the same for all clients.
//     Should it go backwards, times that lie ahead of it count as now, and
//     [Answer].Clamped says so.
//   - A circuit of which the store knows nothing is closed, in round 0, and healthy.
//     What is never asked for may be forgotten, but not before its open time, its
//     leases and its force have ended and the longest call is over.
//   - A command that arrives a second time, by its ID, changes nothing and is answered
//     as the first was, with the state of the moment. A store remembers at least the
//     last 64 IDs of each circuit.
//   - Rounds never come again, not even when the store has lost its memory: a round
//     is at least the time, in microseconds, at which it began.
//   - A name may hold any characters.
//   - Do returns by the time its context ends, and returns an error then, whether the
//     command was carried out or not. It does not change the call's outcome: a circuit
//     never shows its error to a caller.
//
// Package storetest checks all of it.
type Store interface {
	// Do carries out one command on the circuit of that name and returns the state
	// after it. It returns [ErrGarbled] if what is stored makes no sense, and
	// whatever else keeps it from answering.
	Do(ctx context.Context, circuit string, c Command) (Answer, error)
	// Watch asks for news of the circuit of that name, as far as the store has any,
	// until stop is called, which may be done more than once. They come from any
	// goroutine, one at a time and in order; one that is under way may still arrive
	// after stop has returned. A store without news never calls it.
	Watch(circuit string, news func(News)) (stop func())
	// Terms are what a circuit has to know of the store. They do not change.
	Terms() Terms
}

// Terms are how a circuit is to use a store.
type Terms struct {
	// Timeout is how long an attempt may wait for the store before it is made, and how
	// long to report what came of it; 0 is 50 ms.
	Timeout time.Duration
	// MaxViewAge is how old a circuit's view of the state may become before it is
	// read again, on the way of a call, while no news arrive; 0 is 1 s.
	MaxViewAge time.Duration
	// Strict writes every outcome, so that the count of failures is exact: one
	// command for each call.
	Strict bool
}

// ErrGarbled says that what a store has of a circuit makes no sense. The circuit goes
// on by itself and writes it anew, by [Rebuild]. An answer that breaks the rules (a time
// that lies ahead of the store's, a state that is none) counts as this error.
var ErrGarbled = errors.New("the circuit's stored state is garbled")

// Kind is what a command is to do.
type Kind uint8

const (
	// Read changes nothing, but that a force whose time is over is lifted.
	Read Kind = iota
	// Acquire asks for a permit. Command.ID becomes its token, if it is a probe's.
	Acquire
	// Settle gives a permit back with its outcome.
	Settle
	// Vote says that the trip rule of one replica wants the circuit to open.
	Vote
	// Operate carries out an operator's order.
	Operate
	// Rebuild writes a state anew that was garbled, and changes no other.
	Rebuild
)

var kindNames = [...]string{"read", "acquire", "settle", "vote", "operate", "rebuild"}

// String returns the kind's name in lower case.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

// Command is one step of a shared circuit. Which fields matter depends on Kind.
// Times are as exact as a microsecond.
type Command struct {
	// Kind is what to do.
	Kind Kind
	// ID is made by the client, at random and not 0, and makes a command that is
	// repeated harmless. A probe's is its token, for Acquire and Settle.
	ID uint64
	// Settings are the policy of whoever sends it.
	Settings Settings
	// Lease is how long a probe keeps its place: for Acquire.
	Lease time.Duration
	// Round is the one that the permit or the vote belongs to: for Settle and Vote.
	Round uint64
	// Token is the probe's, 0 if the permit was granted by a closed circuit: for Settle.
	Token uint64
	// Outcome is how the attempt ended: for Settle.
	Outcome Outcome
	// Restart says that the sender has seen a success since it last reported a
	// failure, so that the count begins with this one: for Settle.
	Restart bool
	// Hold is how long the dependency has asked to be left alone: for Settle and Vote. A
	// failure with it opens the circuit at once, for at least so long.
	Hold time.Duration
	// Cause is what failed, with secrets taken out: for Settle, Vote and Rebuild.
	Cause string
	// Failures is how many in a row there were: for Vote and Rebuild.
	Failures int
	// Replica is who votes: one vote for each.
	Replica uint64
	// Order is the operator's: for Operate.
	Order Order
	// View is what the sender knows of the circuit: for Rebuild. Its times are ages.
	View Machine
}

// Answer is what came of a command.
type Answer struct {
	// Record is the circuit's state after it. What only the store needs (votes, IDs)
	// may be missing.
	Record Record
	// Now is the store's time, since the Unix epoch.
	Now time.Duration
	// Granted says that Acquire was given a permit; it belongs to the record's round.
	Granted bool
	// Counted says that Settle was not too late, or that Vote was heard.
	Counted bool
	// Clamped says that times were found that lay ahead of the store's clock.
	Clamped bool
}

// News is what a store tells without being asked.
type News struct {
	// Live says whether news arrive as things happen: then a view does not age.
	Live bool
	// Answer is a state; nil if there is none to tell.
	Answer *Answer
	// Fresh says that Answer was read just now, and holds whatever its round. Without
	// it, it holds only if its round is higher than what is known, or the same and the
	// store's time later.
	Fresh bool
}

// Order is what an operator wants of a circuit, in the whole fleet if it is shared.
type Order struct {
	// Force is what to put over the circuit; NoForce releases it.
	Force Force
	// Reset closes the circuit, lifts any force, and clears the counts and times.
	// Force is NoForce then.
	Reset bool
	// Author and Reason are for those who wonder later. Both are wanted; secrets in
	// them are taken out.
	Author, Reason string
	// For is how long the force holds: more than 0 and at most [LongestOrder], unless
	// Force is NoForce.
	For time.Duration
}

// LongestOrder is how long a force can hold without being renewed.
const LongestOrder = 30 * 24 * time.Hour

// Validate returns nil, or an error that says what is missing.
func (o Order) Validate() error {
	switch {
	case o.Author == "":
		return errors.New("an order needs an Author")
	case o.Reason == "":
		return errors.New("an order needs a Reason")
	case o.Reset && o.Force != NoForce:
		return errors.New("an order is either a Reset or a Force")
	case o.Force > ForceDisabled:
		return errors.New("an order's Force is none of the four")
	case o.Force != NoForce && (o.For <= 0 || o.For > LongestOrder):
		return errors.New("an order's force needs an end: For is more than 0 and at most 720h")
	}
	return nil
}
