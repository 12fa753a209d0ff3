// Package clean is what the other one would be without its faults.
package clean

import (
	"context"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

func get(ctx context.Context, g *resilient.Guard, s plans.Service) (string, error) {
	return resilient.Execute(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) (string, error) {
		return s.Get(ctx, "1")
	})
}

func apply(g *resilient.Guard, s plans.Service) func(context.Context, string) error {
	return resilient.WrapErr(g, resilient.NonIdempotent("apply"), s.Apply)
}
