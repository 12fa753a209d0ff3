package resilient

import (
	"context"
	"time"

	"github.com/avast/retry-go/v4"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// The one pipeline, in its one fixed order:
//
//	total timeout ⊃ nesting scope ⊃ retry ⊃ circuit permit ⊃ attempt timeout ⊃ fn
//
// run is the way of every guarded call. The first attempt runs straight, so that a
// call which succeeds touches nothing of the rest: one allocation (the context),
// one reading of the clock, no lock. From the first failure on, retry-go drives
// the loop. All times are on the circuit's clock.

// call is what a call is found to be before its first attempt.
type call struct {
	ctx       context.Context // the caller's
	plan      *plan
	op        Op
	start     time.Duration
	end       time.Duration // the earlier of the caller's deadline and the total timeout's
	total     time.Duration // how long the total timeout is
	each      time.Duration // how long an attempt may take; 0 is no limit
	attempts  int           // how many may be made
	endIsOurs bool          // end is the total timeout's
	collapsed bool          // one attempt only, because a call above retries
}

// run makes a guarded call. fn does not escape.
func (g *Guard) run(ctx context.Context, op Op, fn func(context.Context) error) error {
	if err := g.check(ctx, op); err != nil {
		return err
	}
	p := g.plan.Load()
	if p.unguarded {
		return fn(ctx)
	}
	c := call{ctx: ctx, plan: p, op: op, start: g.circuit.Now(), attempts: 1}
	if err := g.bound(&c); err != nil {
		return err
	}
	permit, rejected := g.circuit.Acquire(c.start, c.longest())
	if rejected != nil {
		g.refused(&c, 0, rejected)
		return rejected
	}
	cc := g.derive(&c, c.start)
	v, err := g.attempt(&c, cc, permit, c.start, fn)
	made := 1
	if err != nil {
		made, err = g.again(c, cc, v, err, fn)
	}
	cc.finish()
	if g.observed() {
		g.done(&c, made, err)
	}
	return err
}

// check refuses what is not a call.
func (g *Guard) check(ctx context.Context, op Op) error {
	switch {
	case !g.usable():
		return ErrNilGuard
	case ctx == nil:
		return ErrNilContext
	case op.has(opInvalid):
		return ErrInvalidOp
	}
	return nil
}

// bound finds a call's limits: how long, and how often. It returns an error when
// the caller's context is over, or will be by the time that anybody noticed.
func (g *Guard) bound(c *call) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	c.total, c.each = c.plan.limits(c.op)
	c.end, c.endIsOurs = c.start+c.total, true
	if deadline, ok := c.ctx.Deadline(); ok {
		at := g.circuit.Offset(deadline)
		if at <= c.start {
			return context.DeadlineExceeded // its own timer has yet to fire
		}
		if at < c.end {
			c.end, c.endIsOurs = at, false
		}
	}
	if g.repeatable(c.plan, c.op) {
		if nesting.UnderRetry(c.ctx) {
			c.collapsed = true
		} else {
			c.attempts = c.plan.policy.Retry.MaxAttempts
		}
	}
	return nil
}

// longest is how long one attempt may take, which is what a probe's lease follows.
func (c *call) longest() time.Duration {
	if c.each > 0 {
		return min(c.each, c.total)
	}
	return c.total
}

// derive makes the context of an attempt that begins now, and of those after it
// unless each has a limit of its own.
func (g *Guard) derive(c *call, now time.Duration) *callContext {
	cc := &callContext{Context: c.ctx, guard: g, operation: c.op.name, deadline: c.end, end: c.end}
	if c.attempts > 1 {
		cc.flags = ctxRetrying
	}
	switch {
	case c.each > 0 && now+c.each < c.end:
		cc.flags |= ctxLimitAttempt
		cc.deadline, cc.limit = now+c.each, c.each
	case c.endIsOurs:
		cc.flags |= ctxLimitTotal
		cc.limit = c.total
	}
	return cc
}

// attempt runs the function once and settles the permit, whatever the function
// does: a panic or a runtime.Goexit goes on as what it is, after it has been
// counted.
func (g *Guard) attempt(c *call, cc *callContext, permit breaker.Permit, now time.Duration, fn func(context.Context) error) (v verdict, err error) {
	settled := false
	defer func() {
		if !settled {
			g.abandoned(c, cc, permit, now)
		}
	}()
	if err = fn(cc); err == nil {
		v.outcome = breaker.Success
	} else {
		v = g.judge(c.ctx, err)
	}
	counted := g.circuit.Settle(permit, v.outcome, err)
	settled = true
	if g.observed() {
		g.attempted(c.ctx, g.names(c.op), cc.number(), now, v.outcome, counted, err)
	}
	return v, err
}

// abandoned settles an attempt whose function did not return.
func (g *Guard) abandoned(c *call, cc *callContext, permit breaker.Permit, now time.Duration) {
	cc.finish()
	counted := g.circuit.Settle(permit, breaker.Failure, errDidNotReturn)
	if g.observed() {
		g.attempted(c.ctx, g.names(c.op), cc.number(), now, breaker.Failure, counted, errDidNotReturn)
		g.done(c, cc.number(), errDidNotReturn)
	}
}

// retries is the state of a call from its first failure on.
type retries struct {
	call
	guard  *Guard
	cc     *callContext
	made   int           // attempts
	err    error         // the last attempt's; once over, what the call ends with
	over   bool          // no further attempt
	delay  time.Duration // before the next attempt
	replay bool          // the first failure is still to be told to retry-go
}

// again goes on after a first attempt that failed, and returns the number of
// attempts and what the call ends with.
//
// What retry-go is shielded from: its choice between a timer and a context is a
// coin flip, so it gets no context, and a timer that has done the waiting. It
// calls before it waits, so its first call replays the failure. Its log of errors
// grows with each attempt unless it counts none, so retryIf is its only brake.
func (g *Guard) again(c call, cc *callContext, v verdict, err error, fn func(context.Context) error) (int, error) {
	r := &retries{call: c, guard: g, cc: cc, made: 1, replay: true}
	if err = r.decide(v, err); r.over {
		return r.made, err
	}
	_ = retry.Do(func() error { return r.next(fn) },
		retry.Attempts(0),
		retry.RetryIf(func(error) bool { return !r.over }),
		retry.DelayType(func(uint, error, *retry.Config) time.Duration { return r.delay }),
		retry.WithTimer(r),
	)
	r.cc.finish()
	return r.made, r.err
}

// next makes the next attempt, unless something has come up during the wait.
func (r *retries) next(fn func(context.Context) error) error {
	if r.replay {
		r.replay = false
		return r.err
	}
	g, now := r.guard, r.guard.circuit.Now()
	if r.ctx.Err() != nil {
		return r.exhausted(ReasonContext, context.Cause(r.ctx), 0)
	}
	if now >= r.end {
		return r.exhausted(ReasonNoTimeLeft, r.endError(), 0)
	}
	permit, rejected := g.circuit.Acquire(now, r.longest())
	if rejected != nil {
		g.refused(&r.call, r.made, rejected)
		return r.exhausted(ReasonCircuit, rejected, 0)
	}
	if r.each > 0 {
		r.cc.finish()
		r.cc = g.derive(&r.call, now)
	}
	r.made++
	r.cc.begin(r.made)
	v, err := g.attempt(&r.call, r.cc, permit, now, fn)
	if err == nil {
		r.err = nil
		return nil
	}
	return r.decide(v, err)
}

// decide says after a failed attempt whether there will be another, and when; it
// returns what r.err has become.
func (r *retries) decide(v verdict, err error) error {
	g, now := r.guard, r.guard.circuit.Now()
	r.err = err
	cut := r.cc.timeoutAt(now)
	last := r.made >= r.attempts
	switch {
	case !v.retry, r.collapsed:
		r.over = true // as it is, so that a call above may judge it
		return err
	case cut != nil && (last || cut.Limit == LimitTotal):
		return r.exhausted(ReasonTimeout, cut, v.after)
	case last && r.attempts > 1:
		return r.exhausted(ReasonAttempts, nil, v.after)
	case last:
		r.over = true
		return err
	}
	if rejected := g.circuit.Rejects(now); rejected != nil {
		return r.exhausted(ReasonCircuit, rejected, v.after)
	}
	if r.ctx.Err() != nil {
		return r.exhausted(ReasonContext, context.Cause(r.ctx), v.after)
	}
	if v.after < 0 || v.after > r.plan.policy.Retry.MaxRetryAfter {
		return r.exhausted(ReasonRetryAfter, nil, v.after)
	}
	r.delay = max(r.plan.delays[r.made-1].draw(), v.after)
	if r.delay >= r.end-now {
		return r.exhausted(ReasonNoTimeLeft, r.endError(), v.after)
	}
	g.scheduled(&r.call, r.made, r.delay, err)
	return err
}

// exhausted ends the call: a limit has.
func (r *retries) exhausted(reason Reason, limit error, retryAfter time.Duration) error {
	names := r.guard.names(r.op)
	r.over = true
	r.err = &ExhaustedError{
		Service: names.Service, Operation: names.Operation, Attempts: r.made,
		Reason: reason, Last: r.err, Limit: limit, RetryAfter: retryAfter,
	}
	return r.err
}

// endError is the error that stands for the end of the call's time.
func (r *retries) endError() error {
	if r.endIsOurs {
		return &TimeoutError{Limit: LimitTotal, After: r.total}
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return context.DeadlineExceeded
}

// After waits, for retry-go, which then finds that its timer has fired.
func (r *retries) After(delay time.Duration) <-chan time.Time {
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.ctx.Done():
		}
	}
	return fired
}

// fired is a timer's channel that is always ready.
var fired = func() <-chan time.Time {
	ready := make(chan time.Time)
	close(ready)
	return ready
}()
