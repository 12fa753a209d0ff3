package resilient

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/sanitize"
)

// callContext is the context that a guarded function is called with, and the only
// thing that a call which succeeds allocates. It carries the nesting scope and
// the earliest of three deadlines: the caller's, the call's, the attempt's.
//
// A function that never asks for Done pays for no timer. Once one asks, a real
// cancel context is made inside and answers from then on; it is found by
// context.WithCancel and its kind, so that children start no goroutine.
type callContext struct {
	context.Context // the caller's

	plan      *plan // tells the limits too, unless Context is an *ownLimits
	operation string
	deadline  time.Duration // on the circuit's clock
	inner     atomic.Pointer[cancelContext]
	state     atomic.Uint32 // twice the attempts before this one; odd once over
	flags     ctxFlags
}

// ownLimits is what stands between a call's context and the caller's where the plan
// does not tell all: where the op has limits of its own, or an attempt has one. So the
// context of any other call is small.
type ownLimits struct {
	context.Context               // the caller's
	total           time.Duration // how long the call may take
	each            time.Duration // how long an attempt may take; 0 is no limit
	end             time.Duration // when the call must be over, on the circuit's clock
}

// cancelContext is a cancel context together with its cancel function.
type cancelContext struct {
	context.Context
	cancel context.CancelFunc
}

// ctxFlags are set when the context is made. Above the flags stand the lower bits of
// the circuit's round, for a probe.
type ctxFlags uint32

const (
	ctxRetrying     ctxFlags = 1 << iota // the call may make further attempts
	ctxLimitTotal                        // the call's end is the total timeout's
	ctxLimitAttempt                      // the deadline is the attempt's, not the call's end
	ctxProbe                             // the attempt is a probe

	ctxRoundShift = iota
)

// probeFlags mark a probe of that round.
func probeFlags(round uint64) ctxFlags { return ctxProbe | ctxFlags(round)<<ctxRoundShift }

// isProbe reports whether the attempt is a probe of that round.
func (f ctxFlags) isProbe(round uint64) bool {
	const others = ctxRetrying | ctxLimitTotal | ctxLimitAttempt
	return f&^others == probeFlags(round)
}

// ours reports whether the deadline is one of ours, and not the caller's.
func (f ctxFlags) ours() bool { return f&(ctxLimitTotal|ctxLimitAttempt) != 0 }

// finish ends the context: what was started in it is to stop, and its scope
// counts no more.
func (c *callContext) finish() {
	c.state.Store(c.state.Load() | 1) // the call's goroutine is the only writer
	if in := c.inner.Load(); in != nil {
		in.cancel()
	}
}

// over reports whether the call, or the attempt that the context was made for, has
// returned.
func (c *callContext) over() bool { return c.state.Load()&1 != 0 }

// number is the attempt's: 1 for the first.
func (c *callContext) number() int { return int(c.state.Load()/2) + 1 }

// begin makes the context that of attempt n.
func (c *callContext) begin(n int) { c.state.Store(uint32(n-1) * 2) }

// guard is the call's.
func (c *callContext) guard() *Guard { return c.plan.guard }

// caller is the caller's context itself. What is made of it asks it for more than a
// context must have, such as an AfterFunc of its own, which spares a goroutine.
func (c *callContext) caller() context.Context {
	if own, ok := c.Context.(*ownLimits); ok {
		return own.Context
	}
	return c.Context
}

// limits are how long the call and an attempt may take (0 is no limit), and when the
// call must be over.
func (c *callContext) limits() (total, each, end time.Duration) {
	if own, ok := c.Context.(*ownLimits); ok {
		return own.total, own.each, own.end
	}
	return c.plan.policy.TotalTimeout, 0, c.deadline
}

// timeout is the error that stands for the deadline; nil if that is the caller's.
func (c *callContext) timeout() *TimeoutError {
	total, each, _ := c.limits()
	switch {
	case c.flags&ctxLimitAttempt != 0:
		return &TimeoutError{Limit: LimitAttempt, After: each}
	case c.flags&ctxLimitTotal != 0:
		return &TimeoutError{Limit: LimitTotal, After: total}
	default:
		return nil
	}
}

// timeoutAt is the error of a deadline of ours that has passed at now; nil if none
// has.
func (c *callContext) timeoutAt(now time.Duration) *TimeoutError {
	if now < c.deadline {
		return nil
	}
	return c.timeout()
}

// real returns the cancel context inside and makes it at the first time.
func (c *callContext) real() *cancelContext {
	if in := c.inner.Load(); in != nil {
		return in
	}
	made := new(cancelContext)
	if timeout := c.timeout(); timeout != nil && !c.over() { // what has returned ended by that
		made.Context, made.cancel = context.WithDeadlineCause(c.caller(), c.guard().circuit.Time(c.deadline), timeout)
	} else {
		made.Context, made.cancel = context.WithCancel(c.caller())
	}
	if !c.inner.CompareAndSwap(nil, made) {
		made.cancel()
		return c.inner.Load()
	}
	// finish sets the bit before it looks for the inner context, and this looks for
	// the bit after it has set the inner context: one of the two cancels it.
	if c.over() {
		made.cancel()
	}
	return made
}

// Deadline is the earliest of the deadlines.
func (c *callContext) Deadline() (time.Time, bool) {
	if !c.flags.ours() {
		return c.Context.Deadline()
	}
	return c.guard().circuit.Time(c.deadline), true
}

// Done is closed when the caller's context ends, a limit is reached, or the call
// returns.
func (c *callContext) Done() <-chan struct{} { return c.real().Done() }

// Err is nil until Done is closed.
func (c *callContext) Err() error {
	if in := c.inner.Load(); in != nil {
		return in.Err()
	}
	if c.over() || c.Context.Err() != nil || c.flags.ours() && c.guard().circuit.Now() >= c.deadline {
		return c.real().Err() // what has ended must stay ended, with Done closed and a cause
	}
	return nil
}

// Value finds the scope under [nesting.Key], and all else in the caller's context.
func (c *callContext) Value(key any) any {
	if key == (nesting.Key{}) {
		return c
	}
	if in := c.inner.Load(); in != nil {
		return in.Value(key) // where the children of a cancel context look for it
	}
	return c.Context.Value(key)
}

// String names the call, and keeps what is printed of a context free of secrets.
func (c *callContext) String() string { return joinNames(c.Service(), c.Operation()) }

// Service is the guard's name, for [nesting.Scope].
func (c *callContext) Service() string { return c.guard().Name() }

// Operation is the op's name with secrets taken out, for [nesting.Scope].
func (c *callContext) Operation() string { return sanitize.Message(c.operation) }

// Running reports whether the call has not returned, for [nesting.Scope].
func (c *callContext) Running() bool { return !c.over() }

// Retrying reports whether the call may make further attempts, for
// [nesting.Scope].
func (c *callContext) Retrying() bool { return c.flags&ctxRetrying != 0 }

// Outer is the scope that the call was made in, for [nesting.Scope].
func (c *callContext) Outer() nesting.Scope { return nesting.From(c.Context) }

// Attempt returns the number of the attempt that runs with ctx: 1 for the first, 0
// outside of a guarded call. A function may, for instance, send it along as a header.
// With an attempt timeout each attempt has a context of its own; without one they
// share the call's, which tells the latest.
func Attempt(ctx context.Context) int {
	if c, ok := nesting.From(ctx).(*callContext); ok {
		return c.number()
	}
	return 0
}
