package storetest

import (
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func closedChecks() []check {
	return []check{
		{name: "unknown circuits are healthy", run: unknownIsHealthy},
		{name: "failures in a row open the circuit", run: failuresOpen},
		{name: "a success clears the count", run: successClears},
		{name: "a restart begins the count anew", run: restart},
		{name: "results of other rounds are late", run: otherRounds},
		{name: "texts come back as they are", run: texts},
		{name: "terms do not change", run: terms},
	}
}

// A circuit of which the store knows nothing is closed, in round 0, and stays so while
// all goes well (P113, A35).
func unknownIsHealthy(l *lab) {
	w, s := l.circuit(), settings()
	for range 3 {
		w.is(breaker.Closed, "of an unknown circuit")
		_, granted := w.acquire(long, s)
		l.must(granted, "an unknown circuit grants nothing")
		l.must(w.settle(breaker.Success, s).Counted, "a success in an unknown circuit is late")
		l.must(w.settle(breaker.Neutral, s).Counted, "a neutral outcome in an unknown circuit is late")
		l.must(w.last.Record.Round == 0, "a healthy circuit has come to round %d", w.last.Record.Round)
	}
}

// Counting and opening are one step, and the round is new by the clock.
func failuresOpen(l *lab) {
	w, s := l.circuit(), settings()
	for range s.FailureThreshold - 1 {
		w.settle(breaker.Failure, s)
		w.settle(breaker.Neutral, s)
		w.is(breaker.Closed, "below the threshold")
	}
	a := w.settle(breaker.Unjudged, s)
	l.must(a.Record.Beneath == breaker.Open, "the failure at the threshold was answered with %v", a.Record.Beneath)
	l.must(a.Record.Failures == s.FailureThreshold, "opened with %d failures", a.Record.Failures)
	l.must(a.Record.Generation == 1, "opened in generation %d", a.Record.Generation)
	l.must(a.Record.Round >= uint64(a.Now.Microseconds()), "round %d is before its time", a.Record.Round)
	w.is(breaker.Open, "after the threshold")

	w = l.circuit() // the threshold is that of whoever reports the failure
	w.settle(breaker.Failure, s)
	s.FailureThreshold = 2
	l.must(w.settle(breaker.Failure, s).Record.Beneath == breaker.Open, "a lower threshold of the sender's does not hold")
}

func successClears(l *lab) {
	w, s := l.circuit(), settings()
	for range 3 {
		for range s.FailureThreshold - 1 {
			w.settle(breaker.Failure, s)
		}
		a := w.settle(breaker.Success, s)
		l.must(a.Record.Failures == 0, "%d failures after a success", a.Record.Failures)
	}
	w.is(breaker.Closed, "with successes between the failures")
}

// Without it, random failures of many replicas that succeed in between would add up.
func restart(l *lab) {
	w, s := l.circuit(), settings()
	c := w.outcome(breaker.Failure, s)
	c.Restart = true
	for range 2 * s.FailureThreshold {
		c.ID = newID()
		l.must(w.do(c).Record.Failures == 1, "%d failures after a restart", w.last.Record.Failures)
	}
	w.settle(breaker.Failure, s)
	w.settle(breaker.Failure, s)
	w.is(breaker.Open, "after failures without a restart")
}

// A late result changes nothing: neither the count nor the time of the last failure
// (P91, A14).
func otherRounds(l *lab) {
	w, s := l.circuit(), settings()
	late := func() {
		w.do(breaker.Command{Kind: breaker.Read})
		before, round := w.last.Record, w.want.Round
		for _, r := range []uint64{round - 1, round + 1, 0, 1, round | 1<<63, 1<<64 - 1} {
			if r == round {
				continue
			}
			for _, o := range []breaker.Outcome{breaker.Failure, breaker.Unjudged, breaker.Success} {
				c := w.outcome(o, s)
				c.Round = r
				l.must(!w.do(c).Counted, "a %v of round %d was counted in round %d", o, r, round)
			}
			c := w.outcome(breaker.Neutral, s)
			c.Round = r
			w.do(c)
		}
		after := w.last.Record
		l.must(after.LastFailure == before.LastFailure, "late failures have moved the last failure's time")
		l.must(after.Failures == before.Failures && after.Round == before.Round, "late results have changed the state")
	}
	late()
	w.settle(breaker.Failure, s)
	late()
	w.trip()
	late()
	w.until(w.want.OpenUntil(soon(s)))
	token := w.probe(long, soon(s))
	late()
	w.report(token, breaker.Success, s)
	late()
	w.is(breaker.Closed, "after late results")
}

// Whatever a cause, an author or a reason may hold.
func texts(l *lab) {
	w, s := l.circuit(), settings()
	s.FailureThreshold = 1000
	for _, text := range []string{"", "plain", "a:b{c}\n\r\t\"'\\", "nul \x00 in it", "ünïcode 💥\u2028", "%s %d", "[1,2]", "-0", "1e999"} {
		c := w.outcome(breaker.Failure, s)
		c.Cause = text
		w.do(c)
		o := breaker.Order{Force: breaker.ForceDisabled, For: long, Author: "a" + text, Reason: "r" + text}
		w.do(breaker.Command{Kind: breaker.Operate, Order: o})
		w.force(breaker.NoForce, 0)
	}
}

func terms(l *lab) {
	first := l.clients[0].Terms()
	l.must(first.Timeout > 0, "Timeout is %v", first.Timeout)
	l.must(first.MaxViewAge > 0, "MaxViewAge is %v", first.MaxViewAge)
	l.circuit().trip()
	l.must(l.clients[0].Terms() == first, "the terms have changed")
}
