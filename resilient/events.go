package resilient

import (
	"context"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Observer is told of what happens to guarded calls and their circuits.
//
// A call's own events arrive on the goroutine that makes the call, in their
// order, and with that call's context; events of different calls arrive
// concurrently. A circuit's [CircuitChanged] and [StoreChanged] arrive in the order
// in which things happened and one at a time, with a context that is never cancelled
// and has no values. No lock is held: an observer may use the guard. It runs on the way of
// the call and must be quick. What it panics with is logged and goes no further.
type Observer interface {
	Observe(ctx context.Context, event Event)
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(ctx context.Context, event Event)

// Observe calls the function.
func (f ObserverFunc) Observe(ctx context.Context, event Event) { f(ctx, event) }

// CallObserver is an [Observer] that may not need each attempt: [CallDone] tells how many
// there were, the last one's outcome, and so that all before it were failures. It is for
// those that count: a call that succeeds costs an allocation less.
type CallObserver interface {
	Observer
	// CallsOnly is asked once, when a guard is made. If it is true, and of all observers
	// of the guard, they are told of [AttemptDone] only where it is ByHand.
	CallsOnly() bool
}

// Event is one of [AttemptDone], [RetryScheduled], [CallDone], [CallRejected],
// [LateResult], [FellOver], [CircuitChanged] and [StoreChanged]; more may come. Errors in them are found with
// errors.Is and errors.As as usual, and their text has its secrets taken out. Events
// are values; what they point to must not be changed.
type Event interface{ event() }

// Call names the call that an event is about. Secrets are taken out of the names.
type Call struct {
	// Service is the guard's name.
	Service string
	// Operation is the op's name.
	Operation string
}

// AttemptDone says that the function has run.
type AttemptDone struct {
	Call
	// Attempt is 1 for the first.
	Attempt int
	// Outcome is what it says about the dependency.
	Outcome Outcome
	// Err is what it returned; nil for a success.
	Err error
	// Duration is how long it took.
	Duration time.Duration
	// ByHand reports that it is that of a [Permit]: no [CallDone] follows.
	ByHand bool
	// WouldReject is set if the circuit only observes, and would have refused the
	// attempt. Its outcome did not count.
	WouldReject bool
}

// RetryScheduled says that another attempt will be made.
type RetryScheduled struct {
	Call
	// Attempt is the one that failed.
	Attempt int
	// Delay is the wait before the next.
	Delay time.Duration
	// Err is why.
	Err error
}

// CallDone says that a call has ended after at least one attempt.
type CallDone struct {
	Call
	// Attempts is how many were made.
	Attempts int
	// Err is what the caller gets; nil for a success.
	Err error
	// Duration is how long it took, waits included.
	Duration time.Duration
	// Outcome is the last attempt's; all before it were failures.
	Outcome Outcome
}

// CallRejected says that an attempt was refused by the circuit.
type CallRejected struct {
	Call
	// Attempts is how many were made before.
	Attempts int
	// Rejection is what it was refused with; it must not be changed.
	Rejection *RejectedError
}

// LateResult says that an attempt's outcome came too late to count: the circuit
// has changed since, or the probe's lease has lapsed.
type LateResult struct {
	Call
	// Attempt is 1 for the first.
	Attempt int
	// Outcome is what it would have counted as.
	Outcome Outcome
}

// FellOver says that [FirstOf] goes on to the next alternative. The observers of the
// one that did not answer are told.
type FellOver struct {
	Call
	// Next is the name of the next one's guard.
	Next string
	// Err is what the one before ended with.
	Err error
}

// CircuitChanged says that a guard's circuit has changed its state.
type CircuitChanged struct {
	// Transition says how. Its Cause has its secrets taken out.
	breaker.Transition
}

// StoreChanged says that a guard's circuit stands otherwise with those of other processes:
// its store is lost, say, or back. It is told of by what uses the circuit, and by the
// store's own news: a circuit that nobody uses does not notice.
type StoreChanged struct {
	// SharingChange says how. Its Cause has its secrets taken out.
	breaker.SharingChange
}

func (AttemptDone) event()    {}
func (RetryScheduled) event() {}
func (CallDone) event()       {}
func (CallRejected) event()   {}
func (LateResult) event()     {}
func (FellOver) event()       {}
func (CircuitChanged) event() {}
func (StoreChanged) event()   {}
