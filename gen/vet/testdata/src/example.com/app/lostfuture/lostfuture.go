package lostfuture

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

type holder struct{ future *resilient.Future[int] }

func fetch(ctx context.Context) (int, error) { return 0, nil }

func begin(ctx context.Context, g *resilient.Guard) *resilient.Future[int] {
	return resilient.Async(ctx, g, resilient.Idempotent("fetch"), fetch)
}

func take(*resilient.Future[int]) {}

func faults(ctx context.Context, g *resilient.Guard, op resilient.Op) {
	resilient.Async(ctx, g, op, fetch)     // want `the future is neither awaited nor cancelled`
	_ = resilient.Async(ctx, g, op, fetch) // want `the future is neither awaited nor cancelled`
	begin(ctx, g)                          // want `the future is neither awaited nor cancelled`
	f := begin(ctx, g)                     // want `the future is neither awaited nor cancelled`
	_ = f
	var _ = resilient.Async(ctx, g, op, fetch)    // want `the future is neither awaited nor cancelled`
	var kept = resilient.Async(ctx, g, op, fetch) // want `the future is neither awaited nor cancelled`
	_ = kept
}

var global = begin(context.Background(), nil)

func clean(ctx context.Context, g *resilient.Guard, op resilient.Op) (*resilient.Future[int], holder) {
	awaited := resilient.Async(ctx, g, op, fetch)
	_, _ = awaited.Await(ctx)
	cancelled := resilient.Async(ctx, g, op, fetch)
	defer cancelled.Cancel()
	resilient.Async(ctx, g, op, fetch).Cancel()
	waited := begin(ctx, g)
	<-waited.Done()
	captured := begin(ctx, g)
	go func() { _, _ = captured.Await(ctx) }()
	take(begin(ctx, g))
	h := holder{begin(ctx, g)}
	h.future = begin(ctx, g)
	all := []*resilient.Future[int]{begin(ctx, g)}
	all[0] = begin(ctx, g)
	global = begin(ctx, g)
	wait := begin(ctx, g).Await
	_, _ = wait(ctx)
	passed := begin(ctx, g)
	moved := passed
	take(moved)
	return begin(ctx, g), h
}

func started(ctx context.Context, g *resilient.Guard, op resilient.Op) {
	go resilient.Async(ctx, g, op, fetch)    // want `the future is neither awaited nor cancelled`
	defer resilient.Async(ctx, g, op, fetch) // want `the future is neither awaited nor cancelled`
	defer resilient.Async(ctx, g, op, fetch).Cancel()
	go take(begin(ctx, g))
}
