package storetest

import (
	"math/rand/v2"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func crowdChecks() []check {
	return []check{
		{name: "counting and opening are one step", run: oneStep},
		{name: "a success in between is not lost", run: successBetween},
		{name: "probes are granted by the store only", run: oneProbe},
		{name: "a generation is one failed recovery", run: oneGeneration},
		{name: "probes that settle at once have an order", run: probesAtOnce},
		{name: "answers at once have an order", run: hammer},
	}
}

const repetitions = 20 // of what a race decides

// results counts what a history's commands came to.
func results(history []op, is func(breaker.Answer) bool) int {
	n := 0
	for _, o := range history {
		if is(o.answer) {
			n++
		}
	}
	return n
}

func counted(a breaker.Answer) bool { return a.Counted }

// Failures at once are each counted once and in some order; the one at the threshold
// opens the circuit, the others are late (R31, P107).
func oneStep(l *lab) {
	const actors = 12
	for i := range repetitions {
		w, s := l.circuit(), settings()
		s.FailureThreshold = actors / (1 + i%2)
		c := w.outcome(breaker.Failure, s)
		history := w.crowd(actors, func(_ int, send func(breaker.Command) breaker.Answer) {
			own := c
			own.ID = newID()
			send(own)
		})
		l.must(results(history, counted) == s.FailureThreshold, "%d failures at once, threshold %d: %d were counted",
			actors, s.FailureThreshold, results(history, counted))
		for n := 1; n <= s.FailureThreshold; n++ {
			is := func(a breaker.Answer) bool { return a.Counted && a.Record.Failures == n }
			l.must(results(history, is) == 1, "%d answers say that theirs is failure %d", results(history, is), n)
		}
		opened := func(a breaker.Answer) bool { return a.Counted && a.Record.Beneath == breaker.Open }
		l.must(results(history, opened) == 1, "opened %d times", results(history, opened))
		w.explain(history)
		w.is(breaker.Open, "after as many failures as the threshold")
		l.must(w.last.Record.Generation == 1, "opened in generation %d", w.last.Record.Generation)
	}
}

// A success and the failure at the threshold at once: either it came first, and the
// circuit is closed with one failure, or it was late (A10).
func successBetween(l *lab) {
	for i := range repetitions {
		w, s := l.circuit(), settings()
		for range s.FailureThreshold - 1 {
			w.settle(breaker.Failure, s)
		}
		failure, success := w.outcome(breaker.Failure, s), w.outcome(breaker.Success, s)
		history := w.crowd(4, func(actor int, send func(breaker.Command) breaker.Answer) {
			switch (actor + i) % 4 { // schedulers have their habits
			case 0:
				send(failure)
			case 1:
				send(success)
			default:
				send(breaker.Command{Kind: breaker.Read})
			}
		})
		w.explain(history)
		r := w.do(breaker.Command{Kind: breaker.Read}).Record
		for _, o := range history {
			if o.command.ID != success.ID {
				continue
			}
			if o.answer.Counted {
				l.must(r.Beneath == breaker.Closed && r.Failures <= 1, "a success was counted, and the circuit is %v with %d failures",
					r.Beneath, r.Failures)
			} else {
				l.must(r.Beneath == breaker.Open, "a success was late, and the circuit is %v", r.Beneath)
			}
		}
	}
}

// At the instant when the open time ends, as many probes are granted as the limit says,
// however many ask (P123, A13).
func oneProbe(l *lab) {
	const actors = 12
	for i := range repetitions {
		w, s := l.circuit(), soon(settings())
		s.MaxProbes = 1 + i%3
		w.due(s)
		history := w.crowd(actors, func(_ int, send func(breaker.Command) breaker.Answer) {
			send(breaker.Command{Kind: breaker.Acquire, Lease: long, Settings: s})
		})
		granted := results(history, func(a breaker.Answer) bool { return a.Granted })
		l.must(granted == s.MaxProbes, "%d asked at once, limit %d: %d were granted", actors, s.MaxProbes, granted)
		w.explain(history)
	}
}

// Probes that fail at once have failed together (A9).
func oneGeneration(l *lab) {
	for range repetitions {
		w, s := l.circuit(), soon(settings())
		s.MaxProbes = 4
		w.due(s)
		var probes []breaker.Command
		for range s.MaxProbes {
			token := w.probe(long, s)
			c := w.outcome(breaker.Failure, s)
			c.ID, c.Token = token, token
			probes = append(probes, c)
		}
		history := w.crowd(len(probes), func(actor int, send func(breaker.Command) breaker.Answer) { send(probes[actor]) })
		l.must(results(history, counted) == 1, "%d failed probes of one round were counted", results(history, counted))
		w.explain(history)
		w.is(breaker.Open, "after failed probes")
		l.must(w.last.Record.Generation == 2, "generation %d after one failed recovery", w.last.Record.Generation)
	}
}

// A probe's success and another's failure at once: whichever comes first decides, the
// other is late; neither is lost, and neither counts twice (A11).
func probesAtOnce(l *lab) {
	for i := range repetitions {
		w, s := l.circuit(), soon(settings())
		s.MaxProbes = 2
		w.due(s)
		success, failure := w.probe(long, s), w.probe(long, s)
		history := w.crowd(2, func(actor int, send func(breaker.Command) breaker.Answer) {
			token, o := success, breaker.Success
			if (actor+i)%2 == 0 {
				token, o = failure, breaker.Failure
			}
			c := w.outcome(o, s)
			c.ID, c.Token = token, token
			send(c)
		})
		l.must(results(history, counted) == 1, "a success and a failure that would both decide: %d were counted",
			results(history, counted))
		w.explain(history)
	}
}

// Many clients do all that circuits do, and repeat some of it.
func hammer(l *lab) {
	for round := range uint64(8) {
		w := l.circuit()
		w.explain(w.crowd(4, func(actor int, send func(breaker.Command) breaker.Answer) {
			a := walker{rng: rand.New(rand.NewPCG(uint64(actor), round)), replica: uint64(actor) + 1}
			for range 15 {
				if a.rng.IntN(10) == 0 {
					l.rest()
				}
				c := a.next()
				a.heard(c, send(c))
			}
		}))
	}
}
