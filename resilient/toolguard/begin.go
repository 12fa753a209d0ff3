package toolguard

import (
	"context"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Begin asks whether a tool may be called, and returns the permit, which must be ended.
// It belongs to the turn that ctx carries (see [Turn.Context]): it uses the probe that
// the turn has claimed, once, and refuses what the turn withholds, unless the tool has
// recovered meanwhile. Without a turn, as in a server, it claims at this time what is
// due.
//
// Check the arguments before: what makes no sense is not worth a probe. The error is a
// *[RefusedError], whose Message is for the model; [ErrNilGuard],
// [resilient.ErrNilContext], or the cause of a context that is over. The permit is nil
// then. A tool that is not watched, or that does not exist in the turn, is given one
// that does nothing.
func (g *Guard) Begin(ctx context.Context, tool string) (*Permit, error) {
	if !g.usable() {
		return nil, ErrNilGuard
	}
	if ctx == nil {
		return nil, resilient.ErrNilContext
	}
	return g.begin(ctx, g.turnIn(ctx), tool)
}

// Begin is [Guard.Begin] in this turn, whatever ctx carries.
func (t *Turn) Begin(ctx context.Context, tool string) (*Permit, error) {
	switch {
	case t == nil || !t.guard.usable():
		return nil, ErrNilGuard
	case ctx == nil:
		return nil, resilient.ErrNilContext
	}
	return t.guard.begin(ctx, t, tool)
}

func (g *Guard) begin(ctx context.Context, turn *Turn, name string) (*Permit, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := &Permit{guard: g, name: name, caller: ctx, ctx: ctx}
	watched := g.plan.watches(name)
	if turn != nil {
		p.key, p.session = turn.key, turn.session
		watched = watched && turn.watched && turn.exists(name)
	} else if watched {
		p.key, watched = g.key(ctx)
		p.session = g.session(ctx)
	}
	if !watched {
		return p, nil
	}
	if g.plan.off() {
		p.rule, p.free = g.rules.Load().of(name), true
		p.start()
		return p, nil
	}
	now := g.now()
	if failures, spent := g.sessions.spent(p.session, now); spent {
		return nil, turn.refuse(&RefusedError{Tool: name, Reason: ReasonBudget, Failures: failures})
	}
	p.rule = g.rules.Load().of(name)
	p.tool = g.toolFor(turn, p.key, name, now)
	if p.tool != nil {
		p.tool.used.Store(int64(now))
		permit, refused := p.admit(turn, now)
		if refused != nil {
			p.tool.refused.Add(1)
			return nil, turn.refuse(refused)
		}
		p.permit = permit
		if ctx.Err() != nil { // it may have taken a while
			p.tool.circuit.Load().Settle(permit, breaker.Neutral, nil)
			return nil, context.Cause(ctx)
		}
	}
	p.start()
	return p, nil
}

// toolFor finds what is known of a tool; nil if there is nothing. Where there is a store,
// it may know of a tool that exists what this process does not.
func (g *Guard) toolFor(turn *Turn, key, name string, now time.Duration) *tool {
	ts := g.shelf.of(key, now)
	var one *tool
	if ts != nil {
		one = ts.get(name)
	}
	if one == nil && g.plan.Store != nil && (turn != nil || g.plan.monitor[name]) {
		one = g.ensure(key, name).get(name)
	}
	if one == nil || one.circuit.Load() == nil {
		return nil
	}
	return one
}

// admit asks for a permit, in a turn that has its own say.
func (p *Permit) admit(turn *Turn, now time.Duration) (breaker.Permit, *RefusedError) {
	one := p.tool
	circuit := one.circuit.Load()
	if turn == nil {
		permit, rejected := circuit.Acquire(one.clock(now), p.rule.timeout)
		return permit, refusal(one, rejected)
	}
	mine, has, second := turn.use(one)
	switch {
	case has && now <= mine.until:
		p.rule = mine.rule // others may be in force by now, and its place is not kept for so long
		return mine.permit, nil
	case has: // too late: it would end after its lease
		circuit.Settle(mine.permit, breaker.Neutral, nil)
		permit, rejected := circuit.Acquire(circuit.Now(), p.rule.timeout)
		return permit, refusal(one, rejected)
	case (second || turn.byName[one.name] != nil) && !healthy(circuit):
		return breaker.Permit{}, turn.stillRefused(one, second, now)
	}
	permit, rejected := circuit.Acquire(one.clock(now), p.rule.timeout)
	if rejected == nil && permit.Probe() && !turn.note(one, permit) {
		circuit.Settle(permit, breaker.Neutral, nil)
		return breaker.Permit{}, turn.stillRefused(one, true, now)
	}
	return permit, refusal(one, rejected)
}

// healthy reports whether a circuit admits every attempt, as far as is known.
func healthy(c *breaker.Circuit) bool {
	switch c.State() {
	case breaker.Closed, breaker.ForcedClosed, breaker.Disabled:
		return true
	default:
		return false
	}
}

func refusal(one *tool, rejected *breaker.RejectedError) *RefusedError {
	if rejected == nil {
		return nil
	}
	return &RefusedError{Tool: one.name, Reason: reasonOf(rejected), Until: rejected.Until, rejected: rejected}
}

// stillRefused says why a tool is not to be had in this turn. What is due is not for a
// turn that does not offer it, nor twice for one that does.
func (t *Turn) stillRefused(one *tool, second bool, now time.Duration) *RefusedError {
	circuit := one.circuit.Load()
	rejected := circuit.Rejects(one.clock(now))
	if rejected == nil {
		rejected = &breaker.RejectedError{Service: circuit.Name(), State: breaker.Open}
	}
	e := refusal(one, rejected)
	if second && (e.Reason == ReasonProbe || e.Until.IsZero()) {
		e.Reason, e.Until = ReasonSecondProbe, time.Time{}
	}
	return e
}

// use takes the turn's claim on a tool, if there is one that is not used. second says
// that there was one.
func (t *Turn) use(one *tool) (c claim, has, second bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.claims, func(c claim) bool { return c.tool == one })
	if i < 0 {
		return claim{}, false, false
	}
	has = !t.claims[i].used
	t.claims[i].used = true
	return t.claims[i], has, !has
}

// note remembers that a call of this turn is a probe. It reports false if there was one
// already.
func (t *Turn) note(one *tool, permit breaker.Permit) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.claims, func(c claim) bool { return c.tool == one }) {
		return false
	}
	t.claims = append(t.claims, claim{tool: one, permit: permit, used: true})
	return true
}

// refuse adds to a refusal what else the model may call in this turn.
func (t *Turn) refuse(e *RefusedError) *RefusedError {
	switch {
	case t == nil:
	case e.Reason == ReasonBudget: // that is for all watched tools
		e.Others = t.unwatched()
	default:
		e.Others = t.Others(e.Tool)
	}
	return e
}

// failures are those of the turn's session.
func (t *Turn) failures() int {
	n, _ := t.guard.sessions.spent(t.session, t.guard.now())
	return n
}
