package main

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

// agent uses the services: one below the other, and many at once.
type agent struct {
	lifecycle *resilient.Guard
	plans     *resilient.Guard
	vectors   *vectorStore
}

func newAgent(guards resilient.Guards, vectors *vectorStore) *agent {
	return &agent{
		lifecycle: guards.Guard("plan_lifecycle_service"),
		plans:     guards.Guard("plan_service"),
		vectors:   vectors,
	}
}

// Begin starts work on a goal. Three services are involved, each with a guard that may retry. Only the outermost does:
// the others see in the context that they are inside of a call that retries, make one attempt and pass the failure up.
func (a *agent) Begin(ctx context.Context, goal string) (match, error) {
	return resilient.Execute(ctx, a.lifecycle, resilient.Idempotent("begin"), func(ctx context.Context) (match, error) {
		return resilient.Execute(ctx, a.plans, resilient.Idempotent("draft"), func(ctx context.Context) (match, error) {
			return a.vectors.Search(ctx, goal)
		})
	})
}

// Gather makes many searches at once. What is still running when it returns, because one has failed for good, is
// cancelled.
func (a *agent) Gather(ctx context.Context, queries ...string) ([]match, error) {
	var searches []*resilient.Future[match]
	defer func() {
		for _, search := range searches {
			search.Cancel()
		}
	}()
	for _, query := range queries {
		searches = append(searches, a.vectors.SearchAsync(ctx, query))
	}
	var found []match
	for _, search := range searches {
		m, err := search.Await(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}
