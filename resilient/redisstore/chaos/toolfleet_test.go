package chaos_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// TestOneTurnOfTheFleetIsOfferedTheTool (R29, R30, A110): two processes with 32 agents
// each, at the instant when a tool's cooldown ends by Redis's clock. One of all those
// turns is offered it. What that one does not use, one of the next turns has. A probe
// that fails opens the circuit once more, and once.
func TestOneTurnOfTheFleetIsOfferedTheTool(t *testing.T) {
	t.Parallel()
	f := newToolFleet(t, 2)
	now := f.members[0].ask(replica.Request{Use: &replica.Using{Calls: 3}})
	require.EqualValues(t, 3, now.Ran)
	require.Equal(t, breaker.Open, now.State)
	require.Equal(t, 1, now.Generation)

	const agents = 32
	begun, turns := time.Now(), int64(0)
	var late figures
	for i := range long(200, 10) {
		f.agree(now)

		// Somewhat early, again and again: so some are there in the very moment.
		edge := time.Unix(0, now.Until)
		late = append(late, max(time.Since(edge), 0))
		lucky, n := f.turn(replica.Turning{Agents: agents, At: edge.Add(-3 * ms).UnixNano(), For: 30 * ms})
		require.NotNil(t, lucky, "in repetition %d", i)
		turns += n
		idle := lucky.ask(replica.Request{Use: &replica.Using{}})
		require.Equal(t, breaker.HalfOpen, idle.State, "a turn without a call says nothing of the tool")

		// Once each, all at once, when it is due for sure.
		lucky, n = f.turn(replica.Turning{Agents: agents})
		require.NotNil(t, lucky, "in repetition %d, after a turn that did not use it", i)
		require.EqualValues(t, 2*agents, n)
		turns += n

		failed := lucky.ask(replica.Request{Use: &replica.Using{Calls: 3}})
		require.EqualValues(t, 1, failed.Ran, "the probe, and no other call of that turn")
		require.Equal(t, breaker.Open, failed.State)
		require.Equal(t, now.Generation+1, failed.Generation)
		now = failed
	}
	late.log(t, "the replicas agreed after the end of the cooldown by")
	t.Logf("%d turns in %v", turns, time.Since(begun).Round(ms))
}

// toolFleet is processes that share a guard of tools.
type toolFleet struct {
	t       *testing.T
	members []*toolMember
}

type toolMember struct{ *replica.Replica }

func (m *toolMember) ask(q replica.Request) replica.Toolbox {
	m.Ask(q)
	return m.Report().Tools
}

func newToolFleet(t *testing.T, members int) *toolFleet {
	t.Helper()
	server := servers.Start(t)
	f := &toolFleet{t: t}
	for range members {
		m := &toolMember{replica.Start(t)}
		m.ask(replica.Request{Guard: &replica.Guarding{
			URL:    server.URL(),
			Limits: toolguard.Limits{RecoveryTimeout: 100 * ms, RecoveryMultiplier: 1},
			// A Redis that does not answer in time leaves each to itself, with a probe of its own.
			Timeout: patient.Timeout,
		}})
		require.Equal(t, breaker.Closed, m.ask(replica.Request{Use: &replica.Using{}}).State)
		f.members = append(f.members, m)
	}
	return f
}

// agree waits until all of them know what one does.
func (f *toolFleet) agree(with replica.Toolbox) {
	f.t.Helper()
	for i, m := range f.members {
		var seen replica.Toolbox
		require.True(f.t, servers.Within(10*time.Second, func() bool {
			seen = m.ask(replica.Request{Turn: &replica.Turning{}})
			return seen.Round >= with.Round
		}), "replica %d does not learn of the failed probe", i)
		require.Equal(f.t, breaker.Shared, seen.Sharing)
		require.Equal(f.t, breaker.Open, seen.State)
		require.Equal(f.t, with.Round, seen.Round)
		require.Equal(f.t, with.Generation, seen.Generation)
	}
}

// turn has all of them make turns at once, and returns the one that was offered the tool,
// and how many turns there were. The test fails if two were.
func (f *toolFleet) turn(w replica.Turning) (lucky *toolMember, turns int64) {
	f.t.Helper()
	for _, m := range f.members {
		m.Ask(replica.Request{Turn: &w})
	}
	offered := int64(0)
	for _, m := range f.members {
		seen := m.Report().Tools
		require.Zero(f.t, seen.Ran, "a call of a tool that was withheld")
		require.Equal(f.t, breaker.Shared, seen.Sharing)
		turns += seen.Turns
		if offered += seen.Offered; seen.Offered > 0 {
			lucky = m
		}
	}
	require.LessOrEqual(f.t, offered, int64(1))
	return lucky, turns
}
