package toolguard

import (
	"context"
	"errors"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// judge decides what a call says about the tool: by types first, then by the context,
// then by the application, and never by a text.
func (p *Permit) judge(value any, err error) (Outcome, time.Duration) {
	marks := resilient.MarksOf(err)
	o := p.outcome(value, err, marks)
	if o != Error {
		return o, 0
	}
	return o, max(marks.RetryAfter, hintOf(err), 0)
}

// isRefusal reports whether a tool guard has refused, this or another one. The rejection
// of a circuit inside of the tool is something else: the tool does not do its work.
func isRefusal(err error) bool {
	refused, ok := found[*RefusedError](err)
	return ok && refused != nil
}

// cutOff reports whether retries inside of the call have ended with their context.
func cutOff(err error) bool {
	e, ok := found[*resilient.ExhaustedError](err)
	return ok && e != nil && e.Reason == resilient.ReasonContext
}

// hintOf is how long the server has asked to wait at the end of retries inside of the call.
func hintOf(err error) time.Duration {
	if e, ok := found[*resilient.ExhaustedError](err); ok && e != nil {
		return e.RetryAfter
	}
	return 0
}

// found is errors.As. An error whose methods panic has nothing in it.
func found[E error](err error) (e E, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	ok = errors.As(err, &e)
	return e, ok
}

func (p *Permit) outcome(value any, err error, marks resilient.Marks) Outcome {
	if o, ok := markedOutcome(err); ok {
		return o
	}
	switch {
	case marks.Neutral, marks.Refused && !marks.Exhausted && isRefusal(err):
		return Ignored
	case marks.Exhausted && cutOff(err) && p.cancelled(err):
		return Interrupted
	case marks.Permanent, marks.Exhausted, marks.Refused:
		return Error
	case err != nil && p.timedOut():
		return Error
	case err != nil && p.cancelled(err):
		return Interrupted
	}
	if o, ok := p.classify(value, err); ok {
		return o
	}
	if err != nil {
		return Error
	}
	return Success
}

// timedOut reports whether the tool's own limit has ended the call.
func (p *Permit) timedOut() bool {
	cause, ours := context.Cause(p.Context()).(*resilient.TimeoutError)
	return ours && cause == p.timeout
}

// cancelled reports whether the error is the cancellation of the caller's context. An
// expired deadline is none: a tool that hangs shows itself in just that way.
func (p *Permit) cancelled(err error) (yes bool) {
	if p.caller == nil || p.caller.Err() != context.Canceled {
		return false
	}
	defer func() {
		if recover() != nil { // a foreign Is method's
			yes = false
		}
	}()
	return errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(p.caller))
}

// classify asks the application. One that panics has no opinion.
func (p *Permit) classify(value any, err error) (o Outcome, ok bool) {
	if p.rule == nil || p.guard.plan.Classify == nil {
		return Ignored, false
	}
	defer p.guard.journal.Contain("Classify", func() { o, ok = Ignored, false })
	return p.guard.plan.Classify(p.caller, Result{Tool: p.name, Value: value, Err: err})
}
