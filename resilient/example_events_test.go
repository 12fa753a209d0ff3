package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Who is told that a shared circuit goes on without its store.
func ExampleStoreChanged() {
	store := &fragileStore{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
	refused := errors.New("connection refused")
	store.fault.Store(&refused) // it is down from the beginning

	guard, err := resilient.NewGuard("plans", resilient.DefaultPolicy(), &resilient.Options{
		Store:  store,
		Logger: slog.New(slog.DiscardHandler),
		Observers: []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
			if e, ok := event.(resilient.StoreChanged); ok {
				fmt.Printf("%s: %s, was %s: %v\n", e.Circuit, e.To, e.From, e.Cause)
			}
		})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 { // the calls go on, and it is told once
		_ = resilient.Do(context.Background(), guard, resilient.Idempotent("get"), func(context.Context) error { return nil })
	}
	// Output: plans: lost, was shared: connection refused
}

// attemptsCounter counts the attempts of calls by their outcome.
type attemptsCounter struct{ succeeded, failed atomic.Int64 }

func (c *attemptsCounter) Observe(_ context.Context, event resilient.Event) {
	if e, ok := event.(resilient.CallDone); ok {
		c.failed.Add(int64(e.Attempts - 1))
		if e.Outcome == resilient.OutcomeFailure {
			c.failed.Add(1)
		} else {
			c.succeeded.Add(1)
		}
	}
}

func (*attemptsCounter) CallsOnly() bool { return true }

// Attempts are counted without being told of each.
func ExampleCallObserver() {
	policy := resilient.DefaultPolicy()
	policy.Retry.Backoff, policy.Retry.BaseDelay = resilient.BackoffNone, 0
	var counter attemptsCounter
	guard, err := resilient.NewGuard("plans", policy, &resilient.Options{
		Observers: []resilient.Observer{&counter}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = resilient.Do(context.Background(), guard, resilient.Idempotent("get"), func(ctx context.Context) error {
		if resilient.Attempt(ctx) < 3 {
			return errors.New("down")
		}
		return nil
	})
	fmt.Println(counter.failed.Load(), counter.succeeded.Load())
	// Output: 2 1
}
