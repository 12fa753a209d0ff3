package lostfuture

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

// A test looks at what becomes of a call that nobody waits for.
func watch(ctx context.Context, g *resilient.Guard, op resilient.Op) {
	resilient.Async(ctx, g, op, fetch)
}
