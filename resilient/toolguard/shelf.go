package toolguard

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// shelf keeps the tools by key, no more than it may. All methods are safe for concurrent
// use.
type shelf struct {
	bound int

	mu      sync.RWMutex // guards what follows; never held while foreign code runs
	keys    map[string]*tools
	count   int
	sweepAt int
}

// tools are those of one key. The map is never changed: a new one takes its place.
type tools struct {
	key    string
	used   atomic.Int64
	byName atomic.Pointer[map[string]*tool]
}

func (ts *tools) get(name string) *tool { return (*ts.byName.Load())[name] }

// rejects reports whether a tool is known to be broken, and not due. Nil knows of none.
func (ts *tools) rejects(name string, now time.Duration) bool {
	if ts == nil {
		return false
	}
	one := ts.get(name)
	return one != nil && one.rejects(now)
}

// of returns the tools of a key; nil if there are none.
func (s *shelf) of(key string, now time.Duration) *tools {
	s.mu.RLock()
	ts := s.keys[key]
	s.mu.RUnlock()
	if ts != nil {
		ts.used.Store(int64(now))
	}
	return ts
}

// add puts tools without a circuit in the place of those that are missing, and returns
// those, for the caller to make; and those that have to go, for the caller to close.
func (s *shelf) add(key string, names []string, now time.Duration, fresh func(name string) *tool) (ts *tools, made, gone []*tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ts = s.keys[key]; ts == nil {
		ts = &tools{key: key}
		ts.byName.Store(&map[string]*tool{})
		if s.keys == nil {
			s.keys = map[string]*tools{}
		}
		s.keys[key] = ts
	}
	ts.used.Store(int64(now))
	next := maps.Clone(*ts.byName.Load())
	for _, name := range names {
		if next[name] == nil {
			t := fresh(name)
			t.used.Store(int64(now))
			next[name] = t
			made = append(made, t)
		}
	}
	ts.byName.Store(&next)
	if s.count += len(made); s.count > max(s.bound, s.sweepAt) {
		gone = s.sweep()
	}
	return ts, made, gone
}

// sweep forgets what was not used for longest, until an eighth of the shelf is free: so
// that the next sweep is a while off. What must not go yet stays, while there is less
// than twice as much as there may be.
func (s *shelf) sweep() (gone []*tool) {
	all := s.all()
	target := s.bound - s.bound/8
	slices.SortFunc(all, func(a, b *tool) int {
		return cmp.Or(cmp.Compare(s.keys[a.key].used.Load(), s.keys[b.key].used.Load()), cmp.Compare(a.used.Load(), b.used.Load()))
	})
	left := len(all)
	for i, t := range all {
		if left <= target {
			break
		}
		if t.evictable() {
			gone, all[i] = append(gone, t), nil
			left--
		}
	}
	for _, t := range all {
		if left <= 2*s.bound {
			break
		}
		if t != nil && t.circuit.Load() != nil {
			gone = append(gone, t)
			left--
		}
	}
	s.drop(gone)
	s.sweepAt = left + s.bound/8
	return gone
}

// drop takes tools from the shelf. The mutex is held.
func (s *shelf) drop(gone []*tool) {
	byKey := map[string][]*tool{}
	for _, t := range gone {
		byKey[t.key] = append(byKey[t.key], t)
	}
	for key, ts := range byKey {
		next := maps.Clone(*s.keys[key].byName.Load())
		for _, t := range ts {
			delete(next, t.name)
		}
		s.keys[key].byName.Store(&next)
		if len(next) == 0 {
			delete(s.keys, key)
		}
	}
	s.count -= len(gone)
}

// clear takes all.
func (s *shelf) clear() []*tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all()
	s.keys, s.count, s.sweepAt = nil, 0, 0
	return all
}

// snapshot is what is there now.
func (s *shelf) snapshot() []*tool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.all()
}

// all is what is there. The mutex is held.
func (s *shelf) all() []*tool {
	all := make([]*tool, 0, s.count)
	for _, ts := range s.keys {
		all = slices.AppendSeq(all, maps.Values(*ts.byName.Load()))
	}
	return all
}

// closeAll ends what circuits have to do with their store.
func closeAll(gone []*tool) {
	for _, t := range gone {
		t.do(func() { t.circuit.Load().Close() })
	}
}
