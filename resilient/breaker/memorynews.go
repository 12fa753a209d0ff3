package breaker

import "slices"

// topic is one circuit's news in a [MemoryStore], whose mutex guards it.
type topic struct {
	listeners []*listener
	pending   []telling
	telling   bool // a goroutine is at it
}

// listener is one of those that watch a circuit.
type listener struct {
	news    func(News)
	stopped bool
}

// telling is what one listener is still to be told.
type telling struct {
	listener *listener
	answer   Answer
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
	t.pending = append(t.pending, telling{one, answer})
	s.mu.Unlock()
	s.deliver(t)
	return func() { s.unwatch(circuit, t, one) }
}

// unwatch forgets a listener, and the topic with its last one.
func (s *MemoryStore) unwatch(circuit string, t *topic, one *listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one.stopped = true
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

// deliver tells what is pending, unless another goroutine is at it: that one will find
// it. So news arrive in order and one at a time, and a listener whose command causes
// more does not recurse.
func (s *MemoryStore) deliver(t *topic) {
	for {
		s.mu.Lock()
		if t.telling || len(t.pending) == 0 {
			s.mu.Unlock()
			return
		}
		next := t.pending[0]
		if t.pending = t.pending[1:]; len(t.pending) == 0 {
			t.pending = nil // else the array would grow at one end and leak at the other
		}
		t.telling = true
		stopped := next.listener.stopped
		s.mu.Unlock()
		s.tell(t, next, stopped)
	}
}

// tell calls one listener. A panic or a runtime.Goexit in it ends the goroutine, as it
// must, but not the delivery of the rest.
func (s *MemoryStore) tell(t *topic, next telling, stopped bool) {
	returned := false
	defer func() {
		s.mu.Lock()
		t.telling = false
		s.mu.Unlock()
		if !returned {
			s.deliver(t)
		}
	}()
	if !stopped {
		next.listener.news(News{Live: true, Answer: &next.answer})
	}
	returned = true
}
