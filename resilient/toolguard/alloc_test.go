package toolguard_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	for name, test := range map[string]struct {
		options toolguard.Options
		failed  bool // each of them, once
	}{
		"nothing has failed":   {options: watchAll()},
		"all have failed once": {options: watchAll(), failed: true},
		"all are known":        {options: known},
		"idle":                 {},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, test.options)
			for _, name := range names {
				if test.failed {
					require.NoError(t, call(t.Context(), g, name, toolguard.Error))
					require.NoError(t, call(t.Context(), g, name, toolguard.Success))
				}
			}
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
