package storetest

import (
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func orderChecks() []check {
	return []check{
		{name: "an operator's force holds until it is released", run: forces},
		{name: "a force ends by itself", run: forceLapses},
		{name: "an order voids the permits that are out", run: ordersVoid},
		{name: "a reset closes and clears", run: resets},
	}
}

func forces(l *lab) {
	w, s := l.circuit(), settings()
	w.trip()
	failed := w.want.LastFailure
	for force, state := range map[breaker.Force]breaker.State{
		breaker.ForceOpen: breaker.ForcedOpen, breaker.ForceClosed: breaker.ForcedClosed, breaker.ForceDisabled: breaker.Disabled,
	} {
		round := w.want.Round
		a := w.force(force, long)
		l.must(a.Record.Round > round, "a force is no new round")
		l.must(a.Record.Order.Author != "" && a.Record.Order.Reason != "", "author and reason of an order are lost")
		w.is(state, "under a force")
		_, granted := w.acquire(long, s)
		l.must(granted == (force != breaker.ForceOpen), "under force %v granted is %v", force, granted)
		s.FailureThreshold = 1
		w.settle(breaker.Failure, s)
		w.settle(breaker.Success, s)
		w.is(state, "under a force that counts nothing")
	}
	round := w.force(breaker.ForceDisabled, 2*long).Record.Round
	w.force(breaker.ForceDisabled, long)
	l.must(w.last.Record.Round == round, "a force that is renewed is a new round")
	w.force(breaker.NoForce, 0)
	w.is(breaker.Open, "once the force is released")
	l.must(w.last.Record.LastFailure == failed, "a force has moved the last failure's time")
}

// The store's clock lifts it, in whatever command comes next.
func forceLapses(l *lab) {
	s := settings()
	next := []func(w *twin){
		func(w *twin) { w.do(breaker.Command{Kind: breaker.Read}) },
		func(w *twin) { w.acquire(long, s) },
		func(w *twin) { w.settle(breaker.Failure, s) },
		func(w *twin) { w.do(breaker.Command{Kind: breaker.Vote, Settings: s, Round: w.want.Round}) },
		func(w *twin) { w.force(breaker.ForceClosed, long) },
	}
	for _, command := range next {
		w := l.circuit()
		w.trip()
		w.force(breaker.ForceClosed, short)
		end := w.want.ForceUntil
		for w.last.Now < end { // no command on this circuit until it is over
			w.pass(end - w.last.Now)
			w.last.Now = l.read()
		}
		command(w)
	}
	w := l.circuit()
	w.trip()
	round := w.force(breaker.ForceClosed, short).Record.Round
	w.until(w.want.ForceUntil)
	w.is(breaker.Open, "once the force's time is over")
	l.must(w.last.Record.Round > round, "the end of a force is no new round")
}

// read is the store's time, by way of a circuit that nothing is done to.
func (l *lab) read() time.Duration { return l.circuit().raw(breaker.Command{Kind: breaker.Read}).Now }

// What was granted before counts no more: neither in the overlay nor beneath it.
func ordersVoid(l *lab) {
	s := soon(settings())
	orders := map[string]func(w *twin){
		"force":             func(w *twin) { w.force(breaker.ForceOpen, long) },
		"force and release": func(w *twin) { w.force(breaker.ForceOpen, long); w.force(breaker.NoForce, 0) },
		"reset":             func(w *twin) { w.reset() },
	}
	for name, order := range orders {
		w := l.circuit()
		w.due(s)
		token, round := w.probe(long, s), w.want.Round
		order(w)
		before := w.want.Beneath
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
			for _, r := range []uint64{round, w.want.Round} {
				c := w.outcome(o, s)
				c.ID, c.Token, c.Round = newID(), token, r
				if r == round {
					l.must(!w.do(c).Counted, "%s: a %v of a permit from before was counted", name, o)
				} else if before == breaker.HalfOpen {
					w.do(c)
				}
			}
		}
		l.must(w.want.Beneath == before, "%s: a permit from before has decided", name)
	}
}

func resets(l *lab) {
	w, s := l.circuit(), soon(settings())
	w.due(s)
	w.report(w.probe(long, s), breaker.Failure, s)
	w.force(breaker.ForceOpen, long)
	round := w.want.Round
	a := w.reset()
	w.is(breaker.Closed, "after a reset")
	r := a.Record
	l.must(r.Round > round, "a reset is no new round")
	l.must(r.Force == breaker.NoForce && r.Failures == 0 && r.Generation == 0 && r.LastFailure == 0 && r.LastHalfOpen == 0 && r.Cause == "",
		"a reset leaves something: %+v", r)
	l.must(r.Order.Reset && r.Order.Author != "", "a reset's order is lost")
	w.settle(breaker.Failure, settings())
	l.must(w.last.Record.Failures == 1, "the count goes on after a reset")
	w.reset()
	l.must(w.last.Record.Failures == 0, "a reset of a closed circuit leaves the count")
}
