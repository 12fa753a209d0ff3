package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed42274fcc/stoic/resilient"
)

// SharedGuard is the name of the guard that services share which came when there
// were Options.MaxLazyGuards others already.
const SharedGuard = "(others)"

// Registry keeps one guard per service: same name, same guard, same circuit. Make
// it with [FromEnv] or [Load]. It is safe for concurrent use, and a
// [resilient.Guards]. The zero value and nil are not usable.
type Registry struct {
	book     *book
	options  Options
	fallback resilient.Policy

	registered map[string]*resilient.Guard // never changes, so reading it needs no lock
	shared     *resilient.Guard

	mu       sync.RWMutex
	lazy     map[string]func() *resilient.Guard // each makes its guard once
	full     bool                               // there is no room for more; it never empties
	findings []Finding
}

var _ resilient.Guards = (*Registry)(nil)

func newRegistry(b *book, options Options) (*Registry, error) {
	r := &Registry{
		book:       b,
		options:    options,
		fallback:   b.lay("").policy,
		registered: map[string]*resilient.Guard{},
		lazy:       map[string]func() *resilient.Guard{},
		findings:   slices.Clone(b.findings),
	}
	for _, name := range b.services() {
		guard, err := resilient.NewGuard(name, b.lay(name).policy, &options.Options)
		if err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
		r.registered[name] = guard
	}
	// An override may name the shared guard too, and so give it a policy.
	if r.shared = r.registered[SharedGuard]; r.shared == nil {
		alone := options.Options
		alone.Store = nil // the others of another process are not these
		shared, err := resilient.NewGuard(SharedGuard, r.fallback, &alone)
		if err != nil {
			return nil, fmt.Errorf("policies: %w", err)
		}
		r.shared = shared
	}
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
	if guard, ok := r.registered[name]; ok {
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
	if !ok && len(r.lazy) < r.options.MaxLazyGuards {
		name = strings.Clone(name) // it may be a slice of something large
		ready, ok = sync.OnceValue(func() *resilient.Guard { return r.make(name) }), true
		r.lazy[name] = ready
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

func (r *Registry) make(name string) *resilient.Guard {
	guard, err := resilient.NewGuard(name, r.fallback, &r.options.Options)
	if err != nil { // neither the name nor the policy can be the reason
		r.report(newFinding(name, "", KindIgnored, err.Error()))
		return r.shared
	}
	return guard
}

func (r *Registry) report(f Finding) {
	r.mu.Lock()
	r.findings = append(r.findings, f)
	r.mu.Unlock()
	f.log(r.options.Logger)
}

// Lookup returns the guard of that name but makes none: false for a name that is
// not registered and has no guard of its own yet. It knows [SharedGuard] by its
// name.
func (r *Registry) Lookup(name string) (*resilient.Guard, bool) {
	if guard, ok := r.registered[name]; ok {
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
	names := slices.Collect(maps.Keys(r.registered))
	r.mu.RLock()
	names = slices.AppendSeq(names, maps.Keys(r.lazy))
	if _, taken := r.registered[SharedGuard]; r.full && !taken {
		names = append(names, SharedGuard)
	}
	r.mu.RUnlock()
	slices.Sort(names)
	return names
}

// Policy returns the policy in force for a service, or the one that it would get.
// It makes no guard. The policy is a copy.
func (r *Registry) Policy(name string) resilient.Policy {
	if guard, ok := r.Lookup(name); ok {
		return guard.Policy()
	}
	return r.fallback
}

// Switch returns what turns the retries or the circuits of all the registry's guards off,
// for incidents, those included that are made later: [Options].Switch, or the registry's
// own.
func (r *Registry) Switch() *resilient.Switch { return r.options.Switch }

// Findings returns what was wrong with the configuration and what was done about
// it: the findings of the source in its order, then the conflicts by service, then
// what came up since. The slice is the caller's own.
func (r *Registry) Findings() []Finding {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.findings)
}
