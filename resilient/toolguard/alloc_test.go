package toolguard_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// A turn over a hundred healthy tools and its filter make two allocations.
func TestAllocationsOfATurn(t *testing.T) {
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("tool_%d", i)
	}
	known := watchAll()
	known.Store = breaker.NewMemoryStore(nil)
	for name, options := range map[string]toolguard.Options{"nothing has failed": watchAll(), "all are known": known, "idle": {}} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, options)
			tools := register(names...)
			ctx := context.Background()
			g.Turn(ctx, names)
			assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
				turn := g.Turn(ctx, names)
				_ = toolguard.Filter(turn, tools, nameOf)
				turn.Close()
			}), 2.0)
		})
	}
}
