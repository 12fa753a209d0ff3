package main

import (
	"context"
	"errors"

	"github.com/avast/retry-go/v4"
	"github.com/sony/gobreaker/v2"
)

// The composition that services write for themselves: a timeout, a depth in the context, retry-go and, inside,
// gobreaker.

func newGobreaker() *gobreaker.CircuitBreaker[int] {
	return gobreaker.NewCircuitBreaker[int](gobreaker.Settings{
		Name:        "plan_service",
		Timeout:     stayOpen,
		ReadyToTrip: func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= tripAfter },
	})
}

// newOpenGobreaker trips one, which is the only way to open it.
func newOpenGobreaker() *gobreaker.CircuitBreaker[int] {
	circuit := newGobreaker()
	for circuit.State() == gobreaker.StateClosed {
		_, _ = circuit.Execute(func() (int, error) { return 0, errUnavailable })
	}
	return circuit
}

type depthKey struct{}

// guardByHand calls fn with all of it round. Inside of another guarded call
// it makes one attempt only, and an open circuit ends the retries.
func guardByHand[T any](
	ctx context.Context, circuit *gobreaker.CircuitBreaker[T], fn func(context.Context) (T, error),
) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, totalTimeout)
	defer cancel()
	limit := uint(attempts)
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth > 0 {
		limit = 1
	}
	ctx = context.WithValue(ctx, depthKey{}, depth+1)
	return retry.DoWithData(
		func() (T, error) {
			return circuit.Execute(func() (T, error) { return fn(ctx) })
		},
		retry.Attempts(limit),
		retry.Delay(0),
		retry.DelayType(retry.FixedDelay), // the default adds a random delay
		retry.LastErrorOnly(true),
		retry.RetryIf(mayHelp),
		retry.Context(ctx),
	)
}

func mayHelp(err error) bool { return retry.IsRecoverable(err) && !isGobreakerRejection(err) }

func isGobreakerRejection(err error) bool { return errors.Is(err, gobreaker.ErrOpenState) }

func byHandGuarded() func(*service) loop {
	circuit := newGobreaker()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := guardByHand(ctx, circuit,
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

// asyncByHand runs it on a goroutine, with a channel for the result, and waits until the caller's context ends.
func asyncByHand[T any](
	ctx context.Context, circuit *gobreaker.CircuitBreaker[T], fn func(context.Context) (T, error),
) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := guardByHand(ctx, circuit, fn)
		results <- result{value, err}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func byHandAsync() func(*service) loop {
	circuit := newGobreaker()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := asyncByHand(ctx, circuit,
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func byHandRejected() func(*service) loop {
	circuit := newOpenGobreaker()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) (err error) {
			for id := range n {
				_, err = guardByHand(ctx, circuit,
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err == nil {
					return errAdmitted
				}
			}
			return rejectedWith(err, isGobreakerRejection)
		}
	}
}
