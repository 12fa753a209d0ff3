package capturedwrite

import (
	"context"

	"github.com/seed42274fcc/stoic/resilient"
)

// A test looks at the attempts from inside.
func watch(ctx context.Context, g *resilient.Guard) {
	var seen []context.Context
	_ = resilient.Do(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) error {
		seen = append(seen, ctx)
		return nil
	})
}
