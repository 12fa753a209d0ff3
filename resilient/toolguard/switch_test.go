package toolguard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// With circuits switched off nothing is withheld or refused, and nothing counts; what was
// known is known afterwards.
func TestSwitchedOff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		incident := &resilient.Switch{Logger: silent}
		options := watchAll()
		options.Switch, options.Timeout = incident, time.Second
		g := newGuard(t, options)
		open(t, g, "search")
		before := g.Turn(t.Context(), []string{"search", "sum"})
		require.Equal(t, []string{"sum"}, offered(before, "search", "sum"))

		incident.SetRetries(false)
		require.Error(t, call(t.Context(), g, "search", toolguard.Success), "that is another switch")
		early, err := g.Begin(t.Context(), "sum")
		require.NoError(t, err)

		incident.SetCircuits(false)
		turn := g.Turn(t.Context(), []string{"search", "sum"})
		assert.Equal(t, []string{"search", "sum"}, offered(turn, "search", "sum"))
		for _, ctx := range []context.Context{t.Context(), turn.Context(t.Context()), before.Context(t.Context())} {
			permit, err := g.Begin(ctx, "search")
			require.NoError(t, err)
			assert.False(t, permit.Watched())
			assert.False(t, permit.Probe())
			deadline, ok := permit.Context().Deadline()
			assert.True(t, ok, "the tool's time limit holds")
			assert.Equal(t, time.Now().Add(time.Second), deadline)
			assert.False(t, permit.End(toolguard.Success), "it does not count")
			assert.ErrorIs(t, permit.Context().Err(), context.Canceled)
		}
		for range 10 {
			require.NoError(t, call(t.Context(), g, "other", toolguard.Error))
		}
		assert.True(t, early.End(toolguard.Error), "what began before counts")
		late, err := g.Begin(t.Context(), "search")
		require.NoError(t, err)
		turn.Close()
		before.Close()

		incident.SetCircuits(true)
		assert.False(t, late.End(toolguard.Success), "what began meanwhile does not")
		turn = g.Turn(t.Context(), []string{"search", "sum", "other"})
		assert.Equal(t, []string{"sum", "other"}, offered(turn, "search", "sum", "other"))
		turn.Close()
		require.NoError(t, call(t.Context(), g, "sum", toolguard.Error))
		require.NoError(t, call(t.Context(), g, "sum", toolguard.Error))
		require.Error(t, call(t.Context(), g, "sum", toolguard.Error), "three, the early one among them")
	})
}

// Nor is a session held to its failures, or a store asked.
func TestSwitchedOffForSessionsAndFleets(t *testing.T) {
	bubble(t, func(t *testing.T) {
		incident := &resilient.Switch{Logger: silent}
		options := watchAll()
		options.Switch, options.Store, options.MaxFailuresPerSession = incident, breaker.NewMemoryStore(nil), 1
		options.Session = func(context.Context) string { return "s" }
		g := newGuard(t, options)
		require.NoError(t, call(t.Context(), g, "search", toolguard.Error))
		require.Error(t, call(t.Context(), g, "sum", toolguard.Success))
		incident.SetCircuits(false)
		turn := g.Turn(t.Context(), []string{"search", "sum"})
		assert.Equal(t, []string{"search", "sum"}, offered(turn, "search", "sum"))
		require.NoError(t, call(turn.Context(t.Context()), g, "sum", toolguard.Error))
		turn.Close()
		incident.SetCircuits(true)
		require.Error(t, call(t.Context(), g, "sum", toolguard.Success))
	})
}
