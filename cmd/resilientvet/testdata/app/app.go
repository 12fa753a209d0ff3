// Package app has two faults: a write that is retried, as only the comments of another package tell, and a context that is
// dropped.
package app

import (
	"context"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

func get(ctx context.Context, g *resilient.Guard, s plans.Service) (string, error) {
	return resilient.Execute(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) (string, error) {
		return s.Get(context.Background(), "1")
	})
}

func apply(g *resilient.Guard, s plans.Service) func(context.Context, string) error {
	return resilient.WrapErr(g, resilient.Idempotent("apply"), s.Apply)
}
