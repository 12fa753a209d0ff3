package policies

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// Defaults are what an application says about its services before anything is
// configured. They are data; whatever takes them copies them.
type Defaults struct {
	// Services are the registered ones, each with its default, a patch of
	// [resilient.DefaultPolicy].
	Services map[string]Patch
	// Fallback is the default of every other service. Nil means [Database]; point it
	// to an empty Patch for resilient.DefaultPolicy.
	Fallback *Patch
}

// AgentPlatform are the services of an agent platform, and the defaults when
// nothing else is said: plans come from a model's provider, vectors over the
// network, everything else from a database. Each call returns its own copy.
func AgentPlatform() Defaults {
	return Defaults{
		Services: map[string]Patch{
			"plan_service":              Provider(),
			"vector_store_service":      Network(),
			"plan_lifecycle_service":    Database(),
			"context_service":           Database(),
			"session_service":           Database(),
			"checkpoint_service":        Database(),
			"trace_service":             Database(),
			"actor_service":             Database(),
			"resource_registry_service": Database(),
			"decision_service":          Database(),
			"error_recovery_service":    Database(),
		},
		Fallback: new(Database()),
	}
}

// Provider is the default for a model's provider: three attempts with full jitter,
// since everybody who is rate limited waits for the same moment.
func Provider() Patch { return category(3, resilient.BackoffJitter, true) }

// Network is the default for what is reached over a network that drops things:
// five attempts, exponential, jittered.
func Network() Patch { return category(5, resilient.BackoffExponential, true) }

// Database is the default for a database, near and quick to recover: three
// attempts at a fixed distance.
func Database() Patch { return category(3, resilient.BackoffFixed, false) }

func category(attempts int, backoff resilient.Backoff, jitter bool) Patch {
	return Patch{Retry: RetryPatch{MaxAttempts: &attempts, Backoff: &backoff, Jitter: &jitter}}
}

// names lists the services in order.
func (d Defaults) names() []string { return slices.Sorted(maps.Keys(d.Services)) }

// patch returns the default of a service, and whether it is its own.
func (d Defaults) patch(service string) (p Patch, own bool) {
	if p, own = d.Services[service]; own {
		return p, true
	}
	return d.fallback(), false
}

func (d Defaults) fallback() Patch {
	if d.Fallback == nil {
		return Database()
	}
	return *d.Fallback
}

// clone returns defaults that share nothing with d.
func (d Defaults) clone() Defaults {
	own := Defaults{
		Services: make(map[string]Patch, len(d.Services)),
		Fallback: new(d.fallback().clone()),
	}
	for name, patch := range d.Services {
		own.Services[name] = patch.clone()
	}
	return own
}

// validate names every default that is not valid by itself. Defaults are code, so
// what is wrong with them is an error and not a finding.
func (d Defaults) validate(known budgets) error {
	var errs []error
	check := func(name string, patch Patch) {
		fine := true
		for i := range fields {
			if bad := fields[i].check(&patch); bad != nil {
				errs = append(errs, fmt.Errorf("default of %s: %s %s", name, fields[i].path(), bad.text))
				fine = false
			}
		}
		if bad := known.unknown(&patch); bad != nil {
			errs = append(errs, fmt.Errorf("default of %s: %s %s", name, pathBudget, bad.text))
		}
		if fine { // what spans fields makes sense only then
			if err := patch.Apply(resilient.DefaultPolicy()).Validate(); err != nil {
				errs = append(errs, fmt.Errorf("default of %s: %w", name, err))
			}
		}
	}
	for _, name := range d.names() {
		if name == "" {
			errs = append(errs, errors.New("a default for a service without a name"))
		}
		check(sanitize.Message(name), d.Services[name])
	}
	check("other services", d.fallback())
	return errors.Join(errs...)
}
