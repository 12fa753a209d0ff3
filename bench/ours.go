package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// newGuard makes the guard of our contestants.
func newGuard() *resilient.Guard {
	policy := resilient.DefaultPolicy()
	policy.Retry.MaxAttempts = attempts
	policy.Retry.Backoff = resilient.BackoffNone
	policy.Retry.BaseDelay = 0
	policy.Circuit.FailureThreshold = tripAfter
	policy.Circuit.RecoveryTimeout = stayOpen
	policy.TotalTimeout = totalTimeout
	return must(resilient.NewGuard("plan_service", policy, &resilient.Options{
		Logger: slog.New(slog.DiscardHandler),
	}))
}

func oursGuarded() func(*service) loop { return executing(newGuard()) }

// executing is the guarded call.
func executing(guard *resilient.Guard) func(*service) loop {
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := resilient.Execute(ctx, guard, resilient.Idempotent("get_plan"),
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func oursAsync() func(*service) loop {
	guard := newGuard()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := resilient.Async(ctx, guard, resilient.Idempotent("get_plan"),
					func(ctx context.Context) (int, error) { return s.call(ctx, id) }).Await(ctx)
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

// tripped opens a guard's circuit as an outage does.
func tripped(guard *resilient.Guard) {
	down := func(context.Context) error { return errUnavailable }
	for guard.Circuit().State() != breaker.Open {
		if resilient.Do(context.Background(), guard, resilient.NonIdempotent("get_plan"), down) == nil {
			panic("the function that always fails did not")
		}
	}
}

// forcedOpen opens it as an operator does.
func forcedOpen(guard *resilient.Guard) { guard.Circuit().ForceOpen() }

func oursRejected(open func(*resilient.Guard)) func(*service) loop {
	guard := newGuard()
	open(guard)
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) (err error) {
			for id := range n {
				_, err = resilient.Execute(ctx, guard, resilient.Idempotent("get_plan"),
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err == nil {
					return errAdmitted
				}
			}
			return rejectedWith(err, isOurRejection)
		}
	}
}

func isOurRejection(err error) bool {
	var rejected *resilient.RejectedError
	return errors.As(err, &rejected)
}
