package breaker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Sharing is how a circuit stands with those of other processes. The zero value is
// Alone.
type Sharing uint8

const (
	// Alone is a circuit without a store, or one that its settings keep local.
	Alone Sharing = iota
	// Shared is a circuit whose state is the store's.
	Shared
	// Apart is a circuit that has opened by itself, since too few others agree: see
	// [Settings].MinReporters. It is back when it has closed, or when the shared state
	// changes.
	Apart
	// Lost is a circuit whose store cannot be asked: it goes on by itself, from what it
	// knew last, until the store is back.
	Lost
)

var sharingNames = [...]string{"alone", "shared", "apart", "lost"}

// String returns "alone", "shared", "apart" or "lost".
func (s Sharing) String() string { return nameOf(sharingNames[:], int(s)) }

// local marks the rounds that a circuit with a store makes by itself, so that no
// result of them is ever taken for one of a round of the store's, nor the other way.
const local = uint64(1) << 63

// fleet is a circuit's part in a shared one. The circuit's mutex guards it.
//
// What the store says is put into the circuit's own machine, as far as offsets of this
// process can say it. So the paths without a lock know nothing of all this, and a
// circuit that loses its store goes on with the machine as it is.
type fleet struct {
	store   Store
	terms   Terms
	stop    func() // the news
	replica uint64 // this circuit, among those that vote

	mode  Sharing
	known bool // anything at all
	live  bool // news come as things happen

	seen     Machine       // what the store said last
	failures int           // likewise
	made     time.Duration // when that was asked for, on the circuit's clock
	now      time.Duration // when it was true, on the store's clock
	version  uint64        // counts what was taken over

	asking    bool          // a read or an acquire is under way
	reporting bool          // a success is being reported
	patient   time.Duration // until when the view holds meanwhile, however old
	retryAt   time.Duration // when a lost store is asked again
	garbled   bool          // what it has is to be written anew
	succeeded bool          // a success since the last failure that was reported
	own       Force         // what this process alone has put over it
	last      uint64        // the last round that it has made by itself
	wasApart  bool          // when the store was lost
	closed    bool          // for good
	order     Order         // the last one that the store had
	causeText string        // of the circuit's cause, as the store has it

	reported     error // the last failure that was reported
	reportedText string
}

func newFleet(store Store) *fleet {
	f := &fleet{store: store, terms: store.Terms(), replica: newID(), mode: Shared}
	if f.terms.Timeout <= 0 {
		f.terms.Timeout = 50 * time.Millisecond
	}
	if f.terms.MaxViewAge <= 0 {
		f.terms.MaxViewAge = time.Second
	}
	return f
}

// newID is what makes a command that is repeated harmless.
func newID() uint64 {
	for {
		if id := rand.Uint64(); id != 0 && id != waited {
			return id
		}
	}
}

// sharedMode reports whether the store decides. The mutex is held, as with all that
// follows.
func (c *Circuit) sharedMode() bool { return c.fleet != nil && c.fleet.mode == Shared }

// current is until when the view may be used without looking whether it still holds.
func (c *Circuit) current() time.Duration {
	f := c.fleet
	switch {
	case f == nil, f.mode == Alone, f.own != NoForce:
		return forever
	case f.mode == Lost:
		return max(f.retryAt, f.patient)
	case !f.known:
		return f.patient
	case f.live:
		return forever
	}
	return max(addTime(f.made, f.terms.MaxViewAge), f.patient)
}

// wantsSuccess reports whether the next success is to be noted, at least here.
func (f *fleet) wantsSuccess() bool { return f.terms.Strict || !f.succeeded }

// join enters the fleet, or leaves it.
func (c *Circuit) join(in bool) {
	f := c.fleet
	if !in {
		f.mode = Alone
		c.alone()
		return
	}
	f.known = false
	c.rejoin(c.Now())
}

// alone marks the rounds that follow as this process's own: none of them has been before,
// nor been one of the store's.
func (c *Circuit) alone() {
	c.machine.mark = max((c.machine.Round+1)|local, c.fleet.last+1)
}

// apart ends what a circuit does by itself when it has closed, and votes again when it
// has opened once more.
func (c *Circuit) apart(before State) {
	switch state := c.machine.State(c.settings); {
	case state == Closed:
		c.rejoin(c.Now())
	case state == Open && before == HalfOpen:
		c.vote(c.fleet.seen.Round, c.failures)
	}
}

// ask sends one command, with no lock held, and takes over what the answer says. It
// takes no longer than the store's timeout. A store that panics has not answered.
func (c *Circuit) ask(command Command) (Answer, error) {
	return c.askWithin(c.fleet.terms.Timeout, command)
}

// askWithin is ask with less time.
func (c *Circuit) askWithin(patience time.Duration, command Command) (answer Answer, err error) {
	f := c.fleet
	sent, at, returned := f.version, c.Now(), false
	command.Settings = c.settings
	c.mu.Unlock() // what is to be delivered waits: a listener must not come between
	defer func() {
		c.mu.Lock()
		if !returned { // the store has ended the goroutine: nobody else gives the mutex back
			f.asking, f.reporting = false, false
			err = errNoAnswer
			defer c.mu.Unlock()
		}
		c.hearReply(answer, err, sent, at)
	}()
	answer, err = c.do(patience, command)
	returned = true
	return answer, err
}

var errNoAnswer = errors.New("the store did not return")

// hearReply takes over an answer, or goes on without the store that has none.
func (c *Circuit) hearReply(answer Answer, err error, sent uint64, at time.Duration) {
	switch {
	case err == nil:
		c.adopt(answer, sent == c.fleet.version, at)
	case c.fleet.mode != Alone: // who has left meanwhile does not care
		c.lose(err)
	}
}

// lose goes on without the store, from what is known.
func (c *Circuit) lose(err error) {
	f, now := c.fleet, c.Now()
	f.retryAt = addTime(now, f.terms.MaxViewAge)
	again := f.garbled
	if f.garbled = errors.Is(err, ErrGarbled); f.garbled && !again {
		f.retryAt = now // it is to be written anew at once, but once
	}
	if f.mode == Shared && c.settings.MinReporters == 1 { // else the count was its own before
		c.counter.reset()
		c.failures = 0
	}
	if f.mode != Lost {
		f.wasApart = f.mode == Apart
		f.mode = Lost
		c.alone()
	}
	c.publish(now)
}

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
	f.seen, f.failures, f.order = c.mirror(a, now), a.Record.Failures, a.Record.Order
	f.known, f.made, f.now = true, at, a.Now
	f.version++
	f.garbled = false
	if f.mode == Alone {
		c.publish(now)
		return
	}
	c.order = f.order
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
	c.rejoin(now)
}

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
	next.tokens = c.machine.tokens
	if f.own == NoForce {
		c.order = f.order
	} else {
		next.Force, next.ForceUntil = f.own, 0
		next.Round |= local
	}
	c.advance(next, c.settings, now)
}

// fleetForce puts over a machine that goes on without its store, and that nothing lies
// over, what the fleet's operator has ordered.
func (c *Circuit) fleetForce(m Machine, now time.Duration) Machine {
	f := c.fleet
	if f == nil || f.mode != Lost || m.Force != NoForce || f.seen.Force == NoForce || now >= f.seen.ForceUntil {
		return m
	}
	m = m.SetForce(f.seen.Force, now)
	m.ForceUntil, c.order = f.seen.ForceUntil, f.order
	return m
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
	order, until, end := c.order, c.machine.ForceUntil, addTime(c.Now(), patience)
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
	case p.token == 0 && o == Success:
		return c.succeed(p)
	}
	return c.settleInStore(p, o, why)
}

// succeed notes a success of a closed circuit, and reports it if there are failures on
// the books: one at a time, since one is enough.
func (c *Circuit) succeed(p Permit) bool {
	f := c.fleet
	f.succeeded = true
	if !f.terms.Strict && (f.failures == 0 || f.reporting) {
		c.publish(c.Now())
		c.unlock()
		return true
	}
	f.reporting = true
	return c.settleInStore(p, Success, fault{})
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
			c.count(Success) // the one before it, since many failures may end their wait at once
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
	if trip := c.count(o); !trip && why.hold == 0 {
		if o == Success {
			f.succeeded = true // the next ones are no news
		} else {
			c.cause, f.causeText = why.err, why.text
		}
		c.publish(c.Now())
		c.unlock()
		return true
	}
	now, failures := c.Now(), c.failures
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

// Steer carries out an operator's order, on all that share the circuit. Without a store
// it acts on this circuit alone. The error says what the order lacks, or why the store
// could not be told; then nothing has changed here, and maybe nothing there.
func (c *Circuit) Steer(ctx context.Context, order Order) error {
	if err := order.Validate(); err != nil {
		return fmt.Errorf("circuit %s: %w", c.name, err)
	}
	order.Author, order.Reason = sanitize.Message(order.Author), sanitize.Message(order.Reason)
	c.mu.Lock()
	f := c.fleet
	if f == nil || f.mode == Alone {
		now := c.Now()
		c.order = order
		if f != nil {
			f.own = NoForce // the order is in its place
		}
		if order.Reset {
			c.forget()
		}
		c.advance(c.machine.order(order, now), c.settings, now)
		c.unlock()
		return nil
	}
	sent, at := f.version, c.Now()
	command := Command{Kind: Operate, ID: newID(), Order: order, Settings: c.settings}
	c.mu.Unlock()
	answer, err := f.store.Do(ctx, c.name, command)
	if err == nil {
		err = answer.fault()
	}
	if err != nil {
		return fmt.Errorf("circuit %s: the store was not told: %w", c.name, err)
	}
	c.mu.Lock()
	c.adopt(answer, sent == f.version, at)
	c.unlock()
	return nil
}

// causeText is a failure as the store may have it.
func causeText(cause error) string {
	if cause == nil {
		return ""
	}
	return sanitize.Message(fmt.Sprint(cause)) // Sprint, since a foreign Error method may panic
}
