package chaos_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestOneProbeOfEachWithoutRedis (A42, P109): Redis dies while a circuit is half-open. Each
// process goes on with what it knows, its limits with it, and says once that it does.
func TestOneProbeOfEachWithoutRedis(t *testing.T) {
	t.Parallel()
	server := servers.Start(t)
	s := settings()
	s.RecoveryTimeout, s.Cooldown = 100*ms, 100*ms
	var fleet []*lone
	for range 3 {
		l := &lone{}
		m := join(t, server.Address, &redisstore.Options{OnEvent: l.hear}, true)
		m.live(t)
		l.circuit = m.circuit(t, "lone", s)
		m.live(t)
		fleet = append(fleet, l)
	}
	trip(t, fleet[0].circuit)
	var probe breaker.Permit
	require.True(t, servers.Within(5*time.Second, func() bool {
		p, refused := fleet[0].circuit.Acquire(fleet[0].circuit.Now(), ms)
		probe = p
		return refused == nil
	}))
	require.True(t, probe.Probe())
	server.Kill()
	fleet[0].circuit.Settle(probe, breaker.Failure, errDown)

	// The others know that a probe is out, and wait until its lease has lapsed: a second.
	length := long(10*time.Second, 2500*ms)
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for _, l := range fleet {
		for range 20 {
			all.Go(func() { l.callUntil(end) })
		}
	}
	all.Wait()
	for i, l := range fleet {
		t.Logf("replica %d: %d probes, at most %d at a time", i, l.probes.Load(), l.most.Load())
		assert.EqualValues(t, 1, l.most.Load(), "one probe at a time, as the settings want it")
		assert.LessOrEqual(t, l.probes.Load(), int64(length/s.Cooldown)+1, "and one for each cooldown")
		assert.EqualValues(t, 1, l.lost.Load(), "it is said once")
	}
	server.Restart()
	assert.True(t, servers.Within(5*time.Second, func() bool {
		for _, l := range fleet {
			if l.back.Load() != 1 || l.circuit.Snapshot().Sharing != breaker.Shared {
				return false
			}
		}
		return true
	}), "and that it is over, too")
}

// lone is a replica that is on its own.
type lone struct {
	circuit               *breaker.Circuit
	lost, back            atomic.Int64 // events
	running, most, probes atomic.Int64
}

func (l *lone) hear(e redisstore.Event) {
	switch e.Kind {
	case redisstore.Lost:
		l.lost.Add(1)
	case redisstore.Back:
		l.back.Add(1)
	default:
	}
}

// callUntil calls a dependency that is down.
func (l *lone) callUntil(end time.Time) {
	for time.Now().Before(end) {
		p, refused := l.circuit.Acquire(l.circuit.Now(), time.Second)
		if refused != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		l.probes.Add(1)
		if n := l.running.Add(1); n > l.most.Load() {
			l.most.Store(n)
		}
		time.Sleep(5 * ms)
		l.running.Add(-1)
		l.circuit.Settle(p, breaker.Failure, errDown)
	}
}
