package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// breakPlans lets the plan service fail until its circuit is open. Writes are the quickest, for nothing waits to repeat
// them.
func breakPlans(ctx context.Context, p *platform) error {
	p.provider.fail(unavailable())
	for range 5 {
		if err := p.plans.Apply(ctx, plan{ID: "plan-1"}); err == nil {
			return errors.New("a call succeeded in an outage")
		}
	}
	if state := p.state("plan_service"); state != "open" {
		return fmt.Errorf("the circuit is %s after an outage", state)
	}
	return nil
}

// The circuit opens in the middle of the second call, and ends it: three attempts and two.
func outageHeals(ctx context.Context, p *platform) (string, error) {
	p.provider.fail(unavailable())
	for range 2 {
		if _, err := p.plans.Get(ctx, "plan-1"); err == nil {
			return "", errors.New("a call succeeded in an outage")
		}
	}
	rejected := 0
	for range 10 {
		if _, err := p.plans.Get(ctx, "plan-1"); isRejected(err, breaker.Open) {
			rejected++
		}
	}
	before := p.provider.requests()
	p.provider.heal()
	if err := p.awaitProbe(ctx, "plan_service"); err != nil {
		return "", err
	}
	if _, err := p.plans.Get(ctx, "plan-1"); err != nil {
		return "", err
	}
	end := p.circuit("plan_service")
	if end == "opened half-open closed" {
		end = "healed"
	}
	return fmt.Sprintf("%s, %d rejected, %s, %s", count(before, "request"), rejected,
		count(p.provider.requests()-before, "probe"), end), nil
}

func isRejected(err error, state breaker.State) bool {
	rejected, ok := errors.AsType[*resilient.RejectedError](err)
	return ok && rejected.State == state
}

// Twenty callers come at the moment when the circuit may try again. The server keeps the one that gets through until
// the others have had their answer.
func oneProbe(ctx context.Context, p *platform) (string, error) {
	if err := breakPlans(ctx, p); err != nil {
		return "", err
	}
	before := p.provider.requests()
	release := make(chan struct{})
	p.provider.fail(hold(release))
	if err := p.awaitProbe(ctx, "plan_service"); err != nil {
		return "", err
	}

	const callers = 20
	results := make(chan error, callers)
	start := make(chan struct{})
	for range callers {
		go func() {
			<-start
			_, err := p.plans.Get(ctx, "plan-1")
			results <- err
		}()
	}
	close(start)
	answered, rejected := 0, 0
	for i := range callers {
		if i == callers-1 {
			close(release)
		}
		switch err := <-results; {
		case err == nil:
			answered++
		case isRejected(err, breaker.HalfOpen):
			rejected++
		}
	}
	return fmt.Sprintf("%s, %d answered, %d rejected", count(p.provider.requests()-before, "request"),
		answered, rejected), nil
}

// recovery_multiplier is 2 for this service, so that the second pause is twice the first.
func failedProbe(ctx context.Context, p *platform) (string, error) {
	if err := breakPlans(ctx, p); err != nil {
		return "", err
	}
	before := p.provider.requests()
	if err := p.awaitProbe(ctx, "plan_service"); err != nil {
		return "", err
	}
	if _, err := p.plans.Get(ctx, "plan-1"); err == nil {
		return "", errors.New("the probe succeeded in an outage")
	}
	now := p.registry.Guard("plan_service").Circuit().Snapshot()
	return fmt.Sprintf("%s, %s for %v", count(p.provider.requests()-before, "request"), now.State,
		now.Until.Sub(now.LastFailure)), nil
}

// The callers give up while the server hangs: that says something about them, and nothing about the server.
func cancellationIsNeutral(ctx context.Context, p *platform) (string, error) {
	p.index.fail(hang)
	cancelled := 0
	for i := range 6 {
		ctx, cancel := context.WithCancel(ctx)
		search := p.byHand.search(ctx, "tea")
		err := p.index.await(ctx, func(c counts) bool { return len(c.arrivals) > i })
		cancel()
		<-search.Done()
		if err != nil {
			return "", err
		}
		if _, err := search.Await(context.WithoutCancel(ctx)); errors.Is(err, context.Canceled) {
			cancelled++
		}
	}
	now := p.registry.Guard("vector_store_service").Circuit().Snapshot()
	return fmt.Sprintf("%d cancelled, %s, %v", cancelled, count(now.Failures, "failure"), now.State), nil
}

// The same server, and callers with deadlines: this is how a dependency that hangs shows itself.
func deadlineIsFailure(ctx context.Context, p *platform) (string, error) {
	p.index.fail(hang)
	var expired atomic.Int64
	var callers sync.WaitGroup
	for range 5 {
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			if _, err := p.vectors.Search(ctx, "tea"); errors.Is(err, context.DeadlineExceeded) {
				expired.Add(1)
			}
		})
	}
	callers.Wait()
	now := p.registry.Guard("vector_store_service").Circuit().Snapshot()
	return fmt.Sprintf("%d expired, %s, %v", expired.Load(), count(now.Failures, "failure"), now.State), nil
}

func streamsShareTheCircuit(ctx context.Context, p *platform) (string, error) {
	events := 0
	if err := p.byHand.watch(ctx, "plan-1", func(string) { events++ }); err != nil {
		return "", err
	}
	p.provider.fail(resetAfter(2))
	broken := 0
	for range 5 {
		if err := p.byHand.watch(ctx, "plan-1", func(string) {}); isReset(err) {
			broken++
		}
	}
	_, err := p.plans.Get(ctx, "plan-1")
	return fmt.Sprintf("%s, %d broken off, %s", count(events, "event"), broken, describe(err)), nil
}

// The wrapper guards the opening: what it hands out is read outside of any limit, and an opening is not repeated.
func streamIsOpenedOnce(ctx context.Context, p *platform) (string, error) {
	body, err := p.plans.Events(ctx, "plan-1")
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return "", err
	}
	before := p.provider.requests()
	p.provider.fail(unavailable())
	open := func() error {
		body, err := p.plans.Events(ctx, "plan-1")
		if err == nil {
			err = body.Close()
		}
		return err
	}
	refused := 0
	for range 5 {
		if describe(open()) == "status 503" {
			refused++
		}
	}
	rejected := describe(open())
	return fmt.Sprintf("%s, %d refused, %s, %s", count(bytes.Count(text, []byte("\n")), "event"), refused,
		count(p.provider.requests()-before, "request"), rejected), nil
}

// An operator who asks whether the provider is there wants to know it from the provider.
func skippedMethod(ctx context.Context, p *platform) (string, error) {
	if err := breakPlans(ctx, p); err != nil {
		return "", err
	}
	p.provider.heal()
	_, err := p.plans.Get(ctx, "plan-1")
	return fmt.Sprintf("%s, ping %s", describe(err), describe(p.plans.Ping(ctx))), nil
}

func disabledCircuit(ctx context.Context, p *platform) (string, error) {
	guard := p.registry.Guard("trace_service")
	find := resilient.Wrap(guard, resilient.NonIdempotent("find_trace"), newVectorClient(p.index.url).Search)
	p.index.fail(unavailable())
	failed := 0
	for range 8 {
		if _, err := find(ctx, "trace"); describe(err) == "status 503" {
			failed++
		}
	}
	return fmt.Sprintf("%d failed, %s, %s", failed, count(p.index.requests(), "request"), p.state("trace_service")), nil
}
