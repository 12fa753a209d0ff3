package resilient

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/avast/retry-go/v4"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/sanitize"
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
	operation string
	start     time.Duration
	end       time.Duration // the earlier of the caller's deadline and the total timeout's
	total     time.Duration // how long the total timeout is
	each      time.Duration // how long an attempt may take; 0 is no limit
	attempts  int           // how many may be made
	endIsOurs bool          // end is the total timeout's
	collapsed bool          // one attempt only, because a call above retries
	free      bool          // the present attempt runs without a permit of its own
	fresh     bool          // no part of a call above that retries: budgets count it
}

// run makes a guarded call. Neither op nor fn escapes: they cost no allocation.
func (g *Guard) run(ctx context.Context, op *Op, fn func(context.Context) error) error {
	if err := g.check(ctx, op); err != nil {
		return err
	}
	p := g.plan.Load()
	if p.unguarded {
		return fn(ctx)
	}
	now := g.circuit.Now()
	end, err := g.callersEnd(ctx, now)
	if err != nil {
		return err
	}
	total, each := p.limits(op)
	permit, free, rejected := g.admit(ctx, now, attemptLimit(total, each))
	if rejected != nil {
		if g.observed() {
			g.refused(ctx, op.name, 0, rejected)
		}
		return rejected
	}
	placed := false // whether the permit is in attempt's hands, which settles it
	if permit.Probe() {
		defer g.giveBack(permit, &placed)
	}
	attempts, collapsed := g.count(ctx, p, op)
	var c call // field by field: a literal is built aside and copied, which shows
	c.ctx, c.plan, c.operation = ctx, p, op.name
	c.start, c.end, c.total, c.each = now, end, total, each
	c.attempts, c.collapsed, c.free = attempts, collapsed, free
	if ours := now + total; ours <= end {
		c.end, c.endIsOurs = ours, true
	}
	if permit.Delayed() || free { // a refusal can have taken time as well
		if now, err = g.recheck(&c); err != nil {
			return err
		}
	}
	if p.budget != nil {
		c.enter(now)
	}
	cc := c.derive(permit, now)
	placed = true
	v, err := g.attempt(&c, cc, permit, now, fn)
	made, last := 1, v.outcome
	c.leave(last)
	if err != nil {
		made, last, err = g.again(c, cc, v, err, fn)
	}
	cc.finish()
	if g.observed() {
		g.done(&c, made, last, err)
	}
	return err
}

// admit asks for the permit of one attempt. free says that it needs none of its own:
// circuits are switched off, or it is part of a call above that is a probe.
func (g *Guard) admit(ctx context.Context, now, limit time.Duration) (permit breaker.Permit, free bool, rejected *RejectedError) {
	if g.options.Switch.isOff(offCircuits) {
		return permit, true, nil
	}
	permit, rejected = g.circuit.Acquire(now, limit)
	if rejected != nil && g.underOwnProbe(ctx, rejected) {
		return permit, true, nil
	}
	return permit, false, rejected
}

// giveBack frees the place of a probe that was not made: refused, or foreign code has
// ended the goroutine.
func (g *Guard) giveBack(permit breaker.Permit, placed *bool) {
	if !*placed {
		g.circuit.Settle(permit, breaker.Neutral, nil)
	}
}

// enter counts the call in its budget, unless it is a part of one above that retries.
func (c *call) enter(now time.Duration) {
	c.fresh = c.attempts > 1 || !nesting.UnderRetry(c.ctx)
	if c.fresh {
		c.plan.budget.called(now - c.plan.origin)
	}
}

// leave fills the budget after a first attempt that succeeded, be it with an answer that
// is an error.
func (c *call) leave(last Outcome) {
	if c.fresh && last == breaker.Success {
		c.plan.budget.succeeded()
	}
}

// check refuses what is not a call.
func (g *Guard) check(ctx context.Context, op *Op) error {
	switch {
	case !g.usable():
		return ErrNilGuard
	case ctx == nil:
		return ErrNilContext
	case op.has(opInvalid):
		return fmt.Errorf("%w: %s", ErrInvalidOp, joinNames(g.Name(), sanitize.Message(op.name)))
	}
	return nil
}

// callersEnd is the caller's deadline, never if there is none. It returns an error
// when the caller's context is over, or would be if its timer were punctual.
func (g *Guard) callersEnd(ctx context.Context, now time.Duration) (time.Duration, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	deadline, ok := ctx.Deadline()
	if !ok {
		return never, nil
	}
	end := g.circuit.Offset(deadline)
	if end <= now {
		return 0, lateCause(ctx)
	}
	return end, nil
}

// patience is how long a context's own timer may lag behind its deadline.
const patience = 10 * time.Millisecond

// lateCause is the cause of a context whose deadline has passed, which is known once
// its own timer has fired.
func lateCause(ctx context.Context) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return context.DeadlineExceeded
	}
}

// recheck looks at the time again after a permit that was not had at once: that the
// circuit is half-open has been told to observers, or a store was asked. Either may
// have taken a while, and the observers may have ended the context.
func (g *Guard) recheck(c *call) (now time.Duration, err error) {
	now = g.circuit.Now()
	switch {
	case c.ctx.Err() != nil:
		err = context.Cause(c.ctx)
	case now >= c.end:
		err = c.endError()
	}
	return now, err
}

// endError is the error that stands for the end of the call's time.
func (c *call) endError() error {
	switch {
	case c.endIsOurs:
		return &TimeoutError{Limit: LimitTotal, After: c.total}
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	default:
		return context.DeadlineExceeded
	}
}

// never is later than any time.
const never = time.Duration(math.MaxInt64)

// attemptLimit is how long one attempt may take, which is what a probe's lease
// follows.
func attemptLimit(total, each time.Duration) time.Duration {
	if each > 0 {
		return min(each, total)
	}
	return total
}

// count finds how many attempts a call may make, and whether it is held to one
// because a call above retries.
func (g *Guard) count(ctx context.Context, p *plan, op *Op) (attempts int, collapsed bool) {
	switch {
	case !g.repeatable(p, op):
		return 1, false
	case nesting.UnderRetry(ctx):
		return 1, true
	case g.options.Switch.isOff(offRetries):
		return 1, false
	default:
		return p.attempts, false
	}
}

// underOwnProbe reports whether a call that was refused, since all probes are out,
// runs inside of one of them: then it is part of that probe. Else a guard that is
// used inside of its own call would wait for itself, and never heal.
func (g *Guard) underOwnProbe(ctx context.Context, rejected *RejectedError) bool {
	if rejected.State != breaker.HalfOpen {
		return false
	}
	for scope := nesting.From(ctx); scope != nil; scope = scope.Outer() {
		if cc, ok := scope.(*callContext); ok && cc.guard() == g && cc.flags&ctxProbe != 0 && cc.Running() {
			snap := g.circuit.Snapshot()
			return snap.State == breaker.HalfOpen && cc.flags.isProbe(snap.Round)
		}
	}
	return false
}

// derive makes the context of an attempt that begins now, and of those after it
// unless each has a limit of its own.
func (c *call) derive(permit breaker.Permit, now time.Duration) *callContext {
	cc := c.context()
	if permit.Probe() {
		cc.flags = probeFlags(permit.Round())
	}
	if c.attempts > 1 {
		cc.flags |= ctxRetrying
	}
	if c.endIsOurs {
		cc.flags |= ctxLimitTotal
	}
	if c.each > 0 && now+c.each < c.end {
		cc.flags |= ctxLimitAttempt
		cc.deadline = now + c.each
	}
	return cc
}

// context makes the context of a call that ends with it: one allocation, also where the
// call has limits that its plan does not tell.
func (c *call) context() *callContext {
	if c.each == 0 && c.total == c.plan.policy.TotalTimeout {
		return &callContext{Context: c.ctx, plan: c.plan, operation: c.operation, deadline: c.end}
	}
	both := new(struct {
		callContext
		ownLimits
	})
	both.ownLimits = ownLimits{Context: c.ctx, total: c.total, each: c.each, end: c.end}
	cc := &both.callContext
	cc.Context, cc.plan, cc.operation, cc.deadline = &both.ownLimits, c.plan, c.operation, c.end
	return cc
}

// attempt runs the function once and settles the permit, whatever the function
// does: a panic or a runtime.Goexit goes on as what it is, after it has been
// counted.
func (g *Guard) attempt(c *call, cc *callContext, permit breaker.Permit, now time.Duration, fn func(context.Context) error) (v verdict, err error) {
	settled, told := false, false
	defer func() {
		if !told {
			g.abandoned(c, cc, permit, now, settled)
		}
	}()
	if err = fn(cc); err == nil {
		v.outcome = breaker.Success
	} else {
		v = g.judge(c.ctx, err)
	}
	counted := c.free || g.circuit.SettleSince(permit, now, v.outcome, err)
	settled = true
	if g.observed() {
		g.attempted(c.ctx, AttemptDone{
			Call: g.names(c.operation), Attempt: cc.number(), Outcome: v.outcome, Err: err, WouldReject: permit.WouldReject(),
		}, now, counted)
	}
	told = true
	return v, err
}

// abandoned ends an attempt that does not return, and settles it unless what ends
// it is an observer.
func (g *Guard) abandoned(c *call, cc *callContext, permit breaker.Permit, now time.Duration, settled bool) {
	cc.finish()
	if settled {
		return
	}
	counted := c.free || g.circuit.SettleSince(permit, now, breaker.Failure, errDidNotReturn)
	if g.observed() {
		g.attempted(c.ctx, AttemptDone{
			Call: g.names(c.operation), Attempt: cc.number(), Outcome: breaker.Failure, Err: errDidNotReturn, WouldReject: permit.WouldReject(),
		}, now, counted)
		g.done(c, cc.number(), breaker.Failure, errDidNotReturn)
	}
}

// retries is the state of a call from its first failure on.
type retries struct {
	call
	guard  *Guard
	cc     *callContext
	made   int           // attempts
	last   Outcome       // the last attempt's
	hits   []int         // of each of Options.AttemptLimits
	drawn  drawn         // what the next attempt has taken out of the budget
	err    error         // the last attempt's; once over, what the call ends with
	over   bool          // no further attempt
	delay  time.Duration // before the next attempt
	replay bool          // the first failure is still to be told to retry-go
}

// again goes on after a first attempt that failed, and returns the number of
// attempts, the last one's outcome, and what the call ends with.
//
// What retry-go is shielded from: its choice between a timer and a context is a
// coin flip, so it gets no context, and a timer that has done the waiting. It
// calls before it waits, so its first call replays the failure. Its log of errors
// grows with each attempt unless it counts none, so retryIf is its only brake. It
// looks into errors, whose methods are foreign and may panic, so it gets one of ours.
func (g *Guard) again(c call, cc *callContext, v verdict, err error, fn func(context.Context) error) (int, Outcome, error) {
	r := &retries{call: c, guard: g, cc: cc, made: 1, last: v.outcome, replay: true}
	defer func() { // also where foreign code ends the goroutine between two attempts
		r.cc.finish()
		r.plan.budget.giveBack(r.drawn) // of an attempt that was not made
	}()
	if err = r.decide(v, err); r.over {
		return r.made, r.last, err
	}
	_ = retry.Do(func() error {
		if r.next(fn) != nil {
			return errFailed
		}
		return nil
	},
		retry.Attempts(0),
		retry.RetryIf(func(error) bool { return !r.over }),
		retry.DelayType(func(uint, error, *retry.Config) time.Duration { return r.delay }),
		retry.WithTimer(r),
	)
	return r.made, r.last, r.err
}

// errFailed is what retry-go is told of a failed attempt.
var errFailed = errors.New("the attempt failed")

// next makes the next attempt, unless something has come up during the wait.
func (r *retries) next(fn func(context.Context) error) error {
	if r.replay {
		r.replay = false
		return r.err
	}
	g, now := r.guard, r.guard.circuit.Now()
	if reason, limit := r.overtaken(now); reason != 0 {
		return r.exhausted(reason, limit, 0)
	}
	permit, free, rejected := g.admit(r.ctx, now, attemptLimit(r.total, r.each))
	placed := false // whether the permit is in attempt's hands, which settles it
	if permit.Probe() {
		defer g.giveBack(permit, &placed)
	}
	r.free = free
	if rejected != nil {
		if g.observed() {
			g.refused(r.ctx, r.operation, r.made, rejected)
		}
		return r.exhausted(ReasonCircuit, rejected, 0)
	}
	if permit.Delayed() || free {
		var err error
		if now, err = g.recheck(&r.call); err != nil {
			return r.late(err)
		}
	}
	if r.each > 0 || permit.Probe() { // the limit, or the scope, is the attempt's own
		r.cc.finish()
		r.cc = r.derive(permit, now)
	}
	r.made++
	r.cc.begin(r.made)
	spent := r.drawn
	r.drawn = drawn{}
	placed = true
	v, err := g.attempt(&r.call, r.cc, permit, now, fn)
	r.last = v.outcome
	if v.outcome == breaker.Success { // an answer, be it an error
		r.plan.budget.repaid(spent)
	}
	if err == nil {
		r.err = nil
		return nil
	}
	return r.decide(v, err)
}

// late ends the call: its time was over, or its context, before the permit was there.
func (r *retries) late(err error) error {
	if r.ctx.Err() != nil {
		return r.exhausted(ReasonContext, err, 0)
	}
	return r.exhausted(ReasonNoTimeLeft, err, 0)
}

// overtaken is what has come up during the wait and keeps back the next attempt; 0 if
// nothing has.
func (r *retries) overtaken(now time.Duration) (reason Reason, limit error) {
	switch {
	case r.ctx.Err() != nil:
		return ReasonContext, context.Cause(r.ctx)
	case now >= r.end && !r.endIsOurs:
		return ReasonNoTimeLeft, lateCause(r.ctx)
	case now >= r.end:
		return ReasonNoTimeLeft, r.endError()
	case r.guard.options.Switch.isOff(offRetries):
		return ReasonSwitchedOff, nil
	}
	return 0, nil
}

// decide says after a failed attempt whether there will be another, and when; it
// returns what r.err has become.
func (r *retries) decide(v verdict, err error) error {
	g, now := r.guard, r.guard.circuit.Now()
	r.err = err
	if !v.retry || r.collapsed {
		r.over = true // as it is, so that a call above may judge it
		return err
	}
	cut := r.cc.timeoutAt(now)
	last := r.made >= r.attempts
	limited := r.limited(err)
	switch {
	case cut != nil && (last || cut.Limit == LimitTotal):
		return r.exhausted(ReasonTimeout, cut, v.after)
	case last && r.attempts > 1:
		return r.exhausted(ReasonAttempts, nil, v.after)
	case last, limited == 1:
		r.over = true
		return err
	case limited > 1:
		return r.exhausted(ReasonAttemptLimit, nil, v.after)
	}
	if reason, limit := r.obstacle(v, now); reason != 0 {
		return r.exhausted(reason, limit, v.after)
	}
	if g.scheduled(&r.call, r.made, r.delay, err) && r.delay >= r.end-g.circuit.Now() {
		// Those who were told have used up the time.
		return r.exhausted(ReasonNoTimeLeft, r.endError(), v.after)
	}
	return err
}

// obstacle is what keeps a call from a further attempt that it may make; 0 if nothing
// does, and then the attempt's delay is fixed and its part of the budget taken. The
// budget comes last, so that nothing is taken in vain.
func (r *retries) obstacle(v verdict, now time.Duration) (reason Reason, limit error) {
	if r.guard.options.Switch.isOff(offRetries) {
		return ReasonSwitchedOff, nil
	}
	if rejected := r.rejects(now); rejected != nil {
		return ReasonCircuit, rejected
	}
	if r.ctx.Err() != nil {
		return ReasonContext, context.Cause(r.ctx)
	}
	if v.after < 0 || v.after > r.plan.policy.Retry.MaxRetryAfter {
		return ReasonRetryAfter, nil
	}
	r.delay = max(r.guard.delay(r.plan, r.made), v.after)
	if r.delay >= r.end-now {
		return ReasonNoTimeLeft, r.endError()
	}
	var enough bool
	if r.drawn, enough = r.plan.budget.draw(now-r.plan.origin, v.seen.has(sawThrottled|sawHint)); !enough {
		return ReasonBudget, nil
	}
	return 0, nil
}

// rejects returns what the next attempt would be refused with, as things are.
func (r *retries) rejects(now time.Duration) *RejectedError {
	if r.guard.options.Switch.isOff(offCircuits) {
		return nil
	}
	rejected := r.guard.circuit.Rejects(now)
	if rejected != nil && r.guard.underOwnProbe(r.ctx, rejected) {
		return nil
	}
	return rejected
}

// exhausted ends the call: a limit has.
func (r *retries) exhausted(reason Reason, limit error, retryAfter time.Duration) error {
	names := r.guard.names(r.operation)
	r.over = true
	r.err = &ExhaustedError{
		Service: names.Service, Operation: names.Operation, Attempts: r.made,
		Reason: reason, Last: r.err, Limit: limit, RetryAfter: retryAfter,
	}
	return r.err
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
