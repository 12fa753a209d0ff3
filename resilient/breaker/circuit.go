package breaker

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Options wire a circuit to its surroundings. A nil *Options is valid.
type Options struct {
	// OnTransition is told of each transition: in their order, one at a time, with
	// no lock held, on the goroutine of a call that caused one of them. It may use
	// the circuit.
	OnTransition func(Transition)
	// OnSharing is told, in the same way and in one order with the transitions, when the
	// circuit stands otherwise with those of other processes: when its store is lost, say,
	// and when it is back. A store that is back comes before what it has brought.
	OnSharing func(SharingChange)
	// OnPanic is given what OnTransition or OnSharing panicked with. Nil drops it: a
	// listener's fault never reaches the call.
	OnPanic func(value any)
	// Store shares the circuit with all that have one of the same name in the same
	// store, unless the settings keep it local. Nil keeps it to itself.
	Store Store
}

// Circuit is a circuit in this process. Make it with [New], once per dependency,
// and keep it. All methods are safe for concurrent use. The zero value and nil are
// not usable.
type Circuit struct {
	name    string
	origin  time.Time // what the offsets inside count from
	options Options

	view        atomic.Pointer[view] // what acquire and settle need most
	late        atomic.Uint64
	rejected    atomic.Uint64
	wouldReject atomic.Uint64

	mu       sync.Mutex // guards what follows; never held while foreign code runs
	fleet    *fleet     // its part in a shared one; nil without a store
	settings Settings
	machine  Machine
	counter  counter
	failures int      // the run of failures that the state rests on
	cause    error    // the last failure that counted
	closed   [2]*view // the two views of a closed round: clean, and with failures
	past     *past    // nil if there is none
}

// past is what only a circuit has that has ever changed its state, or been given an
// order: most of them never need the room.
type past struct {
	rule    Rule   // what opened it
	grounds Counts // what its window held then
	order   Order  // the last one of an operator
	news    queue[notice]
}

// history is the circuit's past, to be written to. The mutex is held.
func (c *Circuit) history() *past {
	if c.past == nil {
		c.past = &past{}
	}
	return c.past
}

// recall is the circuit's past, to be read. The mutex is held.
func (c *Circuit) recall() past {
	if c.past == nil {
		return past{}
	}
	return *c.past
}

// remark notes what opens the circuit, or that nothing does. The mutex is held.
func (c *Circuit) remark(rule Rule, grounds Counts) {
	if rule != NoRule || c.past != nil {
		h := c.history()
		h.rule, h.grounds = rule, grounds
	}
}

// ordered notes an operator's order; the zero one is none. The mutex is held.
func (c *Circuit) ordered(o Order) {
	if o != (Order{}) || c.past != nil {
		c.history().order = o
	}
}

// view is what is published of one state: immutable, so that it cannot tear.
type view struct {
	state    State
	admits   bool           // every attempt, else none
	observes bool           // it does not refuse what it does not admit
	ignores  outcomes       // they change nothing in this round: no need to tell the machine
	round    uint64         // of the permits it grants
	until    time.Duration  // before it that is all: no need to ask the machine
	rejected *RejectedError // what it is refused with; nil only if it admits
	slow     time.Duration  // how long a slow call takes; 0 if nobody asks
	window   *window        // where a success is counted that changes nothing else
}

// outcomes is a set of them.
type outcomes uint8

func (s outcomes) has(o Outcome) bool { return s&(1<<o) != 0 }

const (
	neutralOnly    = outcomes(1 << Neutral)
	neutralSuccess = outcomes(1<<Neutral | 1<<Success)
	everyOutcome   = outcomes(math.MaxUint8)
)

// forever is an until that no time reaches.
const forever = time.Duration(math.MaxInt64)

// New makes a closed circuit. The name appears in errors and transitions, with
// secrets taken out. It returns an error when the settings are not valid.
func New(name string, settings Settings, options *Options) (*Circuit, error) {
	if err := settings.Validate(); err != nil {
		return nil, fmt.Errorf("circuit %s: %w", sanitize.Message(name), err)
	}
	c := &Circuit{name: sanitize.Message(name), origin: time.Now(), settings: settings}
	c.machine.seed = rand.Uint64()
	if options != nil {
		c.options = *options
	}
	if c.options.Store != nil {
		c.fleet = newFleet(c.options.Store)
	}
	if c.fleet != nil && settings.alone() {
		c.join(false)
		c.fleet.told = Alone // that is how it begins
	}
	c.publish(c.Now())
	if c.fleet != nil {
		c.watch()
	}
	return c, nil
}

// Close ends what a circuit has to do with its store, of which it hears no more; it goes
// on by itself. Close a circuit that is given up before its store is. Without a store
// there is nothing to close.
func (c *Circuit) Close() {
	if c.fleet == nil {
		return
	}
	c.unwatch()
	c.mu.Lock()
	c.fleet.closed = true
	c.join(false)
	c.fleet.told = Alone // nobody is told any more
	c.publish(c.Now())
	c.mu.Unlock()
}

// Name returns the circuit's name, with secrets taken out.
func (c *Circuit) Name() string { return c.name }

// Now is the time as the circuit counts it: the time since it was made, on the
// monotonic clock, and never 0.
func (c *Circuit) Now() time.Duration { return time.Since(c.origin) + 1 }

// Time turns an offset, as Now gives it, into a time; never (0) into the zero one.
func (c *Circuit) Time(offset time.Duration) time.Time {
	if offset == 0 {
		return time.Time{}
	}
	return c.origin.Add(offset - 1)
}

// Offset turns a time into an offset, as Now gives it; one that is centuries away
// into the largest.
func (c *Circuit) Offset(t time.Time) time.Duration {
	//revive:disable-next-line:time-equal what is asked is whether it has a monotonic reading
	if t == t.Round(0) { // it has none, and the wall clock may have been set meanwhile
		return addTime(time.Until(t), c.Now())
	}
	return addTime(t.Sub(c.origin), 1)
}

// Acquire asks for the permit to make one attempt, at the time now (see
// [Circuit.Now]; a caller on the way of a call has read the clock already).
// limit is how long the attempt may take, which decides how long a probe keeps
// its place; 0 means that nothing limits it. Either the permit is valid and must
// be settled, or the error is not nil. A closed circuit takes no lock and
// allocates nothing, nor does a rejection.
func (c *Circuit) Acquire(now, limit time.Duration) (Permit, *RejectedError) {
	v := c.view.Load()
	if now < v.until {
		if v.admits {
			return Permit{round: v.round}, nil
		}
		return c.turnAway(v)
	}
	return c.acquireSlow(limit)
}

// turnAway refuses an attempt, or notes that it would have if the circuit did not only
// observe.
func (c *Circuit) turnAway(v *view) (Permit, *RejectedError) {
	if v.observes {
		c.wouldReject.Add(1)
		return Permit{round: v.round, token: shadow}, nil
	}
	c.rejected.Add(1)
	return Permit{}, v.rejected
}

// Admits reports whether an attempt at the time now would be admitted without asking
// for anything: the circuit is closed, off or only observes, and what is known of it is
// fresh. It changes nothing and takes no lock.
func (c *Circuit) Admits(now time.Duration) bool {
	v := c.view.Load()
	return (v.admits || v.observes) && now < v.until
}

// Rejects returns what an attempt at the time now would be refused with, or nil. It
// asks for nothing and changes nothing.
func (c *Circuit) Rejects(now time.Duration) *RejectedError {
	if v := c.view.Load(); !v.admits && !v.observes && now < v.until {
		return v.rejected
	}
	return nil
}

func (c *Circuit) acquireSlow(limit time.Duration) (Permit, *RejectedError) {
	if c.fleet != nil {
		return c.acquireShared(limit)
	}
	c.mu.Lock()
	return c.acquireLocal(limit, false)
}

// acquireLocal asks the circuit's own machine. The mutex is held, and given back. asked
// says that it has taken time already.
func (c *Circuit) acquireLocal(limit time.Duration, asked bool) (Permit, *RejectedError) {
	now := c.Now() // under the lock, so that the machine's time never runs backwards
	next, permit, ok := c.machine.Acquire(now, limit, c.settings)
	if ok || next.Round != c.machine.Round {
		c.advance(next, c.settings, now)
	}
	if !ok {
		v := c.view.Load()
		c.unlock()
		return c.turnAway(v)
	}
	if asked && permit.token == 0 {
		permit.token = waited
	}
	return c.handOver(permit)
}

// handOver gives the mutex back, and then the permit to whoever asked for it.
func (c *Circuit) handOver(permit Permit) (Permit, *RejectedError) {
	delivered := false
	defer func() {
		if !delivered { // a listener has ended the goroutine: nobody gets the permit
			c.settleSlow(permit, Neutral, fault{})
		}
	}()
	c.unlock()
	delivered = true
	return permit, nil
}

// Settle gives a permit back with the attempt's outcome; cause is the failure's
// error, kept for those who are rejected because of it. It reports whether the
// outcome counted: a late one (of another round, of an unknown permit, or after
// the lease) changes nothing. A success in a healthy circuit takes no lock and
// does not read the clock.
//
// Settle a permit once. A second time is late in half-open, but counts twice in
// a closed circuit.
func (c *Circuit) Settle(p Permit, o Outcome, cause error) bool {
	v := c.view.Load()
	if v.round == p.round && v.ignores.has(o) {
		return true
	}
	return c.settleLately(v, p, forever, o, cause)
}

// SettleSince is Settle for an attempt that began at that time (see [Circuit.Now]), so
// that it can count as slow. Where a rule looks at the window, a success still takes no
// lock, but for the first one of each bucket; it reads the clock if there is a rule for
// slow calls, and else about one time in eight.
func (c *Circuit) SettleSince(p Permit, began time.Duration, o Outcome, cause error) bool {
	v := c.view.Load()
	if v.round == p.round && v.ignores.has(o) {
		return true
	}
	return c.settleLately(v, p, began, o, cause)
}

// settleLately settles what may only have to be counted in the window.
func (c *Circuit) settleLately(v *view, p Permit, began time.Duration, o Outcome, cause error) bool {
	if v.round == p.round && v.window != nil && o == Success { // nothing else comes of it
		if v.slow == 0 && v.window.quick(began) {
			return true
		}
		if now := c.Now(); (v.slow == 0 || now-began < v.slow) && v.window.success(now) {
			return true
		}
	}
	slow := v.slow > 0 && c.Now()-began >= v.slow
	return c.settleSlow(p, o, fault{err: cause, slow: slow})
}

// Withhold gives a permit back with a failure that says when to come again: the circuit
// opens at once, and admits nothing before hold has passed, at most a day. Else it is
// Settle with a Failure.
func (c *Circuit) Withhold(p Permit, cause error, hold time.Duration) bool {
	return c.settleSlow(p, Failure, fault{err: cause, hold: min(max(hold, 0), maxTime)})
}

// fault is what a failure comes with, and what is known of other outcomes.
type fault struct {
	err     error
	text    string        // as a store may have it; empty without a store
	hold    time.Duration // how long the dependency wants to be left alone
	slow    bool          // it took too long
	counted bool          // in the window
}

// slowness is the fault of what succeeded, but too late.
func slowness() fault { return fault{err: ErrSlow, text: ErrSlow.Error()} }

func (c *Circuit) settleSlow(p Permit, o Outcome, why fault) bool {
	switch {
	case p.WouldReject():
		return true
	case p.token == waited:
		p.token = 0
	case p.Probe() && o == Success && why.slow:
		o, why = Failure, slowness()
	}
	if c.fleet != nil {
		return c.settleShared(p, o, why)
	}
	c.mu.Lock()
	return c.settleLocal(p, o, why)
}

// settleLocal tells the circuit's own machine. The mutex is held, and given back.
func (c *Circuit) settleLocal(p Permit, o Outcome, why fault) bool {
	now := c.Now()
	state := c.machine.State(c.settings)
	trip := false
	if state == Closed && p.round == c.machine.Round {
		o, why, trip = c.judge(o, why)
	}
	next, counted := c.machine.settle(p, o, trip, why.hold, now, c.settings)
	if counted {
		c.remember(state, o, why)
	}
	if counted || next.Round != c.machine.Round {
		c.advance(next, c.settings, now)
	}
	if c.fleet != nil && c.fleet.mode == Apart {
		c.apart(state)
	}
	c.unlock()
	if !counted {
		c.late.Add(1)
	}
	return counted
}

// judge counts an outcome of the closed circuit, by all of its rules, and reports whether
// one of them wants it to open. What opens it is a failure, be it a success that was slow.
func (c *Circuit) judge(o Outcome, why fault) (Outcome, fault, bool) {
	rule, grounds := c.lately(o, why)
	if c.inARow(o) {
		rule = RuleConsecutive
	}
	if why.hold > 0 {
		rule = RuleHold
	}
	if rule == NoRule {
		return o, why, false
	}
	return c.condemn(rule, grounds, o, why)
}

// condemn notes what opens the circuit.
func (c *Circuit) condemn(rule Rule, grounds Counts, o Outcome, why fault) (Outcome, fault, bool) {
	c.remark(rule, grounds)
	if o == Success {
		return Failure, slowness(), true
	}
	return o, why, true
}

// lately counts an outcome in the window, once.
func (c *Circuit) lately(o Outcome, why fault) (Rule, Counts) {
	if o == Neutral || why.counted {
		return NoRule, Counts{}
	}
	return c.counter.lately(o, why.slow, c.settings, c.Now)
}

// inARow counts an outcome among the failures in a row.
func (c *Circuit) inARow(o Outcome) (trip bool) {
	switch {
	case c.settings.FailureThreshold == 0:
		c.counter.row = nil
	case o == Success:
		c.counter.success()
	case o != Neutral:
		trip = c.counter.failure(c.settings.FailureThreshold)
	}
	c.failures = c.counter.run()
	return trip
}

// remember keeps what a failure that counted leaves behind.
func (c *Circuit) remember(state State, o Outcome, why fault) {
	if o == Success || o == Neutral || (state != Closed && state != HalfOpen) { // a force counts nothing
		return
	}
	if state == HalfOpen {
		c.failures = 1 // the count was 0 on entry, and one failure ends it
		c.remark(RuleProbe, Counts{})
	}
	c.cause = why.err
	if c.fleet != nil {
		c.fleet.causeText = why.text
	}
}

// ForceOpen rejects every attempt until [Circuit.Release] or [Circuit.Reset].
func (c *Circuit) ForceOpen() { c.force(ForceOpen) }

// ForceClosed admits every attempt, and counts none, until Release or Reset.
func (c *Circuit) ForceClosed() { c.force(ForceClosed) }

// Disable switches the circuit off until Release or Reset: it admits every
// attempt and counts none.
func (c *Circuit) Disable() { c.force(ForceDisabled) }

// Release takes away what ForceOpen, ForceClosed or Disable put over the circuit:
// its own state is in force again, with its times; a closed one begins to count anew.
// Without a force it does nothing. The permits that are out count no more, as with
// each of these.
func (c *Circuit) Release() { c.force(NoForce) }

func (c *Circuit) force(f Force) {
	c.mu.Lock()
	now := c.Now()
	c.ordered(Order{})
	if c.fleet != nil {
		c.fleet.own = f
	}
	if c.sharedMode() {
		c.rejoin(now)
	} else {
		next := c.machine.SetForce(f, now)
		next.ForceUntil = 0 // that of an order which is on already is not this one's
		c.advance(c.fleetForce(next, now), c.settings, now)
	}
	c.unlock()
}

// Reset closes the circuit in one step, lifts any force, and clears all counts and
// times. A circuit that its settings switch off stays off. A shared one lifts what this
// process alone has put over it, and looks again what the store says: to reset it for
// all, see [Circuit.Steer].
func (c *Circuit) Reset() {
	c.mu.Lock()
	now := c.Now()
	c.forget()
	if c.fleet != nil {
		c.fleet.own, c.fleet.known = NoForce, false
	}
	if c.sharedMode() || (c.fleet != nil && c.fleet.mode == Apart) {
		c.rejoin(now)
	} else {
		c.advance(c.machine.Reset(now), c.settings, now)
	}
	c.unlock()
}

// forget clears what the machine does not know of.
func (c *Circuit) forget() {
	c.cause = nil
	if c.fleet != nil {
		c.fleet.causeText = ""
	}
	c.late.Store(0)
	c.rejected.Store(0)
	c.wouldReject.Store(0)
}

// SetSettings puts other settings in force at once: what is stored are times and
// counts, and all else is derived from them. It returns an error, and changes
// nothing, when the settings are not valid.
func (c *Circuit) SetSettings(settings Settings) error {
	if err := settings.Validate(); err != nil {
		return fmt.Errorf("circuit %s: %w", c.name, err)
	}
	c.mu.Lock()
	now := c.Now()
	if c.fleet != nil && !c.fleet.closed && settings.alone() != c.settings.alone() {
		c.join(!settings.alone())
	}
	next := c.machine
	if !c.sharedMode() { // whether one replica is switched off is no state of the fleet's
		next = next.Configure(c.settings, settings, now)
	}
	c.advance(next, settings, now)
	c.unlock()
	return nil
}

// advance is the one door for a change: it stores what is next, publishes it,
// and notes a transition for delivery. The mutex is held.
func (c *Circuit) advance(next Machine, settings Settings, now time.Duration) {
	from, round := c.machine.State(c.settings), c.machine.Round
	if settings != c.settings {
		c.settings = settings
		c.closed = [2]*view{}
		c.counter.fit(settings)
	}
	c.machine = next
	if next.Round != round {
		c.counter.reset()
		c.closed = [2]*view{}
		if next.Beneath != Open {
			c.failures = 0
		}
		if next.Beneath == Closed {
			c.remark(NoRule, Counts{})
		}
	}
	if c.sharedMode() && (settings.MinReporters == 1 || next.Beneath != Closed) {
		c.failures = c.fleet.failures
	}
	c.publish(now)
	if to := next.State(settings); to != from {
		c.history().news.add(notice{transition: c.transition(from, to)})
	}
}

// publish makes the present state visible to the paths without a lock.
func (c *Circuit) publish(now time.Duration) {
	c.noteSharing(now)
	v := &view{state: c.machine.State(c.settings), round: c.machine.Round, until: forever, slow: c.slow()}
	v.observes = c.settings.Observe && v.state != ForcedOpen
	switch v.state {
	case Closed:
		c.publishClosed()
		return
	case ForcedClosed, Disabled:
		v.admits, v.ignores = true, everyOutcome
		if c.fleet != nil {
			v.round |= local // it may be a round of the store's, which counts what this one does not
		}
	case Open:
		v.until = c.machine.OpenUntil(c.settings)
		v.rejected = c.rejection(v.state, v.until)
	case HalfOpen:
		v.until = c.machine.FreeAt(now, c.settings)
		v.rejected = c.rejection(v.state, max(v.until, now))
	case ForcedOpen:
		v.rejected = c.rejection(v.state, 0)
	}
	if c.machine.Force != NoForce && c.machine.ForceUntil != 0 {
		v.until = min(v.until, c.machine.ForceUntil)
	}
	v.until = min(v.until, c.current())
	c.view.Store(v)
}

// publishClosed publishes one of the round's two views, so that failures and
// successes in turn do not make a new one each time.
func (c *Circuit) publishClosed() {
	which, ignores, until, window := 0, neutralSuccess, c.current(), c.counter.window
	switch {
	case c.failures > 0 || (c.sharedMode() && c.fleet.wantsSuccess()):
		which, ignores, window = 1, neutralOnly, nil
	case c.settings.windowed():
		ignores = neutralOnly
	default:
		window = nil
	}
	if v := c.closed[which]; v == nil || v.until != until || v.window != window {
		c.closed[which] = &view{
			state: Closed, round: c.machine.Round, admits: true, until: until, ignores: ignores,
			slow: c.slow(), window: window,
		}
	}
	c.view.Store(c.closed[which])
}

// slow is how long a call takes that is slow; 0 if no rule asks.
func (c *Circuit) slow() time.Duration {
	if c.settings.SlowCallRate == 0 {
		return 0
	}
	return c.settings.SlowCallDuration
}

func (c *Circuit) rejection(state State, until time.Duration) *RejectedError {
	e := &RejectedError{Service: c.name, State: state, Until: c.Time(until)}
	if state != ForcedOpen {
		e.Cause, e.Rule = c.cause, c.recall().rule
	}
	return e
}
