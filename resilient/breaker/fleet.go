package breaker

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Sharing is how a circuit stands with those of other processes. The zero value is
// Alone.
type Sharing uint8

const (
	// Alone is a circuit without a store, or one that its settings keep local or that
	// only observes.
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
	told  Sharing // the mode that listeners know of
	fault error   // why the store was lost
	known bool    // anything at all
	live  bool    // news come as things happen

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
	opener    Rule          // what the command opened the circuit by whose answer is taken over
	closed    bool          // for good
	order     Order         // the last one that the store had
	causeText string        // of the circuit's cause, as the store has it

	reported     error // the last failure that was reported
	reportedText string
}

func newFleet(store Store) *fleet {
	f := &fleet{store: store, terms: store.Terms(), replica: newID(), mode: Shared, told: Shared}
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
		if id := rand.Uint64(); id != 0 && id < shadow {
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
		f.opener = answer.opener(command)
		c.hearReply(answer, err, sent, at)
		f.opener = NoRule
	}()
	answer, err = c.do(patience, command)
	returned = true
	return answer, err
}

// watch asks for news. A store that panics has none: it is asked instead.
func (c *Circuit) watch() {
	defer func() {
		if value := recover(); value != nil {
			c.report(value)
		}
	}()
	c.fleet.stop = c.fleet.store.Watch(c.name, c.hear)
}

// unwatch wants no more of them.
func (c *Circuit) unwatch() {
	defer func() {
		if value := recover(); value != nil {
			c.report(value)
		}
	}()
	if c.fleet.stop != nil {
		c.fleet.stop()
	}
}

var errNoAnswer = errors.New("the store did not return")

// do sends one command. A store that panics has not answered.
func (c *Circuit) do(patience time.Duration, command Command) (Answer, error) {
	return c.doFor(c.name, patience, command)
}

// doFor is do for another circuit of the same store.
func (c *Circuit) doFor(circuit string, patience time.Duration, command Command) (answer Answer, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer func() {
		if value := recover(); value != nil {
			c.report(value)
			err = fmt.Errorf("the store of circuit %s panicked", c.name)
		}
	}()
	answer, err = c.fleet.store.Do(ctx, circuit, command)
	if err == nil {
		err = answer.fault()
	}
	return answer, err
}

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
		c.counter.row = nil
		c.failures = 0
	}
	if f.mode != Lost {
		f.wasApart = f.mode == Apart
		f.mode, f.fault = Lost, err
		c.alone()
	}
	c.publish(now)
}

// fleetForce puts over a machine that goes on without its store, and that nothing lies
// over, what the fleet's operator has ordered.
func (c *Circuit) fleetForce(m Machine, now time.Duration) Machine {
	f := c.fleet
	if f == nil || f.mode != Lost || m.Force != NoForce || f.seen.Force == NoForce || now >= f.seen.ForceUntil {
		return m
	}
	m = m.SetForce(f.seen.Force, now)
	m.ForceUntil = f.seen.ForceUntil
	c.ordered(f.order)
	return m
}
