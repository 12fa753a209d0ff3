package main

import (
	"context"
	"errors"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/fallback"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"
	"github.com/sony/gobreaker/v2"

	"github.com/seed42274fcc/stoic/resilient"
)

// Two providers, each with retries and a circuit of its own. The loops see to it that the right one answers.

// errWrongProvider says that the other one answered.
var errWrongProvider = errors.New("the wrong provider answered")

func nothing(*resilient.Guard) {}

func oursFirstOf(prepare func(*resilient.Guard)) func(*service) loop {
	first, second := newGuard(), newGuard()
	prepare(first)
	answers := 0
	if first.Circuit().Rejects(first.Circuit().Now()) != nil {
		answers = 1
	}
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				call := func(ctx context.Context) (int, error) { return s.call(ctx, id) }
				answer, err := resilient.FirstOf(ctx, resilient.Idempotent("get_plan"),
					resilient.Alternative[int]{Guard: first, Call: call},
					resilient.Alternative[int]{Guard: second, Call: call})
				if err != nil || answer.Value != id {
					return succeeded(answer.Value, id, err)
				}
				if answer.Index != answers {
					return errWrongProvider
				}
			}
			return nil
		}
	}
}

// failsafeFallback has the second provider in a fallback round the first. The function of a fallback is told nothing of
// the call, so each goroutine has an executor of its own, which knows; the circuits are shared.
func failsafeFallback(open bool) func(*service) loop {
	first, second := newFailsafeCircuit(), newFailsafeCircuit()
	if open {
		first.Open()
	}
	retry := func() retrypolicy.RetryPolicy[int] {
		return retrypolicy.NewBuilder[int]().WithMaxAttempts(attempts).AbortOnErrors(circuitbreaker.ErrOpen).Build()
	}
	return func(s *service) loop {
		ctx := context.Background()
		present, fell := 0, false
		other := failsafe.With[int](retry(), second)
		call := func(exec failsafe.Execution[int]) (int, error) { return s.call(exec.Context(), present) }
		executor := failsafe.With[int](timeout.New[int](totalTimeout),
			fallback.NewWithFunc(func(exec failsafe.Execution[int]) (int, error) {
				fell = true
				return other.WithContext(exec.Context()).GetWithExecution(call)
			}), retry(), first)
		return func(n int) error {
			for id := range n {
				present, fell = id, false
				got, err := executor.WithContext(ctx).GetWithExecution(call)
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
				if fell != open {
					return errWrongProvider
				}
			}
			return nil
		}
	}
}

// byHandFallback calls one after the other, within a timeout for both.
func byHandFallback(open bool) func(*service) loop {
	first, second := newGobreaker(), newGobreaker()
	if open {
		first = newOpenGobreaker()
	}
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, fell, err := eitherByHand(ctx, first, second,
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
				if fell != open {
					return errWrongProvider
				}
			}
			return nil
		}
	}
}

func eitherByHand[T any](
	ctx context.Context, first, second *gobreaker.CircuitBreaker[T], fn func(context.Context) (T, error),
) (value T, fell bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, totalTimeout)
	defer cancel()
	value, err = guardByHand(ctx, first, fn)
	if err == nil || ctx.Err() != nil {
		return value, false, err
	}
	value, other := guardByHand(ctx, second, fn)
	if other != nil {
		return value, true, errors.Join(err, other)
	}
	return value, true, nil
}
