package chaos_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// TestHowSoonOthersKnow: from a trip on one replica to the first rejection on another
// that calls all the time.
func TestHowSoonOthersKnow(t *testing.T) {
	t.Parallel()
	servers.Need(t)
	age := long(time.Second, 200*ms)
	for name, test := range map[string]struct {
		news, deaf bool
		times      int
		bound      time.Duration
	}{
		"by news":                      {news: true, times: long(200, 40), bound: 50 * ms},
		"by looking again":             {times: long(30, 8), bound: age + 50*ms},
		"with news that come no more":  {news: true, deaf: true, times: long(20, 4), bound: 2*age + 2*50*ms},
		"with one's own first failure": {times: long(50, 10), bound: 50 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &spread{t: t, options: redisstore.Options{MaxViewAge: age, Timeout: patient.Timeout}, news: test.news, deaf: test.deaf}
			s.blind = !test.news && test.bound < age
			s.setUp()
			busy := watched(t)
			var all figures
			for i := range test.times {
				all = append(all, s.once(fmt.Sprintf("%s %d", name, i)))
			}
			all.log(t, name)
			assert.LessOrEqual(t, all.at(1), test.bound+busy.allows())
		})
	}
}

// spread is two replicas, of which one trips.
type spread struct {
	t           *testing.T
	options     redisstore.Options
	news, deaf  bool
	blind       bool // neither news nor looking again
	proxy       *servers.Proxy
	tells, asks *member
}

func (s *spread) setUp() {
	server := servers.Start(s.t)
	s.proxy = servers.NewProxy(s.t, server.Address)
	if s.blind {
		s.options.MaxViewAge = time.Minute
	}
	s.tells = join(s.t, server.Address, &s.options, s.news)
	s.asks = join(s.t, s.proxy.Address, &s.options, s.news)
	warm(s.t, s.tells)
	warm(s.t, s.asks)
}

// once trips one circuit on the one replica, and returns how long it takes until the
// first of 20 workers of the other is rejected.
func (s *spread) once(name string) time.Duration {
	if s.deaf { // all is well again
		s.proxy.Release(servers.Subscriptions)
		s.proxy.Reset()
	}
	if s.news {
		s.tells.live(s.t)
		s.asks.live(s.t)
	}
	here, there := s.tells.circuit(s.t, name, settings()), s.asks.circuit(s.t, name, settings())
	try(there, nil)
	if s.news {
		s.asks.live(s.t)
	}
	var down atomic.Bool
	var rejected atomic.Int64 // when, first
	var workers sync.WaitGroup
	for range 20 {
		workers.Go(func() {
			for rejected.Load() == 0 {
				p, refused := there.Acquire(there.Now(), time.Second)
				if refused != nil {
					rejected.CompareAndSwap(0, time.Now().UnixNano())
					return
				}
				time.Sleep(time.Millisecond)
				if down.Load() {
					there.Settle(p, breaker.Failure, errDown)
				} else {
					there.Settle(p, breaker.Success, nil)
				}
			}
		})
	}
	time.Sleep(5 * ms) // of healthy calls
	if s.deaf {
		s.proxy.Hold(servers.Subscriptions)
	}
	trip(s.t, here)
	opened := time.Now()
	if s.blind {
		opened = time.Now()
		down.Store(true)
	}
	if !servers.Within(20*time.Second, func() bool { return rejected.Load() != 0 }) {
		s.t.Error("nobody was rejected")
		rejected.Store(1)
	}
	workers.Wait()
	return max(time.Unix(0, rejected.Load()).Sub(opened), 0)
}
