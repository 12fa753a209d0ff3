package policies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Change is one setting that a [Registry.Reload] has changed. It is a plain value.
type Change struct {
	// Service is its name, with secrets taken out; "" stands for those that nothing
	// names.
	Service string
	// Key is the setting's path in an override.
	Key string
	// From and To are the values, for people.
	From, To string
}

// String is the change without its service: "retry.max_attempts 3 → 5".
func (c Change) String() string { return fmt.Sprintf("%s %s → %s", c.Key, c.From, c.To) }

// ReloadError says why a configuration was not put in force.
type ReloadError struct {
	// Findings are those with a setting that would have been skipped.
	Findings []Finding
}

// Error names the first of them, in one line.
func (e *ReloadError) Error() string {
	text := "policies: the configuration is not put in force"
	if len(e.Findings) > 0 {
		text += ", since a part of it would be skipped: " + e.Findings[0].String()
	}
	if more := len(e.Findings) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Reload puts another configuration in the place of that which the registry was made
// with, environment variables included, and returns what that changes. It is all or
// nothing: where [Load] would skip a setting, Reload changes nothing and returns a
// [*ReloadError]. The defaults stay.
//
// Guards stay the same, with their circuits and counts. A service that is named for the
// first time is registered; one that is named no more has what is beneath. The new
// values reach each guard at once, one guard after the other; calls under way end as
// they began. A service for which the configuration says what it said before keeps what
// [resilient.Guard.SetPolicy] has made of it; any other has the configuration's policy.
// Changes are logged, one record for each service, and so are findings.
//
// It is safe for concurrent use; the later one wins.
func (r *Registry) Reload(c Config) ([]Change, error) {
	b := newBook(c, r.options)
	if skipped := slices.DeleteFunc(slices.Clone(b.findings), func(f Finding) bool { return !f.Skipped() }); len(skipped) > 0 {
		return nil, &ReloadError{Findings: skipped}
	}
	before, after := r.publish(b)
	err := r.enforce(before, after)
	changes := changesBetween(before, after)
	for _, f := range b.findings {
		f.log(r.options.Logger)
	}
	logChanges(r.options.Logger, changes)
	return changes, err
}

// publish makes a book the one in force, for all guards that are made from now on.
func (r *Registry) publish(b *book) (before, after *state) {
	for {
		before = r.state.Load()
		after = &state{book: b, fallback: b.lay("").policy, registered: maps.Clone(before.registered)}
		for _, name := range b.services() {
			if _, ok := after.registered[name]; !ok {
				after.registered[name] = r.named(name)
			}
		}
		if r.state.CompareAndSwap(before, after) {
			return before, after
		}
	}
}

// named returns the one guard of a service, whoever asks for it first: it is found
// among the lazy ones before it is registered, and stays there.
func (r *Registry) named(name string) *resilient.Guard {
	if name == SharedGuard {
		return r.shared
	}
	r.mu.Lock()
	ready, ok := r.lazy[name]
	if !ok {
		ready = r.put(name)
	}
	r.mu.Unlock()
	return ready()
}

// enforce gives every guard for which the configuration says something else now its
// policy. No lock is held, since observers are told of circuits that it switches on or
// off; so another Reload may overtake this one, and then its policies are the ones.
func (r *Registry) enforce(before, after *state) error {
	guards := maps.Clone(after.registered)
	guards[SharedGuard] = r.shared
	r.mu.RLock()
	lazy := maps.Clone(r.lazy) // one that is not among them yet finds the new state
	r.mu.RUnlock()
	for name, ready := range lazy {
		guards[name] = ready()
	}
	maps.DeleteFunc(guards, func(name string, _ *resilient.Guard) bool { return before.policy(name) == after.policy(name) })
	for {
		var errs []error
		latest := r.state.Load()
		for name, guard := range guards {
			errs = append(errs, guard.SetPolicy(latest.policy(name)))
		}
		if r.state.Load() == latest {
			return errors.Join(errs...) // of none: what layers come to is valid
		}
	}
}

// changesBetween lists what is different, by service: first what nothing names.
func changesBetween(before, after *state) []Change {
	changes := compare("", before.fallback, after.fallback)
	for _, name := range slices.Sorted(maps.Keys(after.registered)) {
		if before.book.names(name) || after.book.names(name) {
			changes = append(changes, compare(name, before.policy(name), after.policy(name))...)
		}
	}
	return changes
}

func compare(service string, before, after resilient.Policy) []Change {
	var changes []Change
	for i := range fields {
		f := &fields[i]
		if from, to := f.show(&before), f.show(&after); from != to {
			changes = append(changes, Change{Service: sanitize.Message(service), Key: f.path(), From: from, To: to})
		}
	}
	return changes
}

// logChanges writes one record for each service.
func logChanges(logger *slog.Logger, changes []Change) {
	if logger == nil {
		logger = slog.Default()
	}
	defer func() { _ = recover() }() // a logger that panics stops no program
	for len(changes) > 0 {
		service := changes[0].Service
		n := slices.IndexFunc(changes, func(c Change) bool { return c.Service != service })
		if n < 0 {
			n = len(changes)
		}
		var texts []string
		for _, c := range changes[:n] {
			texts = append(texts, c.String())
		}
		changes = changes[n:]
		if service == "" {
			service = "services that nothing names"
		}
		logger.LogAttrs(context.Background(), slog.LevelInfo, "resilience settings changed",
			slog.String("service", service), slog.String("changes", strings.Join(texts, ", ")))
	}
}
