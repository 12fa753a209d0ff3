package redisstore

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// watcher is one circuit of this process that wants news. Only Run touches what it has,
// after it was added.
type watcher struct {
	circuit string
	news    func(breaker.News)
	live    bool          // what it was told last
	read    time.Duration // the time of Redis at the last read that it was told of
	gone    atomic.Bool   // it wants no more
}

// watchers are all of them. Run is given those that are new, and keeps them.
type watchers struct {
	events *events
	more   chan struct{} // has one element while there are new ones

	mu     sync.Mutex // guards what follows; never held while foreign code runs
	byName map[string][]*watcher
	fresh  []*watcher
}

func (w *watchers) init(events *events) {
	w.events, w.more, w.byName = events, make(chan struct{}, 1), map[string][]*watcher{}
}

func (w *watchers) add(circuit string, news func(breaker.News)) *watcher {
	one := &watcher{circuit: circuit, news: news}
	w.mu.Lock()
	w.byName[circuit] = append(slices.Clip(w.byName[circuit]), one)
	w.fresh = append(w.fresh, one)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default: // Run has been told already
	}
	return one
}

// remove forgets one. Slices that were handed out stay as they are.
func (w *watchers) remove(one *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one.gone.Store(true)
	is := func(other *watcher) bool { return other == one }
	w.fresh = slices.DeleteFunc(slices.Clone(w.fresh), is)
	rest := slices.DeleteFunc(slices.Clone(w.byName[one.circuit]), is)
	if len(rest) == 0 {
		delete(w.byName, one.circuit)
	} else {
		w.byName[one.circuit] = rest
	}
}

// newcomers returns those that were added since it was last asked.
func (w *watchers) newcomers() []*watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.fresh
	w.fresh = nil
	return all
}

// all returns every one of them, the newcomers included.
func (w *watchers) all() []*watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fresh = nil
	all := make([]*watcher, 0, len(w.byName))
	for _, same := range w.byName {
		all = append(all, same...)
	}
	return all
}

// of returns those of one circuit.
func (w *watchers) of(circuit string) []*watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.byName[circuit] // whoever changes it makes another
}

// tell gives news to one watcher. What that panics with is logged, and that is all.
func (w *watchers) tell(one *watcher, news breaker.News) {
	defer func() {
		if value := recover(); value != nil {
			w.events.complain("a circuit that was told news", value)
		}
	}()
	if one.gone.Load() {
		return
	}
	one.live = news.Live
	one.news(news)
}
