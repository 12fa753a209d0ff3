package storetest

import (
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func clockChecks() []check {
	return []check{
		{name: "the store's clock decides", run: oneClock, needs: func(h Harness) (string, bool) { return "Now", h.Now != nil }},
		{name: "time passes as it does in the store", run: timePasses},
		{name: "what may still decide is remembered", run: remembered, needs: func(h Harness) (string, bool) {
			return "Advance", h.Advance != nil
		}},
		{name: "a clock that goes backwards delays nothing", run: clockBack, needs: hasSkew},
		{name: "a clock that jumps ahead ends what it must", run: clockAhead, needs: hasSkew},
	}
}

func hasSkew(h Harness) (string, bool) { return "Skew", h.Skew != nil }

// The time of an answer is the store's, whoever asks (P115, A37).
func oneClock(l *lab) {
	w := l.circuit()
	for range 2 * len(l.clients) {
		before := l.Now().Truncate(time.Microsecond)
		a := w.do(breaker.Command{Kind: breaker.Read})
		l.must(before <= a.Now && a.Now <= l.Now(), "an answer is of %v, and the store's clock is at %v", a.Now, l.Now())
		l.pass(short)
	}
}

func timePasses(l *lab) {
	w := l.circuit()
	before := w.do(breaker.Command{Kind: breaker.Read}).Now
	l.pass(short)
	after := w.do(breaker.Command{Kind: breaker.Read}).Now
	l.must(after > before, "the clock stands at %v", after)
	l.must(after == after.Truncate(time.Microsecond), "%v is not in microseconds", after)
	w.trip()
	l.must(w.last.Record.LastFailure == w.last.Now && w.last.Record.Since == w.last.Now, "a failure at %v is noted at %v",
		w.last.Now, w.last.Record.LastFailure)
}

// A store may forget what nobody asks for, but not before the longest open time, lease
// and force are over: else a broken dependency would be flooded (A17).
func remembered(l *lab) {
	const day = 24 * time.Hour
	s := settings()
	s.RecoveryTimeout = day
	open, probing, forced := l.circuit(), l.circuit(), l.circuit()
	open.trip()
	probing.due(soon(s))
	probing.probe(2*day, soon(s))
	forced.force(breaker.ForceOpen, breaker.LongestOrder)
	l.pass(day - time.Minute)
	_, granted := open.acquire(long, s)
	l.must(!granted, "an open circuit was forgotten before its time")
	l.pass(day - time.Minute)
	_, granted = probing.acquire(long, s)
	l.must(!granted, "a probe's place was given away before its lease had lapsed")
	l.pass(breaker.LongestOrder - 2*day)
	forced.is(breaker.ForcedOpen, "until a minute before the end of its force")
}

// Times that lie ahead count as now: nothing takes longer than it would from now on, and
// rounds still grow (A37).
func clockBack(l *lab) {
	s := soon(settings())
	s.MaxProbes = 2
	open, probing, forced, voted := l.circuit(), l.circuit(), l.circuit(), l.circuit()
	l.Skew(long)
	open.trip()
	probing.due(s)
	probing.probe(long, s)
	probing.probe(short, s)
	forced.trip()
	forced.force(breaker.ForceClosed, 2*short)
	s.MinReporters = 2
	voted.vote(1, s)
	l.Skew(-long)

	for _, w := range []*twin{open, probing, forced} {
		round := w.want.Round
		a := w.raw(breaker.Command{Kind: breaker.Acquire, ID: newID(), Lease: long, Settings: settings()})
		l.must(a.Clamped, "times ahead of the clock were found, and not reported")
		l.nothingAhead(a)
		l.must(a.Record.Round >= round, "round %d after %d", a.Record.Round, round)
	}
	for _, w := range []*twin{open, probing} { // an hour early, it would have taken an hour
		l.must(w.grantedSoon(s), "no permit, where none should take longer than %v", short)
	}
	l.must(eventually(func() bool {
		l.pass(short)
		return forced.raw(breaker.Command{Kind: breaker.Read}).Record.Force == breaker.NoForce
	}), "a force holds for longer than was ordered")

	ballot := voted.ballot(2, s)
	ballot.Settings.MinReporters = 3
	l.must(voted.raw(ballot).Clamped, "a vote that runs for too long was found, and not reported")
	l.pass(2 * short)
	voted.raw(voted.ballot(3, s))
	l.must(voted.last.Record.Beneath == breaker.Closed, "a vote holds for longer than it runs")
}

// nothingAhead checks the times of an answer.
func (l *lab) nothingAhead(a breaker.Answer) {
	r := a.Record
	for _, t := range []time.Duration{r.LastFailure, r.LastHalfOpen, r.Since, r.Ordered} {
		l.must(t <= a.Now, "%v lies ahead of %v", t, a.Now)
	}
	l.must(r.ForceUntil <= a.Now+r.Order.For, "a force of %v ends in %v", r.Order.For, r.ForceUntil-a.Now)
	for _, lease := range r.Leases {
		l.must(lease.End <= a.Now+long, "a lease ends in %v", lease.End-a.Now)
	}
}

// grantedSoon asks for a permit until there is one.
func (w *twin) grantedSoon(s breaker.Settings) bool {
	for range 50 {
		if w.raw(breaker.Command{Kind: breaker.Acquire, ID: newID(), Lease: long, Settings: s}).Granted {
			return true
		}
		w.pass(short)
	}
	return false
}

// Two hours pass at once.
func clockAhead(l *lab) {
	s := settings()
	open, probing, forced := l.circuit(), l.circuit(), l.circuit()
	open.trip()
	probing.due(soon(s))
	token := probing.probe(long, soon(s))
	forced.trip()
	forced.force(breaker.ForceOpen, long)
	l.Skew(2 * long)
	defer l.Skew(-2 * long)
	forced.is(breaker.Open, "once the force's time is over")
	open.probe(long, s)
	l.must(!probing.report(token, breaker.Failure, s).Counted, "a probe was counted an hour after its lease")
	probing.probe(long, s)
}
