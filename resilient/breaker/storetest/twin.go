package storetest

import (
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// twin is a circuit in the store, and beside it what it ought to be.
type twin struct {
	*lab
	name string
	sent int // commands, so that each goes through another client
	want breaker.Record
	last breaker.Answer
}

// do sends a command and compares the answer with what Apply makes of it at the same
// time. It gives the command an ID, if it has none. The check ends if they differ: what
// follows could not be compared.
func (w *twin) do(c breaker.Command) breaker.Answer {
	if c.ID == 0 {
		c.ID = newID()
	}
	got := w.raw(c)
	var want breaker.Answer
	w.want, want = w.want.Apply(got.Now, c)
	if d := diff(got, want); d != "" {
		w.fatalf("%s: %s", describe(c), d)
	}
	return got
}

// raw sends a command whose answer is not compared.
func (w *twin) raw(c breaker.Command) breaker.Answer {
	w.sent++
	got, err := w.send(w.sent, w.name, c)
	w.must(err == nil, "%s: %v", describe(c), err)
	w.last = got
	return got
}

// adopt takes the state for what it ought to be.
func (w *twin) adopt() { w.want = w.last.Record }

func describe(c breaker.Command) string {
	switch c.Kind {
	case breaker.Settle:
		return fmt.Sprintf("settle %v of round %d with token %d", c.Outcome, c.Round, c.Token)
	case breaker.Operate:
		return fmt.Sprintf("operate %+v", c.Order)
	default:
		return c.Kind.String()
	}
}

// is ends the check unless the circuit is in that state.
func (w *twin) is(state breaker.State, why string) {
	if got := w.do(breaker.Command{Kind: breaker.Read}).Record.State(settings()); got != state {
		w.fatalf("%s: the circuit is %v, want %v", why, got, state)
	}
}

// until waits until the store's clock has reached t.
func (w *twin) until(t time.Duration) {
	for range 1000 {
		now := w.do(breaker.Command{Kind: breaker.Read}).Now
		if now >= t {
			return
		}
		w.pass(t - now)
	}
	w.fatalf("the store's clock does not move")
}

// settle reports an outcome of the present round of a closed circuit.
func (w *twin) settle(o breaker.Outcome, s breaker.Settings) breaker.Answer {
	return w.do(w.outcome(o, s))
}

func (w *twin) outcome(o breaker.Outcome, s breaker.Settings) breaker.Command {
	c := breaker.Command{Kind: breaker.Settle, ID: newID(), Round: w.want.Round, Outcome: o, Settings: s}
	if o == breaker.Failure {
		c.Cause = "down"
	}
	return c
}

// trip opens the circuit.
func (w *twin) trip() {
	s := settings()
	s.FailureThreshold = 1
	w.must(w.settle(breaker.Failure, s).Record.Beneath == breaker.Open, "a failure at the threshold did not open")
}

// due opens the circuit and waits until a probe may be had, with settings like these.
func (w *twin) due(s breaker.Settings) {
	w.trip()
	w.until(w.want.OpenUntil(s))
}

// acquire asks for a probe's permit.
func (w *twin) acquire(lease time.Duration, s breaker.Settings) (token uint64, granted bool) {
	token = newID()
	return token, w.do(breaker.Command{Kind: breaker.Acquire, ID: token, Lease: lease, Settings: s}).Granted
}

// probe is acquire where it must be granted.
func (w *twin) probe(lease time.Duration, s breaker.Settings) (token uint64) {
	token, granted := w.acquire(lease, s)
	w.must(granted, "no permit, where there is a free place: %+v", w.last)
	return token
}

// report is a probe's outcome.
func (w *twin) report(token uint64, o breaker.Outcome, s breaker.Settings) breaker.Answer {
	c := w.outcome(o, s)
	c.ID, c.Token = token, token
	return w.do(c)
}

// order carries out an operator's.
func (w *twin) order(o breaker.Order) breaker.Answer {
	o.Author, o.Reason = "storetest", "to see what happens"
	return w.do(breaker.Command{Kind: breaker.Operate, Order: o, Settings: settings()})
}

// force puts one over the circuit.
func (w *twin) force(f breaker.Force, d time.Duration) breaker.Answer {
	return w.order(breaker.Order{Force: f, For: d})
}

func (w *twin) reset() breaker.Answer { return w.order(breaker.Order{Reset: true}) }
