package toolguard

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Permit is the right to call a tool once. End it when the outcome is known: the first
// end counts, and no other. Should a probe's be forgotten, its place is free again after
// its lease. It is safe for concurrent use. The zero value and nil count nothing.
type Permit struct {
	guard        *Guard
	rule         *rule // nil if the tool is not watched
	free         bool  // the guard was switched off: nothing counts
	tool         *tool // nil if nothing was known of it
	name         string
	key, session string
	permit       breaker.Permit
	caller       context.Context
	ctx          context.Context
	timeout      *resilient.TimeoutError
	cancel       context.CancelFunc
	ended        atomic.Bool
}

// start lets the tool's time begin.
func (p *Permit) start() {
	if p.rule.timeout > 0 {
		p.timeout = &resilient.TimeoutError{Limit: resilient.LimitAttempt, After: p.rule.timeout}
		p.ctx, p.cancel = context.WithTimeoutCause(p.caller, p.rule.timeout, p.timeout)
	}
}

// Context is what the tool is to be called with. It is Begin's, with the tool's own time
// limit, a *[resilient.TimeoutError]; it is over when the permit has ended.
func (p *Permit) Context() context.Context {
	if p == nil || p.ctx == nil {
		return context.Background()
	}
	return p.ctx
}

// Watched reports whether the outcome matters to anybody.
func (p *Permit) Watched() bool { return p != nil && p.rule != nil && !p.free }

// Probe reports whether the call decides if a broken tool is back.
func (p *Permit) Probe() bool { return p != nil && p.permit.Probe() }

// End gives the permit back with the call's outcome. It reports whether it counted: only
// the first end does, and only if it is not late; what says nothing about the tool
// changes nothing, and counts.
func (p *Permit) End(o Outcome) bool {
	if p == nil {
		return false
	}
	return p.end(o, nil, 0)
}

// EndResult gives the permit back with what the call ended with, judged as [Call] judges
// it, and returns the outcome. A [resilient.RetryAfter] on an error opens the circuit at
// once, for at least so long, and so does that of a [resilient.ExhaustedError]. As with
// End, only the first end counts.
func (p *Permit) EndResult(value any, err error) Outcome {
	if p == nil || p.guard == nil {
		return Ignored
	}
	defer p.end(Ignored, nil, 0) // where foreign code ends the goroutine while it judges
	o, hold := p.judge(value, err)
	p.end(o, err, hold)
	return o
}

var errDidNotReturn = errors.New("the tool panicked or ended its goroutine")

// end is the one door. It counts once.
func (p *Permit) end(o Outcome, cause error, hold time.Duration) bool {
	if p.ended.Swap(true) {
		return false
	}
	if p.cancel != nil {
		p.cancel()
	}
	if !p.Watched() {
		return false
	}
	if o == Error && hold == 0 && p.repeats() {
		o = Ignored
	}
	if o == Error {
		p.guard.sessions.failed(p.session, p.guard.now())
	}
	if p.tool == nil {
		return p.endUnknown(o, cause, hold)
	}
	return settle(p.tool.circuit.Load(), p.permit, o, cause, hold)
}

// repeats reports whether this is a further attempt of a guarded call round it: all of
// them are one outcome, and the first has counted.
func (p *Permit) repeats() bool {
	return !p.permit.Probe() && resilient.Attempt(p.caller) > 1 && nesting.UnderRetry(p.caller)
}

func settle(c *breaker.Circuit, permit breaker.Permit, o Outcome, cause error, hold time.Duration) bool {
	if o == Error && hold > 0 {
		return c.Withhold(permit, cause, hold)
	}
	return c.Settle(permit, o.circuits(), cause)
}

// endUnknown ends a call of a tool of which nothing was known when it began. The first
// error is what makes it worth to be known.
func (p *Permit) endUnknown(o Outcome, cause error, hold time.Duration) bool {
	g := p.guard
	var one *tool
	switch ts := g.shelf.of(p.key, g.now()); {
	case o == Error:
		one = g.ensure(p.key, p.name).get(p.name)
	case o == Success && ts != nil:
		one = ts.get(p.name)
	}
	if one == nil {
		return true
	}
	one.do(func() { one.late(o, cause, hold) })
	return true
}

// late settles an outcome for which there is no permit.
func (t *tool) late(o Outcome, cause error, hold time.Duration) {
	circuit := t.circuit.Load()
	if t.guard.plan.Store == nil { // then it was closed, in its first round
		settle(circuit, breaker.Permit{}, o, cause, hold)
		return
	}
	permit, rejected := circuit.Acquire(circuit.Now(), t.rule().timeout)
	switch {
	case rejected != nil: // others know already
	case permit.Probe(): // it began before, so it was none
		circuit.Settle(permit, breaker.Neutral, nil)
	default:
		settle(circuit, permit, o, cause, hold)
	}
}
