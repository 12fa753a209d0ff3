package storetest

import (
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func voteChecks() []check {
	return []check{
		{name: "as many replicas as are wanted open the circuit", run: votesOpen},
		{name: "votes lapse", run: votesLapse},
		{name: "votes of other rounds are not heard", run: votesOfRounds},
	}
}

func (w *twin) vote(replica uint64, s breaker.Settings) breaker.Answer {
	return w.do(w.ballot(replica, s))
}

func (w *twin) ballot(replica uint64, s breaker.Settings) breaker.Command {
	return breaker.Command{
		Kind: breaker.Vote, ID: newID(), Round: w.want.Round, Replica: replica, Failures: 7, Cause: "down", Settings: s,
	}
}

// One sick replica opens nobody else's circuit, however often it votes (A39).
func votesOpen(l *lab) {
	const big = 1 << 53 // from here on, floating-point numbers skip some
	w, s := l.circuit(), settings()
	s.MinReporters = 3
	for _, replica := range []uint64{big, big, big + 1, big, big + 1} {
		l.must(w.vote(replica, s).Counted, "a vote was not heard")
		w.settle(breaker.Success, s) // which other replicas have, and which takes no vote back
		w.is(breaker.Closed, "with fewer votes than are wanted")
	}
	a := w.vote(1, s)
	l.must(a.Record.Beneath == breaker.Open, "three replicas of three have voted, and it is %v", a.Record.Beneath)
	l.must(a.Record.Failures == 7 && a.Record.Generation == 1, "opened with %d failures in generation %d",
		a.Record.Failures, a.Record.Generation)
	l.must(a.Record.Cause == "down", "the cause of a vote is lost: %q", a.Record.Cause)
	l.must(a.Record.LastFailure == a.Now, "opened at %v by a failure at %v", a.Now, a.Record.LastFailure)
	l.must(!w.vote(2, s).Counted, "a vote was heard in an open circuit")

	w = l.circuit()
	s.MinReporters = 1
	w.vote(1, s)
	w.is(breaker.Open, "after the one vote that is wanted")
}

func votesLapse(l *lab) {
	w, s := l.circuit(), settings()
	s.MinReporters = 2
	w.vote(1, soon(s))
	w.until(w.want.Votes[0].End)
	w.vote(2, s)
	w.is(breaker.Closed, "with one vote that has lapsed")
	w.vote(2, s)
	w.is(breaker.Closed, "with one vote, given twice")
	w.vote(1, s)
	w.is(breaker.Open, "with two votes")

	// A replica that was asked to come again later is open for as long, and so is its vote.
	w = l.circuit()
	c := w.ballot(1, soon(s))
	c.Hold = long
	w.do(c)
	w.until(w.last.Now + 2*short)
	w.vote(2, s)
	w.is(breaker.Open, "with two votes, one of which holds for longer than the open time")
}

func votesOfRounds(l *lab) {
	w, s := l.circuit(), settings()
	s.MinReporters = 2
	w.vote(1, s)
	w.reset()
	w.vote(2, s)
	w.is(breaker.Closed, "with one vote from before a reset")
	for _, round := range []uint64{0, w.want.Round - 1, w.want.Round + 1} {
		c := w.ballot(3, s)
		c.Round = round
		l.must(!w.do(c).Counted, "a vote of another round was heard")
	}
	w.is(breaker.Closed, "with votes of other rounds")
}
