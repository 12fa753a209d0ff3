package breaker

import (
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Snapshot is a circuit at one moment: all its fields belong together. It is a
// value.
type Snapshot struct {
	// Name is the circuit's name.
	Name string
	// State is the effective state.
	State State
	// Force is what an operator has put over the circuit.
	Force Force
	// ProbeDue reports that the circuit is open but its time has passed: the next
	// attempt will be admitted as a probe.
	ProbeDue bool
	// Round grows with every transition.
	Round uint64
	// Generation is how often in a row the circuit has opened without closing.
	Generation int
	// Failures is the number of failures in a row that the state rests on.
	Failures int
	// Window is what the window of a closed circuit holds now, without any call having
	// to be made; zero where no rule looks at one.
	Window Counts
	// Rule is what opened the circuit, as far as this process knows, until it closes.
	Rule Rule
	// Successes is the number of probes of this half-open round that succeeded.
	Successes int
	// Probes is the number of probes that are out.
	Probes int
	// Since is when the state last changed; zero if it never did.
	Since time.Time
	// Until is the end of the open time, or, with every probe out, of the
	// earliest lease; else zero.
	Until time.Time
	// LastFailure is when the last failure that counted was settled; zero if none.
	LastFailure time.Time
	// Cause is that failure's error, as sanitize.Error has it, since snapshots are shown; nil if none.
	Cause error
	// Order is the last one that an operator gave (see [Circuit.Steer]); with it,
	// ForceUntil is when the force lapses, zero if never.
	Order      Order
	ForceUntil time.Time
	// Sharing is how the circuit stands with those of other processes.
	Sharing Sharing
	// Late is how many results came too late to count, since the circuit was made or
	// reset.
	Late uint64
	// Rejected is how many attempts were refused, likewise.
	Rejected uint64
	// Observe reports that the circuit only observes: whatever its State, it admits
	// everything but what an operator's ForceOpen rejects. WouldReject is how many
	// attempts it would have refused, likewise.
	Observe     bool
	WouldReject uint64
}

// State returns the effective state, without a lock. An open circuit whose time
// has passed is open until the next attempt; [Snapshot.ProbeDue] tells.
func (c *Circuit) State() State {
	v := c.view.Load()
	if v.state < ForcedOpen || v.until == forever || c.Now() < v.until {
		return v.state
	}
	return c.Snapshot().State // a force whose time may be over
}

// Snapshot returns the circuit as it is now. It changes nothing, and may be
// called from anywhere, listeners included.
func (c *Circuit) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Now()
	m, past := c.machine.Lapse(now), c.recall()
	snap := Snapshot{
		Name: c.name, State: m.State(c.settings), Force: m.Force,
		Round: m.Round &^ local, Generation: m.Generation,
		Failures: c.failures, Successes: m.Successes,
		Since: c.Time(m.Since), LastFailure: c.Time(m.LastFailure), Cause: sanitize.Error(c.cause),
		Order: past.order, ForceUntil: c.Time(m.ForceUntil),
		Late: c.late.Load(), Rejected: c.rejected.Load(), Rule: past.rule,
		Observe: c.settings.Observe, WouldReject: c.wouldReject.Load(),
	}
	if w := c.counter.window; w != nil && snap.State == Closed {
		snap.Window = w.counts(now)
	}
	if c.fleet != nil {
		snap.Sharing = c.fleet.mode
	}
	switch snap.State {
	case Open:
		until := m.OpenUntil(c.settings)
		snap.Until, snap.ProbeDue = c.Time(until), now >= until
	case HalfOpen:
		snap.Until, snap.Probes = c.Time(m.FreeAt(now, c.settings)), m.LivePermits(now)
	default: // nothing ends by itself
	}
	return snap
}
