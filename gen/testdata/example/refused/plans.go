// Package refused asks for what cannot be had.
package refused

// PlanService counts plans.
//
//resilient:service plan_service
type PlanService interface {
	//resilient:idempotent
	Count() int
}
