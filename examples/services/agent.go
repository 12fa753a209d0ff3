package main

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

// planLifecycle begins work on goals.
//
//resilient:service plan_lifecycle_service
type planLifecycle interface {
	// Begin begins work on a goal, with a plan for it.
	//
	//resilient:idempotent
	Begin(ctx context.Context, goal string) (match, error)
}

// planner drafts plans. It belongs to the plan service, whose guard and circuit it shares by the name.
//
//resilient:service plan_service
type planner interface {
	// Draft finds where to start from.
	//
	//resilient:idempotent
	Draft(ctx context.Context, goal string) (match, error)
}

// newPlanLifecycle puts three services one below the other, each with a guard that may retry. Only the outermost does:
// the others see in the context that they are inside of a call that retries, make one attempt and pass the failure up.
func newPlanLifecycle(guards resilient.Guards, vectors vectorStore) planLifecycle {
	plans := newResilientPlanner(drafts{vectors}, guards)
	return newResilientPlanLifecycle(beginnings{plans}, guards)
}

type beginnings struct{ plans planner }

func (b beginnings) Begin(ctx context.Context, goal string) (match, error) {
	return b.plans.Draft(ctx, goal)
}

type drafts struct{ vectors vectorStore }

func (d drafts) Draft(ctx context.Context, goal string) (match, error) {
	return d.vectors.Search(ctx, goal)
}
