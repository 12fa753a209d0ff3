package toolguard

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Turn is what one turn of the model may see: a view that does not change, and the
// probes that it has claimed. Make it with [Guard.Turn] before each request to the model,
// and close it when the calls that the model has asked for are done. It is safe for
// concurrent use. The zero value and nil withhold nothing.
type Turn struct {
	guard    *Guard
	key      string
	session  string
	watched  bool // at all
	names    []string
	withheld []Withheld // in the order of names
	byName   map[string]*Withheld

	mu     sync.Mutex // guards what follows; never held while foreign code runs
	claims []claim
}

// claim is the permit of a probe that a turn has.
type claim struct {
	tool   *tool
	permit breaker.Permit
	rule   *rule         // what its lease follows from
	until  time.Duration // when it has to be used, on the guard's clock
	used   bool
}

// Turn looks which of the tools of those names the model may have now, and claims the
// probes that are due, so that one turn in the whole fleet sees the tool. It asks the
// store once at most, and not at all while all is healthy and the store tells its news.
// A store that does not answer costs its timeout, and no more.
//
// names are all the tools that exist in this turn, the withheld ones among them: of any
// other, no state is kept. They are copied. Where ctx is over, no probe is claimed.
func (g *Guard) Turn(ctx context.Context, names []string) *Turn {
	t := &Turn{guard: g, names: slices.Clone(names)}
	if !g.usable() || ctx == nil || g.plan.idle {
		return t
	}
	if t.key, t.watched = g.key(ctx); !t.watched {
		return t
	}
	now := g.now()
	t.session = g.session(ctx)
	if g.plan.off() {
		return t
	}
	if _, spent := g.sessions.spent(t.session, now); spent {
		t.withholdAll()
		return t
	}
	if g.plan.Mode != GuardOnly {
		t.look(ctx, now)
	}
	return t
}

// withholdAll ends a session that has had enough failures.
func (t *Turn) withholdAll() {
	seen := map[string]bool{}
	for _, name := range t.names {
		if t.guard.plan.watches(name) && !seen[name] {
			t.withheld = append(t.withheld, Withheld{Tool: name, Reason: ReasonBudget})
		}
		seen[name] = true
	}
	t.limit()
}

// look finds what is withheld, and asks for what is due. Tools of which nothing is known
// are healthy; where there is a store, it may know more.
func (t *Turn) look(ctx context.Context, now time.Duration) {
	g := t.guard
	ts := g.shelf.of(t.key, now)
	if g.plan.Store != nil {
		if missing := g.missing(ts, t.names); missing != nil {
			ts = g.ensure(t.key, missing...)
		}
	}
	if ts == nil {
		return
	}
	var suspects []*tool
	byName := *ts.byName.Load()
	for _, name := range t.names {
		if one := byName[name]; one != nil && !one.admits(now) && !slices.Contains(suspects, one) {
			suspects = append(suspects, one)
		}
	}
	if suspects == nil {
		return
	}
	rules := g.rules.Load() // one for the lease and for the call that it has to last for
	for i, grant := range ask(suspects, rules, now, ctx.Err() == nil) {
		t.take(suspects[i], grant, rules.of(suspects[i].name), now)
	}
	t.limit()
}

// ask asks for what may be granted, all at once.
func ask(suspects []*tool, rules *rules, now time.Duration, may bool) []breaker.Grant {
	grants := make([]breaker.Grant, len(suspects))
	var requests []breaker.Request
	var at []int
	for i, one := range suspects {
		circuit := one.circuit.Load()
		grants[i].Rejected = circuit.Rejects(one.clock(now))
		switch {
		case grants[i].Rejected != nil:
		case may:
			requests = append(requests, breaker.Request{Circuit: circuit, Limit: rules.of(one.name).claimLimit()})
			at = append(at, i)
		case circuit.State() != breaker.Closed:
			grants[i].Rejected = &breaker.RejectedError{Service: circuit.Name(), State: circuit.State()}
		}
	}
	if requests != nil {
		for i, grant := range breaker.AcquireAll(requests) {
			grants[at[i]] = grant
		}
	}
	return grants
}

// take notes what came of it.
func (t *Turn) take(one *tool, grant breaker.Grant, rule *rule, now time.Duration) {
	switch {
	case grant.Rejected != nil:
		t.withheld = append(t.withheld, Withheld{
			Tool: one.name, Reason: reasonOf(grant.Rejected), Until: grant.Rejected.Until,
		})
	case grant.Permit.Probe():
		t.claims = append(t.claims, claim{tool: one, permit: grant.Permit, rule: rule, until: now + rule.lease})
	default: // closed, as is known now
	}
}

// Close gives back the probes that the model has not used, in one round trip to the store at
// most: another turn may have them at once. Calls that have begun go on. A turn that is not closed keeps them until their
// lease is over. A second time does nothing.
func (t *Turn) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	claims := t.claims
	t.claims = nil
	t.mu.Unlock()
	var unused []breaker.Release
	for _, c := range claims {
		if !c.used {
			unused = append(unused, breaker.Release{Circuit: c.tool.circuit.Load(), Permit: c.permit})
		}
	}
	breaker.ReleaseAll(unused)
}

// turnKey is where a context has the turn of a guard.
type turnKey struct{ guard *Guard }

// Context returns a context that carries the turn, so that [Guard.Begin] and [Call] find
// it, however deep inside of a framework they are.
func (t *Turn) Context(ctx context.Context) context.Context {
	if t == nil || t.guard == nil || ctx == nil {
		return ctx
	}
	return context.WithValue(ctx, turnKey{t.guard}, t)
}

// turnIn returns the turn that a context carries; nil if there is none of this guard.
func (g *Guard) turnIn(ctx context.Context) *Turn {
	t, _ := ctx.Value(turnKey{g}).(*Turn)
	return t
}
