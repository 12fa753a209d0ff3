package storetest

import (
	"context"
	"errors"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func faultChecks() []check {
	return []check{
		{name: "a context that has ended is an error", run: endedContext},
		{name: "Do returns by the time its context ends", run: stalled, needs: func(h Harness) (string, bool) {
			return "Stall", h.Stall != nil
		}},
		{name: "what is forgotten is healthy, and its rounds never come again", run: forgotten, needs: func(h Harness) (string, bool) {
			return "Forget", h.Forget != nil
		}},
		{name: "what makes no sense is garbled, and can be rebuilt", run: garbled, needs: func(h Harness) (string, bool) {
			return "Garble", h.Garble != nil
		}},
	}
}

// A command whose context has ended is an error, carried out or not. Sent again, it
// counts once.
func endedContext(l *lab) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, stage := range stages() {
		w := l.circuit()
		c := stage.prepare(w, soon(settings()))
		_, err := l.clients[0].Do(ended, w.name, c)
		l.must(err != nil, "%s: no error, and its context had ended", stage.name)
		l.must(stage.once(w.raw(c)), "%s: sent again, the answer is %+v", stage.name, w.last)
	}
}

// A store that cannot be asked keeps nobody waiting (P122).
func stalled(l *lab) {
	w := l.circuit()
	w.trip()
	const grace = 2 * time.Second // longer than a machine is busy, shorter than clients wait by default
	release := l.Stall()
	kinds := []breaker.Kind{breaker.Read, breaker.Acquire, breaker.Settle}
	ends := make(chan error, len(kinds))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for i, kind := range kinds {
		go func() {
			_, err := l.clients[i].Do(ctx, w.name, breaker.Command{Kind: kind, ID: newID(), Lease: long, Settings: settings()})
			ends <- err
		}()
	}
	<-ctx.Done()
	late := time.NewTimer(grace)
	defer late.Stop()
	for range kinds {
		select {
		case err := <-ends:
			if err == nil {
				l.errorf("a command was answered by a store that is stalled")
			}
		case <-late.C:
			release()
			l.fatalf("Do has not returned %v after its context had ended", grace)
		}
	}
	release()
	l.must(eventually(func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		a, err := l.clients[0].Do(ctx, w.name, breaker.Command{Kind: breaker.Read})
		return err == nil && a.Record.Beneath == breaker.Open
	}), "the store does not answer after it was stalled")
}

// A store that has lost its memory says that all is well. What belongs to rounds that it
// has lost is late, now and later.
func forgotten(l *lab) {
	w, s := l.circuit(), soon(settings())
	w.due(s)
	token := w.probe(long, s)
	lost := w.want.Round
	var rounds []uint64
	for range 3 {
		l.Forget(w.name)
		w.want = breaker.Record{}
		l.pass(short)
		w.is(breaker.Closed, "once it is forgotten")
		l.must(w.last.Record.Round == 0 && w.last.Record.Failures == 0, "forgotten, it is in round %d with %d failures",
			w.last.Record.Round, w.last.Record.Failures)
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure} {
			c := w.outcome(o, s)
			c.Round, c.Token = lost, token
			l.must(!w.do(c).Counted, "a %v of a round that was lost was counted", o)
		}
		w.settle(breaker.Failure, settings())
		l.must(w.last.Record.Failures == 1, "the first failure is number %d", w.last.Record.Failures)
		w.trip()
		l.must(w.last.Record.Round > lost, "round %d comes after %d, which was lost", w.last.Record.Round, lost)
		rounds = append(rounds, lost)
		lost = w.want.Round
		for _, round := range rounds {
			c := w.outcome(breaker.Failure, s)
			c.Round = round
			l.must(!w.do(c).Counted, "a failure of a round that was lost was counted")
		}
	}
}

// Nobody guesses what nonsense may have meant: it is an error until a circuit writes what
// it knows. That is for nonsense only (A41).
func garbled(l *lab) {
	s := settings()
	w, untouched := l.circuit(), l.circuit()
	w.trip()
	view, lost := w.want.Machine, w.want.Round
	view.LastFailure, view.LastHalfOpen, view.Since = time.Minute, 0, 2*time.Minute
	l.Garble(w.name)
	for _, kind := range []breaker.Kind{breaker.Read, breaker.Acquire, breaker.Settle, breaker.Vote} {
		c := breaker.Command{Kind: kind, ID: newID(), Lease: long, Settings: s, Outcome: breaker.Success, Replica: 1}
		_, err := w.send(0, w.name, c)
		l.must(errors.Is(err, breaker.ErrGarbled), "%v of a garbled state: the error is %v", kind, err)
	}
	untouched.is(breaker.Closed, "while another is garbled")

	l.pass(short)
	rebuild := breaker.Command{Kind: breaker.Rebuild, ID: newID(), Settings: s, View: view, Failures: 2, Cause: "as far as is known"}
	got := w.raw(rebuild)
	var want breaker.Answer
	w.want, want = rebuild.Rebuilt(got.Now)
	if d := diff(got, want); d != "" {
		l.fatalf("rebuild: %s", d)
	}
	l.must(got.Record.Round > lost, "rebuilt in round %d, after %d", got.Record.Round, lost)
	w.is(breaker.Open, "rebuilt")

	rebuild.ID, rebuild.View = newID(), breaker.Machine{}
	w.do(rebuild)
	w.is(breaker.Open, "after another wanted to rebuild what makes sense")
	w.until(w.want.OpenUntil(soon(s)))
	w.report(w.probe(long, soon(s)), breaker.Success, s)
	w.is(breaker.Closed, "after a probe")
}
