package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// The vector store is down for three services, one below the other, of which each may retry.
func nestedChain(ctx context.Context, p *platform) (string, error) {
	p.index.fail(unavailable())
	_, err := p.lifecycle.Begin(ctx, "tea")
	exhausted, ok := errors.AsType[*resilient.ExhaustedError](err)
	if !ok {
		return describe(err), nil
	}
	return fmt.Sprintf("%s, %s gave up", count(p.index.requests(), "request"), exhausted.Service), nil
}

// The control: what it comes to when nothing that a guard knows gets from one service to the next, neither the scope in
// the context nor the type of an error, and no circuit ends it.
func detachedChain(ctx context.Context, p *platform) (string, error) {
	registry, err := policies.FromEnv("CONTROL", &policies.Options{
		Options: resilient.Options{Logger: p.logs.plain()},
		LookupEnv: func(name string) (string, bool) {
			value, ok := map[string]string{
				"CONTROL_RETRY_MAX_ATTEMPTS":     "3",
				"CONTROL_RETRY_BACKOFF_STRATEGY": "none",
				"CONTROL_CB_FAILURE_THRESHOLD":   "1000",
			}[name]
			return value, ok
		},
	})
	if err != nil {
		return "", err
	}
	p.index.fail(unavailable())
	bottom := newVectorStore(registry, p.index.url)
	call := func(ctx context.Context) error {
		_, err := bottom.Search(ctx, "tea")
		return err
	}
	for _, service := range []string{"plan_service", "plan_lifecycle_service"} {
		below := call
		call = resilient.WrapErr0(registry.Guard(service), resilient.Idempotent("begin"), func(ctx context.Context) error {
			if err := below(nesting.Detach(ctx)); err != nil {
				return errors.New(err.Error())
			}
			return nil
		})
	}
	if err := call(ctx); err == nil {
		return "", errors.New("a call succeeded in an outage")
	}
	return count(p.index.requests(), "request"), nil
}

func toolInReadOnlyPhase(ctx context.Context, p *platform) (string, error) {
	p.provider.fail(unavailable())
	if err := p.byHand.runTool(ctx, "planning", "search_files"); err == nil {
		return "", errors.New("a tool ran in an outage")
	}
	planning := p.provider.requests()
	if err := p.byHand.runTool(ctx, "execution", "search_files"); err == nil {
		return "", errors.New("a tool ran in an outage")
	}
	return fmt.Sprintf("planning %s, execution %d", count(planning, "request"), p.provider.requests()-planning), nil
}

// Another process has the session file open, and closes it when the first attempt has failed.
func lockedFile(ctx context.Context, p *platform) (string, error) {
	other, err := openSessions(p.sessionPath())
	if err != nil {
		return "", err
	}
	if err := saveSession(other, "s-1", "restored"); err != nil {
		return "", err
	}
	var closing error
	p.atRetry(func() { closing = other.Close() })
	state, err := p.sessions.Load(ctx, "s-1")
	return fmt.Sprintf("%s, %s logged", state, count(p.retries(), "retry")), errors.Join(err, closing)
}

func missingSession(ctx context.Context, p *platform) (string, error) {
	if err := p.sessions.Save(ctx, "s-1", "here"); err != nil {
		return "", err
	}
	missing := 0
	for range 6 {
		if _, err := p.sessions.Load(ctx, "s-2"); errors.Is(err, errNoSession) {
			missing++
		}
	}
	return fmt.Sprintf("%d times %v, %s", missing, errNoSession, p.state("session_service")), nil
}

// Nobody has configured this service. It gets a guard when it is first asked for, and keeps it.
func unknownService(ctx context.Context, p *platform) (string, error) {
	guard := p.registry.Guard("geocoder_service")
	places := newVectorClient(p.index.url)
	p.index.fail(unavailable())
	_, err := resilient.Execute(ctx, guard, resilient.Idempotent("locate"), func(ctx context.Context) (match, error) {
		return places.Search(ctx, "tea")
	})
	if err == nil {
		return "", errors.New("a call succeeded in an outage")
	}
	apart, same := "100ms apart", "same guard"
	if d := gap(p.index.seen()); d < 100*time.Millisecond {
		apart = fmt.Sprintf("only %v apart", d)
	}
	if p.registry.Guard("geocoder_service") != guard {
		same = "another guard"
	}
	return fmt.Sprintf("%s, %s, %s", count(p.index.requests(), "request"), apart, same), nil
}

// A value out of range costs one service its override; a key that nobody knows is passed over. Both are reported.
func badOverride(_ context.Context, p *platform) (string, error) {
	const overrides = `{
		"plan_service":         {"retry": {"max_attempts": 0}},
		"vector_store_service": {"retry": {"max_attempts": 4, "colour": "red"}}
	}`
	registry, err := policies.FromEnv("CLEVERAGENTS", &policies.Options{
		Options:   resilient.Options{Logger: p.logs.plain()},
		LookupEnv: func(name string) (string, bool) { return overrides, name == "CLEVERAGENTS_RETRY_SERVICE_OVERRIDES" },
	})
	if err != nil {
		return "", err
	}
	attempts := func(service string) int { return registry.Guard(service).Policy().Retry.MaxAttempts }
	return fmt.Sprintf("%s, plan %d, vector_store %d", count(len(registry.Findings()), "finding"),
		attempts("plan_service"), attempts("vector_store_service")), nil
}
