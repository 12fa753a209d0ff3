package asyncresult

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

type events chan string

func start(ctx context.Context) (*resilient.Future[int], error)   { return nil, nil }
func watch(ctx context.Context, id string) (<-chan string, error) { return nil, nil }
func fetch(ctx context.Context) (int, error)                      { return 0, nil }
func functions(ctx context.Context) ([]chan int, error)           { return nil, nil }

func faults(ctx context.Context, g *resilient.Guard, op resilient.Op) {
	_, _ = resilient.Execute(ctx, g, op, start)                                      // want `returns a \*Future, before its work is done: Execute refuses it`
	_ = resilient.Wrap0(g, op, start)                                                // want `returns a \*Future.*Wrap0 refuses`
	_ = resilient.Wrap(g, op, watch)                                                 // want `returns a channel`
	_, _ = resilient.Async(ctx, g, op, start).Await(ctx)                             // want `returns a \*Future`
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (events, error) { // want `returns a channel`
		return make(events), nil
	})
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (*resilient.Future[int], error) { // want `returns a \*Future`
		return resilient.Async(ctx, g, op, fetch), nil
	})
}

func clean[T any](ctx context.Context, g *resilient.Guard, op resilient.Op, any func(ctx context.Context) (T, error)) {
	_, _ = resilient.Async(ctx, g, op, fetch).Await(ctx)
	_, _ = resilient.Execute(ctx, g, op, functions)
	_, _ = resilient.Execute(ctx, g, op, any)
	_, _ = Execute(ctx, start)
}

// Execute is not the library's.
func Execute[T any](ctx context.Context, f func(ctx context.Context) (T, error)) (T, error) {
	return f(ctx)
}
