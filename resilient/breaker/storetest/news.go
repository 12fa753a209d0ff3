package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func newsChecks() []check {
	return []check{
		{name: "news tell of every transition, in order", run: news, needs: hasNews},
		{name: "news are told one at a time", run: newsOneAtATime, needs: hasNews},
		{name: "news are of the circuit that was asked for", run: newsByName, needs: hasNews},
		{name: "a store without news tells none", run: noNews, needs: func(h Harness) (string, bool) {
			return "store without News", !h.News
		}},
	}
}

func hasNews(h Harness) (string, bool) { return "News", h.News }

// feed is what a circuit was told.
type feed struct {
	busy, overlaps, dead atomic.Int64
	mu                   sync.Mutex
	answers              []breaker.Answer
	live                 bool
}

func (w *twin) watch() *feed {
	f := &feed{}
	w.clients[0].Watch(w.name, func(n breaker.News) {
		if f.busy.Add(1) > 1 {
			f.overlaps.Add(1)
		}
		defer f.busy.Add(-1)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.live && !n.Live {
			f.dead.Add(1)
		}
		f.live = n.Live
		if n.Answer != nil {
			f.answers = append(f.answers, *n.Answer)
		}
	})
	return f
}

// waitLive waits until news arrive as things happen.
func (w *twin) waitLive(f *feed) {
	w.must(eventually(func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.live
	}), "no news say that they are Live")
}

// told waits until something was told.
func (f *feed) told(is func(breaker.Answer) bool) bool {
	return eventually(func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, a := range f.answers {
			if is(a) {
				return true
			}
		}
		return false
	})
}

// rounds are those that were told, in the order in which each was told first.
func (f *feed) rounds() []uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []uint64
	for _, a := range f.answers {
		if len(all) == 0 || all[len(all)-1] != a.Record.Round {
			all = append(all, a.Record.Round)
		}
	}
	return all
}

// story goes once round the circuit and through an operator's hands.
func (w *twin) story() (rounds []uint64) {
	s := soon(settings())
	note := func() {
		if n := len(rounds); n == 0 || rounds[n-1] != w.want.Round {
			rounds = append(rounds, w.want.Round)
		}
	}
	s.FailureThreshold = 2
	w.settle(breaker.Failure, s)
	w.settle(breaker.Failure, s)
	note()
	w.until(w.want.OpenUntil(s))
	token := w.probe(long, s)
	note()
	w.report(token, breaker.Failure, s)
	note()
	w.until(w.want.OpenUntil(s))
	token = w.probe(long, s)
	note()
	w.report(token, breaker.Success, s)
	note()
	for range 10 { // without a pause
		w.force(breaker.ForceOpen, long)
		note()
		w.force(breaker.NoForce, 0)
		note()
		w.reset()
		note()
	}
	return rounds
}

func news(l *lab) {
	w, other := l.circuit(), l.circuit()
	f := w.watch()
	w.waitLive(f)
	w.settle(breaker.Failure, settings())
	l.must(f.told(func(a breaker.Answer) bool { return a.Record.Failures == 1 }), "no news of the first failure")
	w.settle(breaker.Success, settings())
	other.story()
	want := w.story()
	last := want[len(want)-1]
	l.must(f.told(func(a breaker.Answer) bool { return a.Record.Round == last }), "no news of the last transition")
	if f.dead.Load() > 0 {
		l.notef("not checked: news were not Live throughout")
		return
	}
	got := f.rounds()
	for len(got) > 0 && got[0] == 0 {
		got = got[1:] // from before the first transition
	}
	l.must(len(got) == len(want), "news of %d rounds, want %d", len(got), len(want))
	for i := range want {
		l.must(got[i] == want[i], "news %d are of round %d, want %d", i, got[i], want[i])
	}
}

func newsOneAtATime(l *lab) {
	w := l.circuit()
	f := w.watch()
	w.waitLive(f)
	w.explain(w.crowd(8, func(_ int, send func(breaker.Command) breaker.Answer) {
		for range 5 {
			send(breaker.Command{Kind: breaker.Operate, Settings: settings(), Order: breaker.Order{
				Reset: true, Author: "storetest", Reason: "to see what happens",
			}})
		}
	}))
	last := w.want.Round
	l.must(f.told(func(a breaker.Answer) bool { return a.Record.Round == last }), "no news of the last transition")
	l.must(f.overlaps.Load() == 0, "news were told while others were")
	got := f.rounds()
	for i := 1; i < len(got); i++ {
		l.must(got[i] > got[i-1], "news of round %d after those of round %d", got[i], got[i-1])
	}
	if f.dead.Load() == 0 {
		for len(got) > 0 && got[0] == 0 {
			got = got[1:]
		}
		l.must(len(got) == 40, "news of %d transitions, want 40", len(got))
	}
}

// Whatever the names are, and be they alike.
func newsByName(l *lab) {
	var twins []*twin
	var feeds []*feed
	for _, name := range odd() {
		w := l.named(name + l.prefix + name)
		twins, feeds = append(twins, w), append(feeds, w.watch())
	}
	for i, w := range twins {
		w.waitLive(feeds[i])
		c := w.outcome(breaker.Failure, settings())
		c.Cause = fmt.Sprintf("%+q", w.name)
		w.do(c)
	}
	for i, w := range twins {
		own := fmt.Sprintf("%+q", w.name)
		l.must(feeds[i].told(func(a breaker.Answer) bool { return a.Record.Cause == own }), "no news of %s", own)
		feeds[i].mu.Lock()
		for _, a := range feeds[i].answers {
			if a.Record.Cause != "" && a.Record.Cause != own {
				l.errorf("news of %s are told as of %s", a.Record.Cause, own)
			}
		}
		feeds[i].mu.Unlock()
		w.startAnew()
	}
}

func noNews(l *lab) {
	w := l.circuit()
	f := w.watch()
	w.story()
	f.mu.Lock()
	defer f.mu.Unlock()
	l.must(!f.live && len(f.answers) == 0, "news, where the harness says that there are none")
}
