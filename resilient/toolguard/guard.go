package toolguard

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/internal/journal"
)

// ErrNilGuard says that the guard is nil or was not made by [New]. New(nil) is a guard
// that does nothing.
var ErrNilGuard = errors.New("toolguard: the guard is nil or was not made by New; New(nil) makes one that does nothing")

// Guard keeps broken tools away from models. Make it once with [New], keep it, and give
// it to every agent and server whose tools it watches. It is safe for concurrent use, and
// has no goroutine. With the zero value or nil, turns withhold nothing and calls return
// [ErrNilGuard].
type Guard struct {
	plan     *plan
	journal  journal.Journal
	rules    atomic.Pointer[rules]
	origin   time.Time
	shelf    shelf
	sessions sessions

	storeLost atomic.Bool // and that has been told
}

// New makes a guard. A nil options is valid, and does nothing. The error, of one line,
// names everything that is wrong with the options.
func New(options *Options) (*Guard, error) {
	if options == nil {
		options = &Options{}
	}
	p, r, err := newPlan(*options)
	if err != nil {
		return nil, err
	}
	g := &Guard{
		plan: p, origin: time.Now(),
		journal:  journal.Journal{Words: words, Logger: p.Logger},
		shelf:    shelf{bound: p.MaxCircuits},
		sessions: sessions{limit: p.MaxFailuresPerSession, bound: p.MaxCircuits},
	}
	g.rules.Store(r)
	return g, nil
}

// Watches reports whether tools of that name are watched.
func (g *Guard) Watches(tool string) bool { return g.usable() && g.plan.watches(tool) }

// Close forgets all that is known, and ends what the guard has to do with its store.
// Close it when it is given up before the store is; a guard that is used again begins
// anew. Turns and permits that are out are worth nothing any more. Without a store there
// is nothing that needs to be closed.
func (g *Guard) Close() {
	if g.usable() {
		closeAll(g.shelf.clear())
	}
}

func (g *Guard) usable() bool { return g != nil && g.plan != nil }

// now is the guard's clock: the monotonic time since it was made.
func (g *Guard) now() time.Duration { return time.Since(g.origin) }

// key asks whose tools they are. Where that cannot be said, nothing is watched.
func (g *Guard) key(ctx context.Context) (key string, ok bool) {
	if g.plan.Key == nil {
		return "", true
	}
	defer g.journal.Contain("Key", func() { key, ok = "", false })
	return g.plan.Key(ctx), true
}

// ensure returns the tools of a key, with those names among them.
func (g *Guard) ensure(key string, names ...string) *tools {
	ts, made, gone := g.shelf.add(key, names, g.now(), func(name string) *tool {
		return &tool{guard: g, key: key, name: name}
	})
	for _, t := range made {
		t.make()
	}
	closeAll(gone)
	return ts
}

// missing are the names of a key's tools that are watched and not known yet.
func (g *Guard) missing(ts *tools, names []string) (missing []string) {
	for _, name := range names {
		if g.plan.watches(name) && (ts == nil || ts.get(name) == nil) {
			missing = append(missing, name)
		}
	}
	return missing
}
