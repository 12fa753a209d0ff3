package chaos_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// TestCommandsOfTurns counts what turns and calls of tools cost, as toolguard's
// documentation has it.
func TestCommandsOfTurns(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	const age = 100 * ms
	names := make([]string, 100)
	for i := range names {
		names[i] = fmt.Sprintf("tool_%d", i)
	}
	// turn makes one, and returns how many tools the model is offered.
	turn := func(g *toolguard.Guard) (*toolguard.Turn, int) {
		turn := g.Turn(context.Background(), names)
		return turn, len(toolguard.Filter(turn, names, func(name string) string { return name }))
	}
	call := func(g *toolguard.Guard, name string, o toolguard.Outcome) {
		permit, err := g.Begin(context.Background(), name)
		require.NoError(t, err)
		permit.End(o)
	}

	t.Run("all healthy", func(t *testing.T) {
		m := join(t, server.Address, &redisstore.Options{MaxViewAge: 5 * age, Timeout: patient.Timeout, Namespace: "healthy"}, true)
		g := m.guard(t, toolguard.Options{})
		m.live(t)
		assert.LessOrEqual(t, m.sent.during(func() { turn(g) }), 1, "the first one, which knows of none of them")
		assert.Len(t, g.Tools(), len(names))
		var deaf atomic.Bool
		m.store.Watch("live", func(n breaker.News) {
			if !n.Live {
				deaf.Store(true)
			}
		})
		for range 10 {
			m.live(t)
			m.live(t) // what was watched before has been read now
			deaf.Store(false)
			begun, turns := time.Now(), 0
			sent := m.sent.during(func() {
				for ; turns < 10_000 || time.Since(begun) < 10*age; turns++ {
					turn, n := turn(g)
					require.Equal(t, len(names), n)
					call(g, names[turns%len(names)], toolguard.Success)
					turn.Close()
				}
			})
			t.Logf("%d turns in %v: %d commands", turns, time.Since(begun).Round(ms), sent)
			if sent == 0 {
				return
			}
			require.True(t, servers.Within(time.Second, deaf.Load), "turns have asked although there were news")
		}
		t.Error("this machine is too busy for news to arrive")
	})
	t.Run("at most one round trip", func(t *testing.T) {
		m := join(t, server.Address, &redisstore.Options{MaxViewAge: age, Timeout: patient.Timeout, Namespace: "asking"}, false)
		warm(t, m)
		g := m.guard(t, toolguard.Options{Limits: toolguard.Limits{RecoveryTimeout: age, FailureThreshold: 1}})
		assert.Equal(t, 1, m.sent.during(func() { turn(g) }), "none of them is known")
		asked := 0
		for begun := time.Now(); time.Since(begun) < 5*age; {
			trips := m.sent.during(func() { turn(g) })
			require.LessOrEqual(t, trips, 1)
			asked += trips
		}
		assert.Positive(t, asked, "what is known has become too old")

		for _, name := range names {
			call(g, name, toolguard.Error)
		}
		require.True(t, servers.Within(10*time.Second, func() bool {
			return time.Now().After(g.Circuit("", names[len(names)-1]).Snapshot().Until)
		}))
		var probing *toolguard.Turn
		offers := 0
		assert.Equal(t, 1, m.sent.during(func() { probing, offers = turn(g) }))
		assert.Equal(t, len(names), offers, "each of them is due")
		assert.Equal(t, 1, m.sent.during(probing.Close), "and given back")
		assert.Equal(t, 1, m.sent.during(func() { probing, offers = turn(g) }))
		assert.Equal(t, len(names), offers, "each of them is due")
		for _, name := range names {
			permit, err := probing.Begin(context.Background(), name)
			require.NoError(t, err)
			require.True(t, permit.Probe())
			permit.End(toolguard.Success)
		}
		probing.Close()
		for _, one := range g.Tools() {
			require.Equal(t, breaker.Closed, one.State)
		}
	})
}
