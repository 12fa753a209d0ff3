package main

import (
	"context"
	"errors"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
)

// failsafe-go is composed as its documentation does it: policies and executor made once, the outermost first; the
// context given to each call by WithContext; and, since the function takes a context, GetWithExecution, which is how it
// gets the one that the timeout cancels.

func newFailsafeCircuit() circuitbreaker.CircuitBreaker[int] {
	return circuitbreaker.NewBuilder[int]().
		WithFailureThreshold(tripAfter).
		WithDelay(stayOpen).
		Build()
}

func newFailsafeExecutor(circuit circuitbreaker.CircuitBreaker[int]) failsafe.Executor[int] {
	retry := retrypolicy.NewBuilder[int]().
		WithMaxAttempts(attempts). // without a delay, unless one is set
		AbortOnErrors(circuitbreaker.ErrOpen).
		Build()
	return failsafe.With[int](timeout.New[int](totalTimeout), retry, circuit)
}

func failsafeGuarded() func(*service) loop {
	executor := newFailsafeExecutor(newFailsafeCircuit())
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := executor.WithContext(ctx).GetWithExecution(
					func(exec failsafe.Execution[int]) (int, error) { return s.call(exec.Context(), id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func failsafeAsync() func(*service) loop {
	executor := newFailsafeExecutor(newFailsafeCircuit())
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := executor.WithContext(ctx).GetAsyncWithExecution(
					func(exec failsafe.Execution[int]) (int, error) { return s.call(exec.Context(), id) }).Get()
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func failsafeRejected() func(*service) loop {
	circuit := newFailsafeCircuit()
	circuit.Open()
	executor := newFailsafeExecutor(circuit)
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) (err error) {
			for id := range n {
				_, err = executor.WithContext(ctx).GetWithExecution(
					func(exec failsafe.Execution[int]) (int, error) { return s.call(exec.Context(), id) })
				if err == nil {
					return errAdmitted
				}
			}
			return rejectedWith(err, isFailsafeRejection)
		}
	}
}

func isFailsafeRejection(err error) bool { return errors.Is(err, circuitbreaker.ErrOpen) }
