package breaker

import (
	"math"
	"slices"
	"time"
)

// Permit is the right to make one attempt. It is a small value that its holder
// gives back with the attempt's outcome. The zero value belongs to round 0.
type Permit struct {
	round uint64
	token uint64 // 0, waited or shadow, unless the circuit was half-open
}

// What is in the place of a token where there is none.
const (
	waited = math.MaxUint64     // the circuit was closed, and yet it took time to find out
	shadow = math.MaxUint64 - 1 // the circuit would have refused it, and only observes
)

// Round is the circuit's round in which the permit was granted.
func (p Permit) Round() uint64 { return p.round &^ local }

// Probe reports whether the permit was granted in half-open, so that its
// outcome decides whether the circuit closes.
func (p Permit) Probe() bool { return p.token != 0 && p.token < shadow }

// WouldReject reports whether the circuit only observes, and would have refused the
// attempt otherwise: its outcome counts for nothing.
func (p Permit) WouldReject() bool { return p.token == shadow }

// Delayed reports whether it may have taken time to get the permit: observers were
// told of a transition, or a store was asked. Then it is later than when Acquire was
// called.
func (p Permit) Delayed() bool { return p.token != 0 }

// Machine holds a circuit's state and rules: (state, event, now) → (state,
// decision), without clock, lock or I/O. Its methods return the next state and
// leave the receiver as it is. It is the reference that every circuit, shared
// ones included, is checked against; programs use [Circuit].
//
// Times are offsets from an origin that the owner chooses; 0 means never. The
// zero value is a closed circuit.
type Machine struct {
	// Beneath is the circuit's own state, whatever lies over it: Closed, Open or
	// HalfOpen.
	Beneath State
	// Force is what an operator has put over it.
	Force Force
	// Round grows with every transition.
	Round uint64
	// Generation counts the openings since the circuit was last closed.
	Generation int
	// LastFailure is the last failure that counted.
	LastFailure time.Duration
	// Hold is how long the dependency asked to be left alone with its last failure: it
	// lengthens the open time, and never shortens it.
	Hold time.Duration
	// LastHalfOpen is the last entry into half-open.
	LastHalfOpen time.Duration
	// Since is when the state last changed.
	Since time.Duration
	// Successes counts the probes of this round that succeeded.
	Successes int
	// ForceUntil is when the force lapses: from then on it is as if it had been
	// released. 0 is never.
	ForceUntil time.Duration
	// Limit and Needed, unless 0, stand for the settings' MaxProbes and
	// SuccessesToClose in this round: those who share a circuit agree on them, be
	// their policies as they may.
	Limit, Needed int
	// Leases are the probes that are out, those that have lapsed among them. They are
	// copied before each change: a Machine is a value.
	Leases []Lease

	tokens uint64 // the last one given out
	mark   uint64 // the least that a new round may be
	seed   uint64 // the owner's own luck, if it wants one
	salt   uint64 // what the present open time was drawn with: the seed, 0 if a store opened
}

// Lease is a probe's place in half-open: free again from End on.
type Lease struct {
	// Token is the permit's.
	Token uint64
	// End is when it lapses, Length how long it ran then.
	End, Length time.Duration
}

// State is the effective state: the force, else off by the settings, else what
// is beneath. It does not depend on the time: an open circuit whose time has
// passed is open until somebody asks for a permit.
func (m Machine) State(s Settings) State {
	switch {
	case m.Force != NoForce:
		return m.Force.state()
	case !s.Enabled:
		return Disabled
	default:
		return m.Beneath
	}
}

// OpenUntil is when an open circuit grants its first probe:
//
//	max(LastFailure + max(openFor(Generation), Hold), LastHalfOpen + Cooldown)
//
// The first of the two is lengthened by RecoveryJitter. A LastHalfOpen of 0 takes no
// part. It is derived with the settings of the moment, so that changed ones hold at once.
func (m Machine) OpenUntil(s Settings) time.Duration {
	until := addTime(m.LastFailure, s.spread(max(s.openFor(m.Generation), m.Hold), m.luck()))
	if m.LastHalfOpen != 0 {
		until = max(until, addTime(m.LastHalfOpen, s.Cooldown))
	}
	return until
}

// luck is 0 … 1, the same whenever it is asked for in one round: drawn from the round,
// which all that share a circuit have in common, and from what the owner alone has.
func (m Machine) luck() float64 {
	// The last step of SplitMix64: each bit of the result depends on all that went in.
	x := m.Round ^ m.salt
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}

// FreeAt is when half-open next has a free place: 0 if it has one at now.
func (m Machine) FreeAt(now time.Duration, s Settings) time.Duration {
	live, limit := m.LivePermits(now), m.limit(s)
	if live < limit {
		return 0
	}
	// Of the leases in the order of their ends, enough must lapse to fall below
	// the limit; more than one only if the limit was lowered meanwhile.
	ends := make([]time.Duration, 0, live)
	for _, l := range m.Leases {
		if l.End > now {
			ends = append(ends, l.End)
		}
	}
	slices.Sort(ends)
	return ends[live-limit]
}

// limit is how many probes may be out.
func (m Machine) limit(s Settings) int {
	if m.Limit != 0 {
		return m.Limit
	}
	return s.MaxProbes
}

// needed is how many probes must succeed.
func (m Machine) needed(s Settings) int {
	if m.Needed != 0 {
		return m.Needed
	}
	return s.SuccessesToClose
}

// LivePermits is the number of probes that are out and whose lease runs at now.
func (m Machine) LivePermits(now time.Duration) int {
	live := 0
	for _, l := range m.Leases {
		if l.End > now {
			live++
		}
	}
	return live
}

// Acquire asks for a permit. limit is how long the attempt may take; 0 means
// that nothing limits it. It reports false when the attempt is refused.
func (m Machine) Acquire(now, limit time.Duration, s Settings) (Machine, Permit, bool) {
	m, permit, ok := m.acquire(now, s.leaseFor(limit), m.tokens+1, s)
	if permit.token != 0 {
		m.tokens = permit.token
	}
	return m, permit, ok
}

// acquire grants a probe the token and the lease that are given.
func (m Machine) acquire(now, lease time.Duration, token uint64, s Settings) (Machine, Permit, bool) {
	m = m.Lapse(now)
	switch m.State(s) {
	case Open:
		if now < m.OpenUntil(s) {
			return m, Permit{}, false
		}
		m = m.enter(HalfOpen, now)
		m.LastHalfOpen = now
	case HalfOpen:
		if m.LivePermits(now) >= m.limit(s) {
			return m, Permit{}, false
		}
	case ForcedOpen:
		return m, Permit{}, false
	default:
		return m, Permit{round: m.Round}, true
	}
	m.Leases = append(m.liveLeases(now), Lease{Token: token, End: addTime(now, lease), Length: lease})
	return m, Permit{round: m.Round, token: token}, true
}

// Settle takes an attempt's outcome. trip says whether the counter of the closed
// circuit, with this failure counted, wants it to open; it is looked at for
// failures in a closed circuit only. The bool is false for a late result: one
// that came in another round, without a known token, or after its lease; it
// changes nothing.
func (m Machine) Settle(p Permit, o Outcome, trip bool, now time.Duration, s Settings) (Machine, bool) {
	return m.settle(p, o, trip, 0, now, s)
}

// Withhold is Settle for a failure with which the dependency has asked to be left alone
// for a while: it opens a closed circuit whatever the counter says.
func (m Machine) Withhold(p Permit, hold, now time.Duration, s Settings) (Machine, bool) {
	return m.settle(p, Failure, hold > 0, hold, now, s)
}

func (m Machine) settle(p Permit, o Outcome, trip bool, hold, now time.Duration, s Settings) (Machine, bool) {
	m = m.Lapse(now)
	if p.round != m.Round {
		return m, o == Neutral
	}
	switch m.State(s) {
	case Closed:
		if o == Failure || o == Unjudged {
			m.LastFailure, m.Hold = now, hold
			if trip {
				m = m.open(now, 1)
			}
		}
		return m, true
	case HalfOpen:
		return m.settleProbe(p, o, hold, now, s)
	default: // a force counts nothing
		return m, true
	}
}

func (m Machine) settleProbe(p Permit, o Outcome, hold, now time.Duration, s Settings) (Machine, bool) {
	at := slices.IndexFunc(m.Leases, func(l Lease) bool { return l.Token == p.token && l.End > now })
	if at < 0 {
		return m, o == Neutral
	}
	m.Leases = slices.Delete(slices.Clone(m.Leases), at, at+1)
	switch o {
	case Success:
		m.Successes++
		if m.Successes >= m.needed(s) {
			m = m.enter(Closed, now)
			m.Generation = 0
		}
	case Neutral: // the place is free again, and that is all
	default:
		m.LastFailure, m.Hold = now, hold
		m = m.open(now, m.Generation+1)
	}
	return m, true
}

// SetForce puts a force over the circuit, or with NoForce takes it away. The
// permits that are out count no more. It changes nothing if that force is on
// already.
func (m Machine) SetForce(f Force, now time.Duration) Machine {
	if f == m.Force {
		return m
	}
	m.Force, m.ForceUntil = f, 0
	return m.enter(m.Beneath, now)
}

// Lapse takes a force away whose time is over. It is part of each other step.
func (m Machine) Lapse(now time.Duration) Machine {
	if m.Force == NoForce || m.ForceUntil == 0 || now < m.ForceUntil {
		return m
	}
	return m.SetForce(NoForce, now)
}

// Configure takes note that the settings change. Only switching the circuit on
// or off begins a new round; all else is derived when it is asked for.
func (m Machine) Configure(from, to Settings, now time.Duration) Machine {
	if from.Enabled == to.Enabled {
		return m
	}
	return m.enter(m.Beneath, now)
}

// Reset closes the circuit, lifts any force and clears the counts and times.
// The permits that are out count no more.
func (m Machine) Reset(now time.Duration) Machine {
	return Machine{tokens: m.tokens, mark: m.mark, seed: m.seed, Round: m.Round}.enter(Closed, now)
}

// order carries out what an operator wants.
func (m Machine) order(o Order, now time.Duration) Machine {
	if o.Reset {
		return m.Reset(now)
	}
	if m = m.SetForce(o.Force, now); m.Force != NoForce {
		m.ForceUntil = addTime(now, o.For)
	}
	return m
}

func (m Machine) open(now time.Duration, generation int) Machine {
	m = m.enter(Open, now)
	m.Generation, m.salt = generation, m.seed
	return m
}

// enter begins a new round: the one place where the round moves.
func (m Machine) enter(state State, now time.Duration) Machine {
	m.Beneath = state
	m.Round = max(m.Round+1, m.mark)
	m.Since = now
	m.Successes = 0
	m.Limit, m.Needed = 0, 0
	if state == Closed {
		m.Hold = 0
	}
	m.Leases = nil
	return m
}

// liveLeases returns a copy without those that have lapsed.
func (m Machine) liveLeases(now time.Duration) []Lease {
	live := make([]Lease, 0, len(m.Leases)+1)
	for _, l := range m.Leases {
		if l.End > now {
			live = append(live, l)
		}
	}
	return live
}
