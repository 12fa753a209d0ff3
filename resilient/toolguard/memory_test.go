package toolguard_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// A113: a tool that does not exist leaves no state, neither in a turn, whatever comes of
// its calls, nor without one until a watched tool has had an Error.
func TestUnknownToolsLeaveNoState(t *testing.T) {
	for name, store := range map[string]*spyStore{"no store": nil, "store": newSpy(nil)} {
		t.Run(name, func(t *testing.T) {
			options := watchAll()
			if store != nil {
				options.Store = store
			}
			g := newGuard(t, options)
			turn := g.Turn(t.Context(), []string{"calc"})
			known := len(g.Tools())
			for i := range 754 {
				permit, err := turn.Begin(t.Context(), fmt.Sprint("invented_", i%3))
				require.NoError(t, err)
				assert.False(t, permit.Watched())
				assert.False(t, permit.End(toolguard.Error))
				require.NoError(t, call(t.Context(), g, fmt.Sprint("invented_", i), toolguard.Ignored))
			}
			assert.Len(t, g.Tools(), known)
			named := newGuard(t, toolguard.Options{Monitor: []string{"calc"}, Store: options.Store})
			for range 10 {
				require.NoError(t, call(t.Context(), named, "invented", toolguard.Error))
			}
			assert.Empty(t, named.Tools())
		})
	}
}

// What is kept is bounded; what goes is what was not used for longest, and its circuit is
// closed.
func TestMemoryIsBounded(t *testing.T) {
	type tenant struct{}
	bubble(t, func(t *testing.T) {
		store := newSpy(nil)
		options := watchAll()
		options.Store, options.MaxCircuits = store, 100
		options.Key = func(ctx context.Context) string { return ctx.Value(tenant{}).(string) }
		g := newGuard(t, options)
		first := context.WithValue(t.Context(), tenant{}, "first")
		for i := range 1000 {
			g.Turn(context.WithValue(t.Context(), tenant{}, fmt.Sprint(i)), []string{"a", "b"})
			g.Turn(first, []string{"a", "b"})
			assert.LessOrEqual(t, len(g.Tools()), 100)
			assert.Len(t, g.Tools(), int(store.watched.Load()))
			time.Sleep(time.Millisecond)
		}
		assert.NotNil(t, g.Circuit("first", "a"), "used all the time")
		assert.NotNil(t, g.Circuit("999", "a"))
		assert.Nil(t, g.Circuit("0", "a"))
	})
}

// What is open stays until its time is over, but not without a bound.
func TestOpenCircuitsStay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := watchAll()
		options.MaxCircuits = 16
		g := newGuard(t, options)
		breakIt := func(name string) {
			for range 3 {
				_ = call(t.Context(), g, name, toolguard.Error)
			}
			time.Sleep(time.Millisecond)
		}
		breakIt("first")
		for i := range 100 {
			require.NoError(t, call(t.Context(), g, fmt.Sprint("healthy_", i), toolguard.Error))
			time.Sleep(time.Millisecond)
		}
		assert.LessOrEqual(t, len(g.Tools()), 16)
		require.NotNil(t, g.Circuit("", "first"))
		assert.Equal(t, breaker.Open, g.Circuit("", "first").State())
		for i := range 100 {
			breakIt(fmt.Sprint("broken_", i))
			assert.LessOrEqual(t, len(g.Tools()), 2*16+2, "while it is swept an eighth later")
		}
		assert.Nil(t, g.Circuit("", "first"), "over the hard bound")
		time.Sleep(time.Hour)
		for i := range 20 {
			require.NoError(t, call(t.Context(), g, fmt.Sprint("later_", i), toolguard.Error))
		}
		assert.LessOrEqual(t, len(g.Tools()), 16, "their time is over")
	})
}
