package toolguard

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// sessions count the failures of each conversation that has had any. All methods are
// safe for concurrent use.
type sessions struct {
	limit, bound int

	mu   sync.Mutex
	byID map[string]session
}

// session is a value.
type session struct {
	failures int
	used     time.Duration
}

// failed counts one.
func (s *sessions) failed(id string, now time.Duration) {
	if s.limit == 0 || id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]session{}
	}
	s.byID[id] = session{failures: s.byID[id].failures + 1, used: now}
	if len(s.byID) > s.bound {
		s.sweep()
	}
}

// spent is how many failures a session has had, and whether that is all it may have.
func (s *sessions) spent(id string, now time.Duration) (int, bool) {
	if s.limit == 0 || id == "" {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.byID[id]
	if ok {
		one.used = now
		s.byID[id] = one
	}
	return one.failures, one.failures >= s.limit
}

// sweep forgets an eighth, those that were not used for longest.
func (s *sessions) sweep() {
	ids := slices.SortedFunc(maps.Keys(s.byID), func(a, b string) int { return cmp.Compare(s.byID[a].used, s.byID[b].used) })
	for _, id := range ids[:len(ids)-(s.bound-s.bound/8)] {
		delete(s.byID, id)
	}
}

func (s *sessions) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// EndSession forgets what is known of a conversation that is over: one of the same name
// begins anew. Without it a session is forgotten when there are too many others (see
// [Options].MaxCircuits).
func (g *Guard) EndSession(id string) {
	if g.usable() {
		g.sessions.forget(id)
	}
}

// session asks whose conversation it is; "" has no limit.
func (g *Guard) session(ctx context.Context) (id string) {
	if g.plan.MaxFailuresPerSession == 0 {
		return ""
	}
	defer g.journal.Contain("Session", func() { id = "" })
	return g.plan.Session(ctx)
}
