package storetest

import (
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func openChecks() []check {
	return []check{
		{name: "an open circuit rejects for its open time", run: openTime},
		{name: "the open time grows and is capped", run: growingTime},
		{name: "the cooldown lies between two recoveries", run: cooldown},
		{name: "a failure that says how long opens at once, for so long", run: held},
	}
}

// The open time is derived from the times that are stored and the settings of whoever
// asks; rejections and reads do not move it (A26, A33). The step that ends it grants the
// first permit (A46).
func openTime(l *lab) {
	w, s := l.circuit(), settings()
	w.trip()
	since := w.last.Record.LastFailure
	for range 3 {
		_, granted := w.acquire(long, s)
		l.must(!granted, "an open circuit has granted a permit before its time")
		w.until(w.last.Now + short)
	}
	l.must(w.last.Record.LastFailure == since, "rejections have moved the last failure's time")
	w.until(w.want.OpenUntil(soon(s)))
	round := w.want.Round
	w.probe(long, soon(s))
	l.must(w.last.Record.Beneath == breaker.HalfOpen, "after the first permit the circuit is %v", w.last.Record.Beneath)
	l.must(w.last.Record.Round > round, "half-open is no new round")
	l.must(w.last.Record.Failures == 0, "half-open has %d failures", w.last.Record.Failures)
}

// In generation 4, two milliseconds that grow by 100 are more than half an hour.
func growingTime(l *lab) {
	w, s := l.circuit(), soon(settings())
	w.due(s)
	for generation := 2; generation <= 4; generation++ {
		w.report(w.probe(long, s), breaker.Failure, s)
		l.must(w.last.Record.Generation == generation, "generation %d, want %d", w.last.Record.Generation, generation)
		w.until(w.want.OpenUntil(s))
	}
	s.RecoveryMultiplier = 100
	_, granted := w.acquire(long, s)
	l.must(!granted, "the open time does not grow with the generation")
	s.MaxRecoveryTimeout = s.RecoveryTimeout
	w.probe(long, s)
}

// It runs from the last entry into half-open, be the open time over or not.
func cooldown(l *lab) {
	w, s := l.circuit(), soon(settings())
	w.due(s)
	w.report(w.probe(long, s), breaker.Failure, s)
	w.until(w.want.OpenUntil(s))
	s.Cooldown = long
	_, granted := w.acquire(long, s)
	l.must(!granted, "granted in the middle of the cooldown")
	s.Cooldown = 2 * short
	w.until(w.want.OpenUntil(s))
	w.probe(long, s)
}

// One failure is enough, below the threshold and in half-open; what it asks for lengthens
// the open time and never shortens it; and it is forgotten with the next failure.
func held(l *lab) {
	w, s := l.circuit(), soon(settings())
	failure := w.outcome(breaker.Failure, s)
	failure.Hold = long
	w.do(failure)
	w.is(breaker.Open, "after one failure that says how long")
	w.until(w.last.Now + short)
	_, granted := w.acquire(long, s)
	l.must(!granted, "granted before the time that the dependency has asked for")

	w = l.circuit()
	w.due(s)
	probe := w.outcome(breaker.Failure, s)
	probe.Token = w.probe(long, s)
	probe.ID, probe.Round, probe.Hold = probe.Token, w.want.Round, short
	w.do(probe)
	l.must(w.want.OpenUntil(settings()) > w.last.Now+short, "a short wish has shortened the open time")
	w.until(w.want.OpenUntil(s))
	w.report(w.probe(long, s), breaker.Failure, s)
	l.must(w.last.Record.Hold == 0, "the wish of an earlier failure is kept")
}
