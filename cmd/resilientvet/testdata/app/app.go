// Package app has faults: a write that is retried, as only the comments of another package tell, and contexts that are
// dropped.
package app

import (
	"context"
	"net/http"

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

func serve(r *http.Request, g *resilient.Guard, s plans.Service) (string, error) {
	return resilient.Execute(r.Context(), g, resilient.Idempotent("get"), func(ctx context.Context) (string, error) {
		return s.Get(r.Context(), "2")
	})
}
