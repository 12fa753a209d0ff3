package chaos_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestNoFalseTrip: calls of which one in a hundred fails do not open a circuit that opens
// at five failures in a row, however many processes make them.
func TestNoFalseTrip(t *testing.T) {
	servers.Need(t)
	t.Run("with Redis at its best", func(t *testing.T) { noFalseTrip(t, func(*servers.Proxy, <-chan struct{}) {}) })
	t.Run("with 30 ms without Redis each second", func(t *testing.T) { noFalseTrip(t, stall) })
}

// stall holds everything back for 30 ms each second.
func stall(p *servers.Proxy, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(970 * ms):
		}
		p.Hold(servers.All)
		time.Sleep(30 * ms)
		p.Release(servers.All)
	}
}

func noFalseTrip(t *testing.T, meanwhile func(*servers.Proxy, <-chan struct{})) {
	server := servers.Start(t)
	proxy := servers.NewProxy(t, server.Address)
	fleet := make([]*replica.Replica, 5)
	for i := range fleet {
		fleet[i] = replica.Start(t)
		fleet[i].Ask(replica.Request{Open: &replica.Opening{URL: proxy.URL(), Name: "steady", Settings: settings()}})
	}
	for _, r := range fleet {
		r.Report()
	}
	done := make(chan struct{})
	var other, all sync.WaitGroup
	other.Go(func() { meanwhile(proxy, done) })
	worked := make([]replica.Worked, len(fleet))
	for i, r := range fleet {
		r.Ask(replica.Request{Work: &replica.Working{
			Workers: 20, Call: 1 * ms, FailOneIn: 100, For: long(60*time.Second, 5*time.Second),
		}})
		all.Go(func() { worked[i] = r.Report().Work })
	}
	all.Wait()
	close(done)
	other.Wait()

	var sum replica.Worked
	for _, w := range worked {
		sum.Calls += w.Calls
		sum.Failures += w.Failures
		sum.Rejected += w.Rejected
		sum.Waited = max(sum.Waited, w.Waited)
	}
	t.Logf("%d calls, %d failures, %d rejected, the longest wait %v", sum.Calls, sum.Failures, sum.Rejected, sum.Waited.Round(10*time.Microsecond))
	assert.Zero(t, sum.Rejected)
	assert.NotZero(t, sum.Failures)
}
