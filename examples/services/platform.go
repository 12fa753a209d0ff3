package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// Writes the wrappers of all services of this package, each beside its interface.
//
//go:generate go tool resilientgen

// environment is what a deployment would set. The delays are short, so that the demonstration is; everything else
// is as it would be in earnest. A duration is a number of seconds or a Go duration.
var environment = map[string]string{
	"CLEVERAGENTS_RETRY_MAX_ATTEMPTS":  "3",
	"CLEVERAGENTS_RETRY_BASE_DELAY":    "0.02",
	"CLEVERAGENTS_RETRY_MAX_DELAY":     "2",
	"CLEVERAGENTS_CB_RECOVERY_TIMEOUT": "0.4",
	"CLEVERAGENTS_CB_COOLDOWN":         "0.1",
	"CLEVERAGENTS_RETRY_SERVICE_OVERRIDES": `{
		"plan_service": {
			"circuit_breaker": {"failure_threshold": 5, "recovery_multiplier": 2},
			"attempt_timeout": 5, "total_timeout": 20
		},
		"vector_store_service": {
			"retry": {"backoff_strategy": "linear_increasing", "base_delay": "10ms", "jitter": false},
			"attempt_timeout": "800ms", "total_timeout": 10
		},
		"session_service": {
			"circuit_breaker": {"failure_threshold": 3},
			"total_timeout": 5
		},
		"trace_service": {
			"circuit_breaker": {"enabled": false}
		}
	}`,
}

func lookupEnvironment(name string) (string, bool) {
	value, ok := environment[name]
	return value, ok
}

// platform is the program: the services, each behind its guard, and what they talk to.
type platform struct {
	registry  *policies.Registry
	plans     planService
	vectors   vectorStore
	sessions  sessionService
	lifecycle planLifecycle
	byHand    *byHand
	log       *slog.Logger // the application's own
	meter     *dashboard.Meter

	// The other side, which a real program does not hold.
	provider *provider
	index    *index
	dir      string
	sharing  sharing // how the replicas are started, in the scenarios that have some

	*recorder
}

// newPlatform wires everything; close takes it down again.
func newPlatform(logs *journal, shared sharing) (*platform, error) {
	p := &platform{log: logs.sanitized(), meter: dashboard.NewMeter(), sharing: shared, recorder: newRecorder(logs)}

	// A program that is configured by its environment says policies.FromEnv("CLEVERAGENTS", options) and leaves
	// LookupEnv out.
	var err error
	p.registry, err = policies.FromEnv("CLEVERAGENTS", &policies.Options{
		Options: resilient.Options{
			Classify:  classify,
			Observers: []resilient.Observer{p.recorder, p.meter},
			// A plain handler, so that a secret which the library let through would be seen.
			Logger: logs.plain(),
		},
		LookupEnv: lookupEnvironment,
	})
	if err != nil {
		return nil, err
	}
	if findings := p.registry.Findings(); len(findings) > 0 {
		return nil, fmt.Errorf("configuration: %v", findings[0])
	}
	if err := p.start(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	p.plans = newPlanService(p.registry, p.provider.url, providerKey)
	p.vectors = newVectorStore(p.registry, p.index.url)
	p.sessions = newSessionService(p.registry, p.sessionPath())
	p.lifecycle = newPlanLifecycle(p.registry, p.vectors)
	p.byHand = newByHand(p.registry, newPlanClient(p.provider.url, providerKey), newVectorClient(p.index.url))
	return p, nil
}

func (p *platform) sessionPath() string { return filepath.Join(p.dir, "sessions.db") }

// start brings up the other side.
func (p *platform) start() (err error) {
	if p.provider, err = startProvider(); err != nil {
		return err
	}
	if p.index, err = startIndex(); err != nil {
		return err
	}
	p.dir, err = os.MkdirTemp("", "services-")
	return err
}

// close stops the servers, waits for their last request and removes the database.
func (p *platform) close() error {
	var errs []error
	if p.sessions != nil {
		errs = append(errs, p.sessions.Close())
	}
	if p.provider != nil {
		errs = append(errs, p.provider.close())
	}
	if p.index != nil {
		errs = append(errs, p.index.close())
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}

// state is a circuit's state as an operator would see it.
func (p *platform) state(service string) string {
	return p.registry.Guard(service).Circuit().State().String()
}

// awaitProbe waits until the open circuit of a service admits a probe.
func (p *platform) awaitProbe(ctx context.Context, service string) error {
	return pause(ctx, time.Until(p.registry.Guard(service).Circuit().Snapshot().Until))
}
