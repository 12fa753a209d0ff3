package storetest

import (
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func probeChecks() []check {
	return []check{
		{name: "only a probe's own token counts", run: tokens},
		{name: "a neutral probe gives its place back", run: neutralProbe},
		{name: "a lease lapses, and its probe is late", run: lapse},
		{name: "a probe of an earlier round decides nothing", run: earlierProbe},
		{name: "limit and needed successes are fixed by the round", run: fixedLimits},
		{name: "successes are not kept over a re-open", run: successesCleared},
	}
}

// Whoever has no token of the round's, or one that is used up, decides nothing (P118).
func tokens(l *lab) {
	w, s := l.circuit(), soon(settings())
	s.MaxProbes, s.SuccessesToClose = 3, 3
	w.due(s)
	const big = 1 << 53 // from here on, floating-point numbers skip some
	c := breaker.Command{Kind: breaker.Acquire, ID: big, Lease: long, Settings: s}
	l.must(w.do(c).Granted, "no permit")
	for _, token := range []uint64{big + 1, big - 1, 0, 1, 1<<64 - 1} {
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
			settle := w.outcome(o, s)
			settle.Token = token
			l.must(!w.do(settle).Counted, "a %v with token %d was counted, where %d is out", o, token, uint64(big))
		}
	}
	c.ID = big + 1
	l.must(w.do(c).Granted, "tokens %d and %d are one", uint64(big), uint64(big+1))
	l.must(w.report(big, breaker.Success, s).Record.Successes == 1, "the success did not count")
	again := w.outcome(breaker.Success, s)
	again.Token = big
	l.must(!w.do(again).Counted, "a probe has settled twice")
	w.report(big+1, breaker.Success, s)
	w.is(breaker.HalfOpen, "after two successes of three")
	w.report(w.probe(long, s), breaker.Success, s)
	w.is(breaker.Closed, "after three successes")
	l.must(w.last.Record.Generation == 0, "closed in generation %d", w.last.Record.Generation)
}

func neutralProbe(l *lab) {
	w, s := l.circuit(), soon(settings())
	w.due(s)
	for range 3 {
		token := w.probe(long, s)
		_, granted := w.acquire(long, s)
		l.must(!granted, "two probes, where one is allowed")
		w.report(token, breaker.Neutral, s)
		l.must(w.last.Record.Beneath == breaker.HalfOpen && w.last.Record.Successes == 0, "a neutral probe has decided something")
		again := breaker.Command{Kind: breaker.Acquire, ID: token, Lease: long, Settings: s}
		l.must(!w.do(again).Granted, "a token that was settled is granted again, to a client that has given it back")
	}
	w.report(w.probe(long, s), breaker.Success, s)
	w.is(breaker.Closed, "after a success")
}

// A place is free again once its lease has lapsed; its probe is late then, whether the
// place was given to another or not (P118).
func lapse(l *lab) {
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
		w, s := l.circuit(), soon(settings())
		w.due(s)
		silent := w.probe(short, s)
		w.until(w.want.Leases[0].End)
		l.must(!w.report(silent, o, s).Counted, "a %v after its lease was counted", o)
		l.must(w.last.Record.Beneath == breaker.HalfOpen, "a late probe has decided")
		other := w.probe(long, s)
		l.must(!w.report(silent, o, s).Counted, "a %v after its lease was counted", o)
		_, granted := w.acquire(long, s)
		l.must(!granted, "two probes, where one is allowed")
		again := breaker.Command{Kind: breaker.Acquire, ID: silent, Lease: long, Settings: s}
		l.must(!w.do(again).Granted, "a token whose lease has lapsed is still granted, while another is out")
		l.must(w.report(other, breaker.Success, s).Counted, "the probe in time did not count")
		w.is(breaker.Closed, "after the probe in time")
	}
}

// A probe whose lease has lapsed answers in the next half-open round, while that one's
// own probe is out (A15).
func earlierProbe(l *lab) {
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
		w, s := l.circuit(), soon(settings())
		w.due(s)
		first, round := w.probe(short, s), w.want.Round
		w.until(w.want.Leases[0].End)
		w.report(w.probe(long, s), breaker.Failure, s)
		w.until(w.want.OpenUntil(s))
		second := w.probe(long, s)
		for _, r := range []uint64{round, w.want.Round} {
			c := w.outcome(o, s)
			c.ID, c.Token, c.Round = first, first, r
			l.must(!w.do(c).Counted, "a %v of an earlier round's probe was counted", o)
		}
		w.is(breaker.HalfOpen, "while the round's own probe is out")
		w.report(second, breaker.Success, s)
		w.is(breaker.Closed, "after the round's own probe")
	}
}

// Policies that differ agree on a half-open round: on that of whoever began it.
func fixedLimits(l *lab) {
	narrow, wide := soon(settings()), soon(settings())
	wide.MaxProbes, wide.SuccessesToClose = 5, 5

	w := l.circuit()
	w.due(narrow)
	token := w.probe(long, narrow)
	_, granted := w.acquire(long, wide)
	l.must(!granted, "a wider policy has got a permit beyond the round's limit")
	w.report(token, breaker.Success, wide)
	w.is(breaker.Closed, "after the one success that the round needs")

	w = l.circuit()
	w.due(wide)
	token = w.probe(long, wide)
	w.probe(long, narrow)
	w.report(token, breaker.Success, narrow)
	w.is(breaker.HalfOpen, "after one success of the five that the round needs")

	w.force(breaker.ForceOpen, long)
	w.force(breaker.NoForce, 0)
	w.probe(long, narrow) // the next round begins after the force
	_, granted = w.acquire(long, wide)
	l.must(!granted, "after a force, a wider policy has got a permit beyond the round's limit")
}

// A round's successes are its own (P117, A29).
func successesCleared(l *lab) {
	w, s := l.circuit(), soon(settings())
	s.SuccessesToClose = 3
	w.due(s)
	for range 2 {
		w.report(w.probe(long, s), breaker.Success, s)
	}
	w.report(w.probe(long, s), breaker.Failure, s)
	w.is(breaker.Open, "after a failed probe")
	l.must(w.last.Record.Failures == 1, "one failed probe opens with %d failures", w.last.Record.Failures)
	w.until(w.want.OpenUntil(s))
	for range 2 {
		w.report(w.probe(long, s), breaker.Success, s)
		w.is(breaker.HalfOpen, "after fewer successes than are needed")
	}
	w.report(w.probe(long, s), breaker.Success, s)
	w.is(breaker.Closed, "after three successes")
}
