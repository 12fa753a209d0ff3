// Package example is what the example of package gen wraps.
package example

import "context"

// Plan is what the service keeps.
type Plan struct{ ID string }

// PlanService keeps plans.
//
//resilient:service plan_service
type PlanService interface {
	//resilient:idempotent
	GetPlan(ctx context.Context, id string) (Plan, error)
	ApplyPlan(ctx context.Context, plan Plan) error
	Watch(ctx context.Context) (<-chan Plan, error)
	Count() int
}
