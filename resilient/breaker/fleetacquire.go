package breaker

import (
	"time"
)

// acquireShared is the slow way to a permit where there is a store: what is known is
// too old, or only the store may grant what is asked for.
func (c *Circuit) acquireShared(limit time.Duration) (Permit, *RejectedError) {
	c.mu.Lock()
	asked, end := false, addTime(c.Now(), c.fleet.terms.Timeout)
	for range 2 {
		left := end - c.Now()
		if c.fleet.mode == Alone || left < c.fleet.terms.Timeout/2 {
			break // the whole wait is no longer than the one timeout
		}
		probe := c.sharedMode() && c.probeDue(limit)
		if !probe && c.Now() < c.current() && !c.lapsed() {
			break
		}
		if c.fleet.asking {
			if probe {
				return c.refuse()
			}
			break
		}
		asked = true
		if !probe {
			c.refresh(left)
			continue
		}
		answer, token, err := c.request(limit, left)
		switch {
		case err != nil:
			continue
		case answer.Granted:
			return c.granted(answer, token)
		case c.sharedMode() && !c.admits():
			return c.refuse()
		}
	}
	if c.sharedMode() {
		return c.byTheView(asked)
	}
	return c.acquireLocal(limit, asked)
}

// probeDue reports whether, as far as is known, the store would grant a probe.
func (c *Circuit) probeDue(limit time.Duration) bool {
	_, permit, ok := c.machine.Acquire(c.Now(), limit, c.settings)
	return ok && permit.token != 0
}

// lapsed reports whether a force is over, of which the store makes a new round.
func (c *Circuit) lapsed() bool {
	return c.sharedMode() && c.machine.Lapse(c.Now()).Round != c.machine.Round
}

func (c *Circuit) admits() bool {
	switch c.machine.State(c.settings) {
	case Closed, ForcedClosed, Disabled:
		return true
	default:
		return false
	}
}

// byTheView goes by what is known, where no probe is to be had.
func (c *Circuit) byTheView(asked bool) (Permit, *RejectedError) {
	if !c.admits() {
		return c.refuse()
	}
	p := Permit{round: c.view.Load().round}
	if asked {
		p.token = waited
	}
	c.unlock()
	return p, nil
}

// refuse rejects with what is published, or, if that is a force which admits and is over,
// with what is beneath it.
func (c *Circuit) refuse() (Permit, *RejectedError) {
	rejected := c.view.Load().rejected
	if rejected == nil {
		m := c.machine.Lapse(c.Now())
		rejected = c.rejection(m.State(c.settings), m.OpenUntil(c.settings))
	}
	c.unlock()
	c.rejected.Add(1)
	return Permit{}, rejected
}

// refresh reads the state again; while it does, others go on with what is known.
func (c *Circuit) refresh(patience time.Duration) {
	f := c.fleet
	f.asking, f.patient = true, addTime(c.Now(), patience)
	c.publish(c.Now())
	if f.garbled {
		c.restore(patience)
	} else {
		_, _ = c.askWithin(patience, Command{Kind: Read})
	}
	f.asking, f.patient = false, 0
	c.publish(c.Now())
}

// restore writes what is known over what makes no sense: the state, and then the force
// that an operator has put over it, for as long as that would have held.
func (c *Circuit) restore(patience time.Duration) {
	order, until, end := c.recall().order, c.machine.ForceUntil, addTime(c.Now(), patience)
	order.Force = c.machine.Force
	if c.fleet.own != NoForce {
		order.Force = NoForce
	}
	answer, err := c.askWithin(patience, c.rebuild())
	if err != nil || order.Force == NoForce || until <= c.Now() || answer.Record.Ordered != 0 {
		return
	}
	order.Reset, order.For = false, until-c.Now()
	_, _ = c.askWithin(end-c.Now(), Command{Kind: Operate, ID: newID(), Order: order})
}

// rebuild is the command that writes what is known over what makes no sense.
func (c *Circuit) rebuild() Command {
	now, m := c.Now(), c.machine
	m.Round &^= local
	age := func(t *time.Duration) {
		if *t != 0 {
			*t = max(now-*t, time.Microsecond)
		}
	}
	age(&m.LastFailure)
	age(&m.LastHalfOpen)
	age(&m.Since)
	return Command{Kind: Rebuild, ID: newID(), View: m, Failures: c.failures, Cause: c.fleet.causeText}
}

// request asks the store for a probe's permit.
func (c *Circuit) request(limit, patience time.Duration) (Answer, uint64, error) {
	f := c.fleet
	f.asking = true
	token := newID()
	answer, err := c.askWithin(patience, Command{Kind: Acquire, ID: token, Lease: c.settings.leaseFor(limit)})
	f.asking = false
	return answer, token, err
}

// granted is the permit that the store has given.
func (c *Circuit) granted(a Answer, token uint64) (Permit, *RejectedError) {
	p := Permit{round: a.Record.Machine.Round, token: waited}
	for _, l := range a.Record.Leases {
		if l.Token == token {
			p.token = token
		}
	}
	return c.handOver(p)
}
