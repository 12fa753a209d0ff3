package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/seed42274fcc/stoic/resilient"
)

// The code of the README, which a test keeps the same as this.

type Order struct{ ID string }

type orderClient struct{}

func (orderClient) Get(_ context.Context, id string) (Order, error) { return Order{ID: id}, nil }

func stream(context.Context) error { return io.ErrUnexpectedEOF }

func readme(ctx context.Context) error {
	var client orderClient
	// region direct
	orders, err := resilient.NewGuard("orders", resilient.DefaultPolicy(), nil)
	if err != nil {
		return err
	}
	order, err := resilient.Execute(ctx, orders, resilient.Idempotent("get"),
		func(ctx context.Context) (Order, error) { return client.Get(ctx, "o-1") })
	// endregion
	fmt.Println(order, err)

	// region others
	get := resilient.Wrap(orders, resilient.Idempotent("get"), client.Get)

	future := resilient.Async(ctx, orders, resilient.Idempotent("get"),
		func(ctx context.Context) (Order, error) { return client.Get(ctx, "o-2") })
	defer future.Cancel()
	second, err := future.Await(ctx)
	if err != nil {
		return err
	}

	permit, err := orders.Acquire(ctx)
	if err != nil {
		return err
	}
	permit.Settle(stream(ctx))
	// endregion
	fmt.Println(second)
	_, err = get(ctx, "o-3")
	return err
}

func explain(err error) {
	// region errors
	var rejected *resilient.RejectedError
	var exhausted *resilient.ExhaustedError
	switch {
	case errors.As(err, &exhausted):
		log.Printf("%s after %d attempts: %v", exhausted.Reason, exhausted.Attempts, err)
	case errors.As(err, &rejected):
		log.Printf("not even tried, again in at most %v: %v", rejected.RetryAfter(), err)
	}
	// endregion
}

func Example() {
	if err := readme(context.Background()); err != nil {
		explain(err)
	}
	// Output:
	// {o-1} <nil>
	// {o-2}
}
