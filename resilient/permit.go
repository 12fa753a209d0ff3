package resilient

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Permit is a circuit's permit held by hand, for work that is not one function: a
// stream, a middleware. Settle it when the outcome is known. Should a probe's
// permit be forgotten, its place is free again after its lease: the policy's
// attempt timeout, else its total timeout, and the larger of a second and a tenth
// more. A program built with the tag stoicdebug logs where such a permit was
// acquired. It is safe for
// concurrent use; it counts once. The zero value counts nothing.
type Permit struct {
	watch    watch
	guard    *Guard
	ctx      context.Context
	permit   breaker.Permit
	acquired time.Duration // on the circuit's clock
	free     bool          // circuits were switched off
	settled  atomic.Bool
}

// Acquire asks the guard's circuit for the permit to make one attempt, without
// retry, scope or timeout. Observers see it as one attempt of an op without a name.
// The error is the cause of a context that is over, a
// *[RejectedError], [ErrNilGuard] or [ErrNilContext]; the permit is nil then.
func (g *Guard) Acquire(ctx context.Context) (*Permit, error) {
	if err := g.check(ctx, &Op{}); err != nil {
		return nil, err
	}
	now := g.circuit.Now()
	if _, err := g.callersEnd(ctx, now); err != nil {
		return nil, err
	}
	plan := g.plan.Load()
	var permit breaker.Permit
	var rejected *RejectedError
	free := g.options.Switch.isOff(offCircuits)
	if !free {
		permit, rejected = g.circuit.Acquire(now, attemptLimit(plan.limits(&Op{})))
	}
	if rejected != nil {
		if g.observed() {
			g.refused(ctx, "", 0, rejected)
		}
		return nil, rejected
	}
	p := &Permit{guard: g, ctx: ctx, permit: permit, acquired: now, free: free}
	p.watch.begin(p)
	return p, nil
}

// Settle gives the permit back with what the attempt ended with, judged as
// [Execute] judges it: nil is a success. It reports whether it counted: only the
// first Settle does, and only if it is not late. A nil permit counts nothing.
func (p *Permit) Settle(err error) bool {
	if p == nil || p.guard == nil || p.settled.Swap(true) {
		return false
	}
	p.watch.end()
	outcome := breaker.Success
	if err != nil {
		outcome = p.guard.judge(p.ctx, err).outcome
	}
	counted := p.free || p.guard.circuit.SettleSince(p.permit, p.acquired, outcome, err)
	if p.guard.observed() {
		p.guard.attempted(p.ctx, AttemptDone{
			Call: Call{Service: p.guard.Name()}, Attempt: 1, Outcome: outcome, Err: err, ByHand: true, WouldReject: p.permit.WouldReject(),
		}, p.acquired, counted)
	}
	return counted
}
