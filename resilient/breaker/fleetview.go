package breaker

import (
	"time"
)

// adopt takes over what the store has said. certain says that it was asked for after
// all that is known; else it counts only if it is newer by its numbers.
func (c *Circuit) adopt(a Answer, certain bool, at time.Duration) {
	f := c.fleet
	round := a.Record.Machine.Round
	if !certain && (round < f.seen.Round || (round == f.seen.Round && a.Now < f.now)) {
		return
	}
	now := c.Now()
	moved := round != f.seen.Round
	f.seen, f.failures = c.mirror(a, now), a.Record.Failures
	f.order = a.Record.Order.clean() // whoever has written it
	f.known, f.made, f.now = true, at, a.Now
	f.version++
	f.garbled = false
	if f.mode == Alone {
		c.publish(now)
		return
	}
	c.ordered(f.order)
	if f.mode == Lost && f.wasApart && c.machine.Beneath != Closed {
		f.mode = Apart // it is still open by itself
	}
	if f.mode == Apart && !moved && f.seen.Force == NoForce {
		c.publish(now)
		return
	}
	if moved {
		f.succeeded = false // that was another round
	}
	c.learn(a.Record.Cause)
	c.blame(f.seen, moved)
	c.rejoin(now)
}

// opener is the rule by which a command has opened the circuit that it was the answer to;
// NoRule if it did not, or votes did.
func (a Answer) opener(command Command) Rule {
	failed := command.Kind == Settle && a.Counted && command.Outcome != Success && command.Outcome != Neutral
	if failed && a.Record.Machine.Beneath == Open {
		return RuleConsecutive
	}
	return NoRule
}

// blame notes why the circuit is open that the store has, as far as that can be told: by
// the generation and the hold for everybody, by the count only for whom it was that the
// last failure came from. What has opened by itself knows better.
func (c *Circuit) blame(m Machine, moved bool) {
	f, rule := c.fleet, NoRule
	switch {
	case m.Beneath != Open, f.mode == Apart:
		return
	case m.Generation > 1:
		rule = RuleProbe
	case m.Hold > 0:
		rule = RuleHold
	case f.opener != NoRule:
		rule = f.opener
	case !moved, (m.LastFailure - c.machine.LastFailure).Abs() < sameFailure:
		return // it is what it was, be it that an order came and went
	}
	c.remark(rule, Counts{})
}

// sameFailure is how far apart one failure's time can be that is told twice: a store has
// less time to answer.
const sameFailure = 100 * time.Millisecond

// learn takes over the cause that the store has. If it is what this process has
// reported, the error itself is worth more than the text.
func (c *Circuit) learn(text string) {
	f := c.fleet
	switch {
	case text == f.causeText:
	case text == "":
		c.cause = nil
	case text == f.reportedText:
		c.cause = f.reported
	default:
		c.cause = toldCause(text)
	}
	f.causeText = text
}

// rejoin puts what the store has said last in force.
func (c *Circuit) rejoin(now time.Duration) {
	f, next := c.fleet, c.fleet.seen
	f.mode = Shared
	if c.machine.Round&local != 0 {
		f.last = max(f.last, c.machine.Round)
	}
	next.tokens, next.seed = c.machine.tokens, c.machine.seed
	if f.own == NoForce {
		c.ordered(f.order)
	} else {
		next.Force, next.ForceUntil = f.own, 0
		next.Round |= local
	}
	c.advance(next, c.settings, now)
}

// toldCause is a failure that another process has seen.
type toldCause string

// Error returns its text, as the store has it.
func (t toldCause) Error() string { return string(t) }

// fault is ErrGarbled if the answer is one that no store may give: whoever obeyed it
// could be open for good.
func (a Answer) fault() error {
	m := a.Record.Machine
	within := func(n int) bool { return n >= 0 && n <= maxProbes }
	past := func(t time.Duration) bool { return t >= 0 && t <= a.Now }
	ends := func(t, most time.Duration) bool { return t >= 0 && t-a.Now <= most }
	sound := a.Now >= 0 && m.Round < local && m.Beneath <= HalfOpen && m.Force <= ForceDisabled &&
		within(m.Limit) && within(m.Needed) && m.Hold <= maxTime &&
		past(m.LastFailure) && past(m.LastHalfOpen) && past(m.Since) && ends(m.ForceUntil, LongestOrder)
	for _, l := range m.Leases {
		sound = sound && ends(l.End, l.Length)
	}
	if !sound {
		return ErrGarbled
	}
	return nil
}

// mirror is the store's state on the circuit's clock.
func (c *Circuit) mirror(a Answer, now time.Duration) Machine {
	m := a.Record.Machine
	here := func(t time.Duration) time.Duration {
		if t == 0 {
			return 0
		}
		if t = now - (a.Now - t); t == 0 {
			t = -1 // 0 would be never
		}
		return t
	}
	m.LastFailure, m.LastHalfOpen, m.Since = here(m.LastFailure), here(m.LastHalfOpen), here(m.Since)
	m.ForceUntil = here(m.ForceUntil)
	leases := make([]Lease, len(m.Leases))
	for i, l := range m.Leases {
		leases[i] = Lease{Token: l.Token, End: here(l.End), Length: l.Length}
	}
	m.Leases = leases
	m.mark = 0
	return m
}

// hear is given the store's news.
func (c *Circuit) hear(n News) {
	c.mu.Lock()
	f, now := c.fleet, c.Now()
	f.live = n.Live
	if n.Answer == nil || n.Answer.fault() != nil {
		c.publish(now)
	} else {
		// What was read just now is certain, but for an answer that has overtaken it.
		late := f.now - n.Answer.Now
		certain := n.Fresh && (late <= 0 || late > overtaking)
		c.adopt(*n.Answer, certain, now)
		c.publish(now)
	}
	c.unlock()
}

// overtaking is how much later than others an answer can arrive: what seems older
// than that comes from a clock that was set back.
const overtaking = time.Second
