package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
)

// SharedGuard is the name of the guard that services share which came when there
// were Options.MaxLazyGuards others already.
const SharedGuard = "(others)"

// Registry keeps one guard per service: same name, same guard, same circuit. Make
// it with [FromEnv] or [Load]. It is safe for concurrent use, and a
// [resilient.Guards]. The zero value and nil are not usable.
type Registry struct {
	options Options
	state   atomic.Pointer[state] // what is configured; reading it needs no lock
	shared  *resilient.Guard

	mu      sync.RWMutex
	lazy    map[string]func() *resilient.Guard // each makes its guard once
	unnamed int                                // how many of them nothing named when they came
	full    bool                               // there is no room for more; it never empties
	since   []Finding                          // that no configuration is to blame for
}

var (
	_ resilient.Guards = (*Registry)(nil)
	_ resilient.Source = (*Registry)(nil)
)

// state is what a configuration comes to. Nothing writes to it: [Registry.Reload] puts
// another in its place.
type state struct {
	book       *book
	fallback   resilient.Policy
	registered map[string]*resilient.Guard // it only grows: same name, same guard
}

// policy is what a service is to have.
func (s *state) policy(name string) resilient.Policy {
	if s.book.names(name) {
		return s.book.lay(name).policy
	}
	return s.fallback
}

func newRegistry(b *book, options Options) (*Registry, error) {
	r := &Registry{options: options, lazy: map[string]func() *resilient.Guard{}}
	s := &state{book: b, fallback: b.lay("").policy, registered: map[string]*resilient.Guard{}}
	for _, name := range b.services() {
		guard, err := resilient.NewGuard(name, s.policy(name), &options.Options)
		if err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
		s.registered[name] = guard
	}
	// An override may name the shared guard too, and so give it a policy.
	if r.shared = s.registered[SharedGuard]; r.shared == nil {
		alone := options.Options
		alone.Store = nil // the others of another process are not these
		shared, err := resilient.NewGuard(SharedGuard, s.fallback, &alone)
		if err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
		r.shared = shared
	}
	r.state.Store(s)
	for _, f := range b.findings {
		f.log(options.Logger)
	}
	return r, nil
}

// Guard returns the service's guard, never nil: the same one for the same name,
// also when many ask at once. A name that is not registered gets a guard with the
// fallback policy at the first call, so a name must not be made from what users
// type: beyond Options.MaxLazyGuards such names further ones share the guard
// [SharedGuard], and so does the empty name. Use [Registry.Lookup] to ask without
// making one.
func (r *Registry) Guard(name string) *resilient.Guard {
	if guard, ok := r.state.Load().registered[name]; ok {
		return guard
	}
	if name == "" || name == SharedGuard {
		return r.shared
	}
	r.mu.RLock()
	ready, ok := r.lazy[name]
	full := r.full
	r.mu.RUnlock()
	switch {
	case ok:
		return ready() // outside the lock: only those who want this very guard wait for it
	case full:
		return r.shared
	default:
		return r.enter(name)
	}
}

// enter makes the guard of a lazy service, if there is room and nobody was quicker.
func (r *Registry) enter(name string) *resilient.Guard {
	r.mu.Lock()
	ready, ok := r.lazy[name]
	if !ok && r.unnamed < r.options.MaxLazyGuards {
		ready, ok = r.put(name), true
		r.unnamed++
	}
	first := !ok && !r.full
	r.full = r.full || !ok
	r.mu.Unlock()
	if first {
		r.report(newFinding("", SharedGuard, KindLimit, fmt.Sprintf(
			"there are %d services that nothing names; the further ones share one guard", r.options.MaxLazyGuards)))
	}
	if !ok {
		return r.shared
	}
	return ready()
}

// put notes that the service has a guard, which is made when it is first asked for, and
// once. The mutex is held.
func (r *Registry) put(name string) func() *resilient.Guard {
	name = strings.Clone(name) // it may be a slice of something large
	ready := sync.OnceValue(func() *resilient.Guard { return r.make(name) })
	r.lazy[name] = ready
	return ready
}

func (r *Registry) make(name string) *resilient.Guard {
	guard, err := resilient.NewGuard(name, r.state.Load().policy(name), &r.options.Options)
	if err != nil { // neither the name nor the policy can be the reason
		r.report(newFinding(name, "", KindIgnored, err.Error()))
		return r.shared
	}
	return guard
}

func (r *Registry) report(f Finding) {
	r.mu.Lock()
	r.since = append(r.since, f)
	r.mu.Unlock()
	f.log(r.options.Logger)
}

// Lookup returns the guard of that name but makes none: false for a name that is
// not registered and has no guard of its own yet. It knows [SharedGuard] by its
// name.
func (r *Registry) Lookup(name string) (*resilient.Guard, bool) {
	if guard, ok := r.state.Load().registered[name]; ok {
		return guard, true
	}
	if name == SharedGuard {
		return r.shared, true
	}
	r.mu.RLock()
	ready, ok := r.lazy[name]
	r.mu.RUnlock()
	if !ok {
		return nil, false
	}
	return ready(), true
}

// Names returns, in order, the names of the registered services and of those that
// have been used, as they were given, and [SharedGuard] once there was no more
// room.
func (r *Registry) Names() []string {
	names := slices.Collect(maps.Keys(r.state.Load().registered))
	r.mu.RLock()
	names = slices.AppendSeq(names, maps.Keys(r.lazy))
	if _, taken := r.state.Load().registered[SharedGuard]; r.full && !taken {
		names = append(names, SharedGuard)
	}
	r.mu.RUnlock()
	slices.Sort(names)
	return slices.Compact(names) // a service that came unnamed may have been named since
}

// Policy returns the policy in force for a service, or the one that it would get.
// It makes no guard. The policy is a copy.
func (r *Registry) Policy(name string) resilient.Policy {
	if guard, ok := r.Lookup(r.served(name)); ok {
		return guard.Policy()
	}
	return r.state.Load().fallback
}

// Switch returns what turns the retries or the circuits of all the registry's guards off,
// for incidents, those included that are made later: [Options].Switch, or the registry's
// own.
func (r *Registry) Switch() *resilient.Switch { return r.options.Switch }

// served is the name of the guard that a service has or would get.
func (r *Registry) served(name string) string {
	if _, ok := r.state.Load().registered[name]; ok {
		return name
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, ok := r.lazy[name]; !ok && (name == "" || r.full || r.unnamed >= r.options.MaxLazyGuards) {
		return SharedGuard
	}
	return name
}

// Findings returns what is wrong with the configuration in force and what was done
// about it: the findings of the source in its order, then the conflicts by service,
// then what came up since the registry was made. The slice is the caller's own.
func (r *Registry) Findings() []Finding {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Concat(r.state.Load().book.findings, r.since)
}
