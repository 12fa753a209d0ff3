// Package plans declares the service.
package plans

import "context"

// Service keeps plans.
//
//resilient:service plan_service
type Service interface {
	//resilient:idempotent
	Get(ctx context.Context, id string) (string, error)
	Apply(ctx context.Context, id string) error
}
