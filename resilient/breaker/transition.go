package breaker

import "time"

// Transition is one change of a circuit's state. It is a value.
type Transition struct {
	// Circuit is the circuit's name.
	Circuit string
	// From and To are the states; they differ.
	From, To State
	// Round is the new round, larger than any before.
	Round uint64
	// Generation is how often in a row the circuit has opened without closing.
	Generation int
	// Failures is the number of failures in a row that the new state rests on.
	Failures int
	// At is when it happened.
	At time.Time
	// Until is when an open circuit will grant its first probe; else zero.
	Until time.Time
	// Cause is the failure that opened the circuit, unsanitised; nil unless it opened.
	Cause error
	// Rule is what opened the circuit, as far as this process knows; else NoRule.
	Rule Rule
	// Window is what the window held when a rule opened a closed circuit that looks at
	// one; else zero.
	Window Counts
	// Observe reports that the circuit only observes: it still admits everything.
	Observe bool
}

// transition describes the change that was just made. The mutex is held.
func (c *Circuit) transition(from, to State) Transition {
	t := Transition{
		Circuit: c.name, From: from, To: to,
		Round: c.machine.Round &^ local, Generation: c.machine.Generation, Failures: c.failures,
		At: c.Time(c.machine.Since), Observe: c.settings.Observe,
	}
	if to == Open {
		t.Until, t.Cause = c.Time(c.machine.OpenUntil(c.settings)), c.cause
		past := c.recall()
		t.Rule, t.Window = past.rule, past.grounds
	}
	return t
}

// unlock ends a change: what came of it is delivered once the mutex is free.
func (c *Circuit) unlock() {
	waiting := c.past != nil && len(c.past.news.waiting) > 0
	c.mu.Unlock()
	if waiting {
		c.past.news.deliver(&c.mu, c.tell)
	}
}

// notice is what listeners are told of: a change of sharing, or else a transition.
type notice struct {
	transition Transition
	sharing    *SharingChange
}

// tell calls the listener. A panic in it is contained.
func (c *Circuit) tell(n notice) {
	defer func() {
		if panicked := recover(); panicked != nil {
			c.report(panicked)
		}
	}()
	switch {
	case n.sharing != nil:
		c.options.OnSharing(*n.sharing)
	case c.options.OnTransition != nil:
		c.options.OnTransition(n.transition)
	}
}

// report tells what the listener panicked with. Who panics on that is beyond help.
func (c *Circuit) report(panicked any) {
	defer func() { _ = recover() }()
	if c.options.OnPanic != nil {
		c.options.OnPanic(panicked)
	}
}
