package storetest

import (
	"context"
	"fmt"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func repeatChecks() []check {
	return []check{
		{name: "a repeated command changes nothing", run: func(l *lab) { repeated(l, 0) }},
		{name: "a command is known among the last 64", run: func(l *lab) { repeated(l, 63) }},
		{name: "replies that are lost", run: lostReplies, needs: func(h Harness) (string, bool) {
			return "LoseReplies", h.LoseReplies != nil
		}},
	}
}

// A stage is a circuit in which a command matters, and the command.
type stage struct {
	name    string
	prepare func(w *twin, s breaker.Settings) breaker.Command
	// once says whether an answer is that of a circuit which has seen it once.
	once func(a breaker.Answer) bool
}

func stages() []stage {
	is := func(state breaker.State) func(breaker.Answer) bool {
		return func(a breaker.Answer) bool { return a.Record.State(settings()) == state }
	}
	return []stage{
		{"failure", func(w *twin, s breaker.Settings) breaker.Command { return w.outcome(breaker.Failure, s) },
			func(a breaker.Answer) bool { return a.Counted && a.Record.Failures == 1 }},
		{"failure that opens", func(w *twin, s breaker.Settings) breaker.Command {
			s.FailureThreshold = 1
			return w.outcome(breaker.Failure, s)
		}, is(breaker.Open)},
		{"permit", func(w *twin, s breaker.Settings) breaker.Command {
			s.MaxProbes = 5
			w.due(s)
			return breaker.Command{Kind: breaker.Acquire, ID: newID(), Lease: long, Settings: s}
		}, func(a breaker.Answer) bool { return a.Granted && len(a.Record.Leases) == 1 }},
		{"probe's success", probed(breaker.Success, 2),
			func(a breaker.Answer) bool { return a.Counted && a.Record.Successes == 1 }},
		{"probe's last success", probed(breaker.Success, 1), is(breaker.Closed)},
		{"probe's failure", probed(breaker.Failure, 2),
			func(a breaker.Answer) bool { return a.Record.Beneath == breaker.Open && a.Record.Generation == 2 }},
		{"probe's neutral outcome", probed(breaker.Neutral, 1), is(breaker.HalfOpen)},
		{"vote", func(w *twin, s breaker.Settings) breaker.Command {
			s.MinReporters = 2
			return w.ballot(1, s)
		}, is(breaker.Closed)},
		{"order", func(_ *twin, s breaker.Settings) breaker.Command {
			return breaker.Command{Kind: breaker.Operate, ID: newID(), Settings: s,
				Order: breaker.Order{Force: breaker.ForceOpen, For: long, Author: "storetest", Reason: "to see"}}
		}, is(breaker.ForcedOpen)},
	}
}

func probed(o breaker.Outcome, needed int) func(*twin, breaker.Settings) breaker.Command {
	return func(w *twin, s breaker.Settings) breaker.Command {
		s.SuccessesToClose = needed
		w.due(s)
		c := w.outcome(o, s)
		c.Token = w.probe(long, s)
		c.ID, c.Round = c.Token, w.want.Round
		return c
	}
}

// A client that has got no reply sends its command again, later, and others have sent
// theirs in between.
func repeated(l *lab, between int) {
	for _, stage := range stages() {
		w := l.circuit()
		c := stage.prepare(w, soon(settings()))
		l.must(stage.once(w.do(c)), "%s: the first answer is %+v", stage.name, w.last)
		for i := range between {
			// Each of them is remembered, and together they change little.
			w.do(breaker.Command{Kind: breaker.Operate, Order: breaker.Order{
				Force: w.want.Force, For: long, Author: "storetest", Reason: fmt.Sprint(i),
			}})
		}
		before := w.last.Record
		w.do(c)
		after := w.last.Record
		l.must(after.Round == before.Round && after.Failures == before.Failures && after.Successes == before.Successes,
			"%s: a repeated command has changed something", stage.name)
		for range 2 {
			l.must(stage.once(w.do(c)) || c.Kind == breaker.Operate, "%s: repeated, the answer is %+v", stage.name, w.last)
		}
	}
}

// Lost replies: the command counts once, whether Do returns an error or repeats it.
func lostReplies(l *lab) {
	for _, stage := range stages() {
		w := l.circuit()
		c := stage.prepare(w, soon(settings()))
		l.LoseReplies(true)
		ctx, cancel := context.WithTimeout(context.Background(), l.clients[0].Terms().Timeout)
		_, _ = l.clients[0].Do(ctx, w.name, c)
		cancel()
		l.LoseReplies(false)
		l.must(stage.once(w.raw(c)), "%s: sent again after its reply was lost, the answer is %+v", stage.name, w.last)
	}
}
