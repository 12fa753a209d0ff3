// Package clean is what the other one would be without its faults.
package clean

import (
	"context"
	"net/http"

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

func serve(r *http.Request, g *resilient.Guard, s plans.Service) (string, error) {
	return resilient.Execute(r.Context(), g, resilient.Idempotent("get"), func(ctx context.Context) (string, error) {
		own, err := http.NewRequest(http.MethodGet, "http://localhost", nil)
		if err != nil {
			return "", err
		}
		if _, err := s.Get(own.Context(), "3"); err != nil { // of no other call
			return "", err
		}
		return s.Get(ctx, "2")
	})
}
