package breaker

import (
	"slices"
	"time"
)

// Record is what a store keeps of one circuit. Its zero value is a circuit of which
// nothing is known: closed and healthy. It is a value: its methods return the next
// one and leave the receiver as it is.
//
// It holds the rules of the shared circuit as [Machine] holds those of one process:
// without clock, lock or I/O. Times are since the Unix epoch.
type Record struct {
	// Machine is the circuit itself.
	Machine
	// Failures counts those in a row, in the order in which the store learned of
	// them, on which the state rests.
	Failures int
	// Cause is the last failure that counted, with secrets taken out.
	Cause string
	// Order is the one that put a force over the circuit, or the last one that lifted it.
	Order Order
	// Ordered is when it was given; 0 if never.
	Ordered time.Duration
	// Votes are those of replicas that want the circuit to open.
	Votes []Ballot
	// Seen are the IDs of the last commands, the oldest first.
	Seen []uint64
}

// Ballot is one replica's vote.
type Ballot struct {
	// Replica is whose it is.
	Replica uint64
	// End is when it lapses, Length how long it ran then.
	End, Length time.Duration
}

// remembered is how many IDs are kept: more than one client can have under way
// between a command and its repetition.
const remembered = 64

// Apply carries out a command at the time now. It is the whole of the protocol: what
// every store does, and what every store is checked against.
func (r Record) Apply(now time.Duration, c Command) (Record, Answer) {
	now = now.Truncate(time.Microsecond)
	c = c.exact()
	r, clamped := r.clamp(now)
	answer := Answer{Now: now, Clamped: clamped}
	r = r.step(r.Machine.Lapse(now), now)
	switch c.Kind {
	case Acquire:
		r, answer.Granted = r.grant(now, c)
	case Settle:
		r, answer.Counted = r.settle(now, c)
	case Vote:
		r, answer.Counted = r.vote(now, c)
	case Operate:
		r = r.operate(now, c)
	default: // Read, and Rebuild of what makes sense
	}
	answer.Record = r
	return r, answer
}

// longest is what a command's times are cut to: a century, so that no sum of one and
// the time of day overflows, neither here nor where times are kept as doubles.
const longest = 100 * 365 * 24 * time.Hour

// exact cuts a command's times to the microsecond, which is what travels, and what a
// dependency asks for to a day. Jitter is no store's affair: those who share a circuit
// wait for longer before they ask.
func (c Command) exact() Command {
	for _, d := range []*time.Duration{
		&c.Lease, &c.Hold, &c.Order.For, &c.View.Hold, &c.Settings.RecoveryTimeout, &c.Settings.Cooldown, &c.Settings.MaxRecoveryTimeout,
	} {
		switch {
		case *d > 0:
			*d = min(max(d.Truncate(time.Microsecond), time.Microsecond), longest)
		default:
			*d = 0
		}
	}
	c.Settings.RecoveryJitter = 0
	c.Hold, c.View.Hold = min(c.Hold, maxTime), min(c.View.Hold, maxTime)
	return c
}

// step takes over what the machine has become. A transition begins a round that has
// never been: a store that has lost its memory does not count on where it was.
func (r Record) step(next Machine, now time.Duration) Record {
	if next.Round != r.Machine.Round {
		next.Round = max(next.Round, uint64(now/time.Microsecond))
		r.Votes = nil
		if next.Beneath != Open {
			r.Failures = 0
		}
	}
	r.Machine = next
	return r
}

// clamp puts times that lie ahead to now: they were written by a clock that was wrong,
// or before the store's went backwards.
func (r Record) clamp(now time.Duration) (Record, bool) {
	clamped := false
	past := func(t *time.Duration) {
		if *t > now {
			*t, clamped = now, true
		}
	}
	past(&r.LastFailure)
	past(&r.LastHalfOpen)
	past(&r.Since)
	past(&r.Ordered)
	ends := func(end *time.Duration, length time.Duration) {
		if *end > addTime(now, length) {
			*end, clamped = addTime(now, length), true
		}
	}
	ends(&r.ForceUntil, r.Order.For)
	r.Leases, r.Votes = slices.Clone(r.Leases), slices.Clone(r.Votes)
	for i := range r.Leases {
		ends(&r.Leases[i].End, r.Leases[i].Length)
	}
	for i := range r.Votes {
		ends(&r.Votes[i].End, r.Votes[i].Length)
	}
	return r, clamped
}

// grant gives out a permit. A token that was granted already is granted still; one
// that was settled is never granted again.
func (r Record) grant(now time.Duration, c Command) (Record, bool) {
	if r.knows(c.ID) {
		return r, false
	}
	if r.Machine.State(c.Settings) == HalfOpen && slices.ContainsFunc(r.Leases, func(l Lease) bool { return l.Token == c.ID && l.End > now }) {
		return r, true
	}
	next, _, ok := r.Machine.acquire(now, c.Lease, c.ID, c.Settings)
	if !ok {
		return r, false
	}
	r = r.step(next, now)
	if r.Machine.State(c.Settings) == HalfOpen && r.Limit == 0 {
		// The round's limits are those of whoever gets its first permit: that begins
		// it, or is the first after an operator's force was lifted.
		r.Limit, r.Needed = c.Settings.MaxProbes, c.Settings.SuccessesToClose
	}
	return r, true
}

// settle counts an outcome, and opens or closes the circuit in the same step.
func (r Record) settle(now time.Duration, c Command) (Record, bool) {
	if r.knows(c.ID) {
		return r, true
	}
	on := c.Settings
	on.Enabled = true // who is switched off by its own settings does not ask
	state, before := r.Machine.State(on), r.Machine.Round
	failures := r.Failures
	if state == Closed && c.Round == before {
		switch {
		case c.Outcome == Success:
			failures = 0
		case c.Outcome == Neutral:
		case c.Restart:
			failures = 1
		default:
			failures++
		}
	}
	threshold := c.Settings.FailureThreshold // 0 if the failures in a row are not looked at
	trip := threshold > 0 && failures >= threshold || c.Hold > 0
	next, counted := r.Machine.settle(Permit{round: c.Round, token: c.Token}, c.Outcome, trip, c.Hold, now, on)
	if !counted || (state == Closed && c.Outcome == Neutral) || c.Round != before {
		return r, counted
	}
	if state == Closed && c.Outcome == Success && r.Failures == 0 {
		return r, true // nothing to write
	}
	r = r.step(next, now)
	switch {
	case state == Closed:
		r.Failures = failures
	case state == HalfOpen && next.Beneath == Open:
		r.Failures = 1 // the count was 0 on entry, and one failure ends it
	}
	if (state == Closed || state == HalfOpen) && c.Outcome != Success && c.Outcome != Neutral {
		r.Cause = c.Cause
	}
	if state == Closed || state == HalfOpen {
		r = r.remember(c.ID)
	}
	return r, true
}

// vote lets a replica have its say; the circuit opens at as many as the settings want.
func (r Record) vote(now time.Duration, c Command) (Record, bool) {
	on := c.Settings
	on.Enabled = true
	switch {
	case r.knows(c.ID):
		return r, true
	case c.Round != r.Machine.Round, r.Machine.State(on) != Closed:
		return r, false
	}
	length := max(on.openFor(1), c.Hold).Truncate(time.Microsecond) // as the replica's own circuit stays open
	votes := slices.DeleteFunc(slices.Clone(r.Votes), func(b Ballot) bool { return b.End <= now || b.Replica == c.Replica })
	r.Votes = append(votes, Ballot{Replica: c.Replica, End: addTime(now, length), Length: length})
	r.Cause = c.Cause
	next := r.Machine
	next.LastFailure, next.Hold = now, c.Hold
	if len(r.Votes) >= c.Settings.MinReporters {
		next = next.open(now, 1)
	}
	r = r.step(next, now)
	if next.Beneath == Open {
		r.Failures = c.Failures
	}
	return r.remember(c.ID), true
}

// operate carries out an operator's order, and keeps it for those who wonder later.
func (r Record) operate(now time.Duration, c Command) Record {
	if r.knows(c.ID) {
		return r
	}
	if c.Order.Reset {
		r.Cause = ""
	}
	r = r.step(r.Machine.order(c.Order, now), now)
	r.Order, r.Ordered = c.Order, now
	return r.remember(c.ID)
}

// Rebuilt is what Rebuild writes, at the time now, in the place of a record that makes
// no sense. Only the circuit's own state and the count can be had from a view. It is a
// new round, since others may have seen later ones than the sender has: probes that are
// out count no more. Votes and IDs are lost; so is an operator's force, which the sender
// orders anew.
func (c Command) Rebuilt(now time.Duration) (Record, Answer) {
	now = now.Truncate(time.Microsecond)
	at := func(age time.Duration) time.Duration {
		if age == 0 {
			return 0 // never
		}
		return max(now-max(age, 0), time.Microsecond).Truncate(time.Microsecond)
	}
	r := Record{Cause: c.Cause, Failures: max(c.Failures, 0)}
	r.Round = max(c.View.Round+1, uint64(now/time.Microsecond))
	r.LastFailure, r.LastHalfOpen, r.Since = at(c.View.LastFailure), at(c.View.LastHalfOpen), at(c.View.Since)
	switch r.Generation = max(c.View.Generation, 1); c.View.Beneath {
	case Open:
		r.Beneath = Open
	case HalfOpen:
		r.Beneath, r.Failures = HalfOpen, 0
	default:
		r.Generation = 0
	}
	if r.Beneath != Closed {
		r.Hold = c.exact().View.Hold
	}
	r = r.remember(c.ID)
	return r, Answer{Now: now, Record: r}
}

func (r Record) knows(id uint64) bool { return slices.Contains(r.Seen, id) }

func (r Record) remember(id uint64) Record {
	seen := append(slices.Clone(r.Seen), id)
	r.Seen = seen[max(0, len(seen)-remembered):]
	return r
}
