package main

import (
	"bufio"
	"context"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// byHand is what a generated wrapper has no form for, with the same guards: calls in the background, an op that is known
// at the call only, a permit that is held for longer than a call. The guarded functions call the services themselves: a
// wrapper inside would be a guarded call in a guarded call.
type byHand struct {
	plans   *planClient
	vectors *vectorClient

	planGuard   *resilient.Guard
	vectorGuard *resilient.Guard
}

func newByHand(guards resilient.Guards, plans *planClient, vectors *vectorClient) *byHand {
	return &byHand{
		plans:       plans,
		vectors:     vectors,
		planGuard:   guards.Guard("plan_service"),
		vectorGuard: guards.Guard("vector_store_service"),
	}
}

// runTool has the provider run a tool. The op says that it executes tools and in which phase of the plan: in one that
// only reads it is made once, whatever it is declared to be, since a tool may write.
func (b *byHand) runTool(ctx context.Context, phase any, tool string) error {
	op := resilient.Idempotent("run_tool").InPlan(phase).ExecutesTools()
	return resilient.Do(ctx, b.planGuard, op, func(ctx context.Context) error {
		return b.plans.runTool(ctx, tool)
	})
}

// watch hands the plan's events to each, as they come. The wrapper guards the opening of a stream; here the circuit's
// permit is held to its end, and settled with how it ended.
func (b *byHand) watch(ctx context.Context, id string, each func(event string)) (err error) {
	permit, err := b.planGuard.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { permit.Settle(err) }()
	body, err := b.plans.Events(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		each(lines.Text())
	}
	return lines.Err()
}

// search begins a search in the background.
func (b *byHand) search(ctx context.Context, query string) *resilient.Future[match] {
	return resilient.Async(ctx, b.vectorGuard, resilient.Idempotent("search"), func(ctx context.Context) (match, error) {
		return b.vectors.Search(ctx, query)
	})
}

// embed uses a method that nothing can stop, so it runs in the background, where the guard can leave it behind when its
// time is over.
func (b *byHand) embed(ctx context.Context, total time.Duration, text string) *resilient.Future[int] {
	op := resilient.NonIdempotent("embed").WithTotalTimeout(total).WithAttemptTimeout(total)
	return resilient.Async(ctx, b.vectorGuard, op, func(context.Context) (int, error) {
		return b.vectors.embed(text)
	})
}

// gather makes many searches at once. What is still running when it returns, because one has failed for good, is
// cancelled.
func (b *byHand) gather(ctx context.Context, queries ...string) ([]match, error) {
	var searches []*resilient.Future[match]
	defer func() {
		for _, search := range searches {
			search.Cancel()
		}
	}()
	for _, query := range queries {
		searches = append(searches, b.search(ctx, query))
	}
	var found []match
	for _, search := range searches {
		m, err := search.Await(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}
