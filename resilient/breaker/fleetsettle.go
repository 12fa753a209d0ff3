package breaker

import (
	"fmt"

	"github.com/seed42274fcc/stoic/sanitize"
)

// settleShared gives a permit back where there is a store.
func (c *Circuit) settleShared(p Permit, o Outcome, why fault) bool {
	if o == Failure || o == Unjudged {
		why.text = causeText(why.err) // foreign code, so not under the lock
	}
	c.mu.Lock()
	f := c.fleet
	switch {
	case f.mode != Shared:
		return c.settleLocal(p, o, why)
	case f.own != NoForce, !c.settings.Enabled: // what is switched off here counts nothing
		if p.token != 0 && p.round == f.seen.Round { // but keeps no place that others want
			c.settleInStore(p, Neutral, fault{})
			return true
		}
		c.unlock()
		return true
	case p.round != f.seen.Round: // lower, or of what the store has lost
		c.unlock()
		if o != Neutral {
			c.late.Add(1)
		}
		return o == Neutral
	case p.token == 0 && o == Neutral:
		c.unlock()
		return true
	case p.token == 0 && c.settings.MinReporters > 1:
		return c.settleByVote(p, o, why)
	case p.token == 0 && c.settings.windowed():
		return c.settleByWindow(p, o, why)
	case p.token == 0 && o == Success:
		return c.succeed(p, fault{})
	}
	return c.settleInStore(p, o, why)
}

// settleByWindow counts in this process's own window, which looks at its own calls only,
// and lets the store know when a share is reached: the circuit opens here at once, and
// there by the vote. The failures in a row are the store's to count; without that rule no
// failure is a command.
func (c *Circuit) settleByWindow(p Permit, o Outcome, why fault) bool {
	if c.machine.State(c.settings) != Closed { // a force counts nothing
		c.unlock()
		return true
	}
	rule, grounds := c.lately(o, why)
	why.counted = true
	switch {
	case rule != NoRule:
		o, why, _ = c.condemn(rule, grounds, o, why)
		return c.secede(p, o, why)
	case o == Success:
		return c.succeed(p, why)
	case c.settings.FailureThreshold == 0 && why.hold == 0:
		c.cause, c.fleet.causeText = why.err, why.text
		c.publish(c.Now())
		c.unlock()
		return true
	}
	return c.settleInStore(p, o, why)
}

// succeed notes a success of a closed circuit, and reports it if there are failures on
// the books: one at a time, since one is enough.
func (c *Circuit) succeed(p Permit, why fault) bool {
	f := c.fleet
	f.succeeded = true
	if !f.terms.Strict && (f.failures == 0 || f.reporting) {
		c.publish(c.Now())
		c.unlock()
		return true
	}
	f.reporting = true
	return c.settleInStore(p, Success, why)
}

// settleInStore reports an outcome, and counts it here if that cannot be done.
func (c *Circuit) settleInStore(p Permit, o Outcome, why fault) bool {
	f := c.fleet
	command := Command{Kind: Settle, ID: p.token, Round: p.round, Token: p.token, Outcome: o, Hold: why.hold}
	if p.token == 0 {
		command.ID = newID()
	}
	if o != Success && o != Neutral {
		command.Cause, command.Restart = why.text, f.succeeded
		f.reported, f.reportedText, f.succeeded = why.err, why.text, false
		c.publish(c.Now()) // the next success is worth noting, even if it comes before the answer
	}
	answer, err := c.ask(command)
	if p.token == 0 && o == Success {
		f.reporting = false // before a listener can end the goroutine
	}
	if err != nil {
		f.succeeded = f.succeeded || command.Restart
		if command.Restart && p.round == c.machine.Round && c.machine.State(c.settings) == Closed {
			c.inARow(Success) // the one before it, since many failures may end their wait at once
		}
		return c.settleLocal(p, o, why)
	}
	c.unlock()
	if !answer.Counted {
		c.late.Add(1)
	}
	return answer.Counted
}

// settleByVote counts here, and lets the store know only when the circuit is to open.
func (c *Circuit) settleByVote(p Permit, o Outcome, why fault) bool {
	f := c.fleet
	if c.machine.State(c.settings) != Closed { // a force counts nothing
		c.unlock()
		return true
	}
	o, why, trip := c.judge(o, why)
	if !trip {
		if o == Success {
			f.succeeded = true // the next ones are no news
		} else {
			c.cause, f.causeText = why.err, why.text
		}
		c.publish(c.Now())
		c.unlock()
		return true
	}
	return c.secede(p, o, why)
}

// secede opens the circuit here, whatever the others say, and tells them by a vote.
func (c *Circuit) secede(p Permit, o Outcome, why fault) bool {
	f, now, failures := c.fleet, c.Now(), c.failures
	f.mode = Apart
	c.alone()
	next, _ := c.machine.settle(Permit{round: c.machine.Round}, o, true, why.hold, now, c.settings)
	c.cause, f.causeText = why.err, why.text
	c.advance(next, c.settings, now)
	c.vote(p.round, failures)
	c.unlock()
	return true
}

// vote tells the store that this replica has opened.
func (c *Circuit) vote(round uint64, failures int) {
	f := c.fleet
	_, _ = c.ask(Command{
		Kind: Vote, ID: newID(), Round: round &^ local, Replica: f.replica, Failures: failures, Cause: f.causeText,
		Hold: c.machine.Hold,
	})
}

// causeText is a failure as the store may have it.
func causeText(cause error) string {
	if cause == nil {
		return ""
	}
	return sanitize.Message(fmt.Sprint(cause)) // Sprint, since a foreign Error method may panic
}
