package resilient

import (
	"context"

	"github.com/seed42274fcc/stoic/nesting"
)

// Held is the context of something that outlives its call: a result that is not all
// there when the call returns, such as the body of an HTTP response. Make it with
// [Hold]. Its methods are safe for concurrent use; the zero value is not usable.
//
// While the attempt runs, it ends with the attempt. Once kept, it ends when it is
// released, when the caller's context does, or when the call's total timeout is
// over, which goes on after the call has returned; the timeout of one attempt does
// not reach it any more. Its scope is the call's, so that after the call has
// returned nothing that is done with it counts as nested.
type Held struct {
	context.Context
	scope  *callContext // nil where there is no guarded call
	cancel context.CancelCauseFunc
	stop   func() bool // ends that it ends with the attempt
}

// Hold makes a context that may outlive its call. ctx must be the one that the
// function was called with, itself; with any other one, that of a [Passthrough] guard
// among them, the held context is a child that may be released.
//
//	held := resilient.Hold(ctx)
//	stream, err := client.Open(held)
//	if err != nil || !held.Keep() {
//		held.Release()
//		…
//	}
//	return &closer{stream, held.Release}, nil // whose Close calls Release
//
// Each held context must be released: else it, and what is tied to it, stay until the
// total timeout.
func Hold(ctx context.Context) *Held {
	c, ok := ctx.(*callContext)
	if !ok {
		inner, cancel := context.WithCancelCause(ctx)
		return &Held{Context: inner, cancel: cancel, stop: func() bool { return inner.Err() == nil }}
	}
	inner, cancel := context.WithCancelCause(c.caller())
	h := &Held{Context: inner, scope: c, cancel: cancel}
	if c.flags&ctxLimitTotal != 0 { // else the end is that of the caller's context
		total, _, end := c.limits()
		var stopTimer context.CancelFunc
		h.Context, stopTimer = context.WithDeadlineCause(inner, c.guard().circuit.Time(end),
			&TimeoutError{Limit: LimitTotal, After: total})
		h.cancel = func(cause error) {
			cancel(cause)
			stopTimer()
		}
	}
	h.stop = context.AfterFunc(c, func() { h.cancel(context.Cause(c)) })
	return h
}

// Keep lets the context outlive its call. It reports whether there is something to
// keep: false says that the attempt has ended already, and the context with it. Call it
// before the function returns, and once.
func (h *Held) Keep() bool {
	if h.stop() {
		return true
	}
	if h.scope != nil { // what ends it with the attempt is on its way, on a goroutine of its own
		if cause := context.Cause(h.scope); cause != nil {
			h.cancel(cause)
		}
	}
	return false
}

// Release ends the context. Later calls do nothing.
func (h *Held) Release() {
	h.stop()
	h.cancel(context.Canceled)
}

// Value finds the call's scope under [nesting.Key], and all else in the caller's
// context.
func (h *Held) Value(key any) any {
	if h.scope != nil && key == (nesting.Key{}) {
		return h.scope
	}
	return h.Context.Value(key)
}
