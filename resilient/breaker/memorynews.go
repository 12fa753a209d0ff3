package breaker

import (
	"slices"
	"sync/atomic"
)

// topic is one circuit's news in a [MemoryStore], whose mutex guards it.
type topic struct {
	listeners []*listener
	news      queue[telling]
}

// listener is one of those that watch a circuit.
type listener struct {
	news    func(News)
	stopped atomic.Bool
}

// telling is what one listener is still to be told.
type telling struct {
	listener *listener
	answer   Answer
}

// tell tells it, unless nobody wants to hear it any more.
func (t telling) tell() {
	if !t.listener.stopped.Load() {
		t.listener.news(News{Live: true, Answer: &t.answer})
	}
}

// Watch tells the listener at once what is known, and from then on what changes. A store
// that is Silent never calls it.
func (s *MemoryStore) Watch(circuit string, news func(News)) (stop func()) {
	if s.options.Silent {
		return func() {}
	}
	one := &listener{news: news}
	s.mu.Lock()
	answer := s.apply(circuit, Command{Kind: Read})
	t := s.topics[circuit]
	if t == nil {
		t = &topic{}
		s.topics[circuit] = t
	}
	t.listeners = append(t.listeners, one)
	t.news.add(telling{one, answer})
	s.mu.Unlock()
	t.news.deliver(&s.mu, telling.tell)
	return func() { s.unwatch(circuit, t, one) }
}

// unwatch forgets a listener, and the topic with its last one.
func (s *MemoryStore) unwatch(circuit string, t *topic, one *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.stopped.Store(true)
	t.listeners = slices.DeleteFunc(t.listeners, func(l *listener) bool { return l == one })
	if len(t.listeners) == 0 && s.topics[circuit] == t {
		delete(s.topics, circuit)
	}
}

// newsworthy reports whether a change makes wrong what another circuit goes by.
func newsworthy(before, after Record) bool {
	return before.Round != after.Round ||
		(before.Failures == 0) != (after.Failures == 0) ||
		before.ForceUntil != after.ForceUntil || before.Ordered != after.Ordered ||
		!slices.Equal(before.Leases, after.Leases) || !slices.Equal(before.Votes, after.Votes)
}
