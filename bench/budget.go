package main

import (
	"context"
	"log/slog"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"

	"github.com/seed42274fcc/stoic/resilient"
)

// The budgets never run dry here: what is measured is what it costs to ask them.

func tokens() resilient.BudgetRule { return resilient.DefaultTokenBucket() }

func ratio() resilient.BudgetRule {
	rule := resilient.DefaultCallRatio()
	rule.Ratio, rule.Floor = 1, 1_000_000
	return rule
}

// oursBudgeted is the call of our contestants, with a budget.
func oursBudgeted(rule resilient.BudgetRule) func(*service) loop {
	shared := must(resilient.NewBudget(rule))
	policy := newGuard().Policy()
	policy.Retry.Budget = "shared"
	return executing(must(resilient.NewGuard("plan_service", policy, &resilient.Options{
		Logger:  slog.New(slog.DiscardHandler),
		Budgets: map[string]*resilient.Budget{"shared": shared},
	})))
}

func oursSwitched() func(*service) loop {
	return executing(must(resilient.NewGuard("plan_service", newGuard().Policy(), &resilient.Options{
		Logger: slog.New(slog.DiscardHandler),
		Switch: &resilient.Switch{},
	})))
}

func failsafeBudgeted() func(*service) loop {
	retry := retrypolicy.NewBuilder[int]().
		WithMaxAttempts(attempts).
		AbortOnErrors(circuitbreaker.ErrOpen).
		WithBudget(budget.NewBuilder().WithMaxRate(1).WithMinConcurrency(100).Build()).
		Build()
	executor := failsafe.With[int](timeout.New[int](totalTimeout), retry, newFailsafeCircuit())
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
