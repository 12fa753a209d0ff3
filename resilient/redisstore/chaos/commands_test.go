package chaos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestCommandsOfCalls (P105) counts what calls cost, as the documentation has it.
func TestCommandsOfCalls(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	m := join(t, server.Address, patient, true)
	m.live(t)
	warm(t, m)

	t.Run("a healthy call", func(t *testing.T) {
		c := m.circuit(t, "healthy", settings())
		require.True(t, try(c, nil))
		assert.LessOrEqual(t, m.sent.reset(), 1, "one first read at most")
		m.live(t)
		for range 10_000 {
			require.True(t, try(c, nil))
		}
		assert.Zero(t, m.sent.reset())
	})
	t.Run("a failure, and the success after it", func(t *testing.T) {
		c := m.circuit(t, "failing", settings())
		require.True(t, try(c, nil))
		m.sent.reset()
		for range 100 {
			require.True(t, try(c, errDown))
			assert.Equal(t, 1, m.sent.reset(), "a counted failure")
			require.True(t, try(c, nil))
			assert.LessOrEqual(t, m.sent.reset(), 1, "a success while failures are on the books")
			require.True(t, try(c, nil))
			assert.Zero(t, m.sent.reset(), "the next success")
		}
	})
	t.Run("a rejection", func(t *testing.T) {
		c := m.circuit(t, "rejecting", settings())
		trip(t, c)
		m.sent.reset()
		for range 10_000 {
			require.False(t, try(c, nil))
		}
		assert.Zero(t, m.sent.reset())
	})
	t.Run("a probe", func(t *testing.T) {
		s := settings()
		s.RecoveryTimeout, s.Cooldown = 20*ms, 20*ms
		c := m.circuit(t, "probing", s)
		for range 10 {
			trip(t, c)
			require.True(t, servers.Within(5*time.Second, func() bool { return c.Snapshot().ProbeDue }))
			m.sent.reset()
			require.True(t, try(c, nil))
			assert.Equal(t, breaker.Closed, c.State())
			assert.Equal(t, 2, m.sent.reset())
		}
	})
}

// warm sends each script once, since the server does not know them yet.
func warm(t *testing.T, m *member) {
	t.Helper()
	s := settings()
	s.RecoveryTimeout, s.Cooldown = 1*ms, 0
	c := m.circuit(t, "warm", s)
	trip(t, c)
	require.True(t, servers.Within(5*time.Second, func() bool { return try(c, nil) }))
	m.sent.reset()
}

// TestCommandsWithoutNews: at most one read for each MaxViewAge, circuit and replica.
func TestCommandsWithoutNews(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	const age = 100 * ms
	for range 3 {
		m := join(t, server.Address, &redisstore.Options{MaxViewAge: age, Timeout: patient.Timeout}, false)
		warm(t, m)
		c := m.circuit(t, "quiet", settings())
		begun := time.Now()
		for time.Since(begun) < 6*age {
			require.True(t, try(c, nil))
		}
		most := int(time.Since(begun)/age) + 1
		assert.LessOrEqual(t, m.sent.reset(), most)
	}
}
