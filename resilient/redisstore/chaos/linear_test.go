package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/history"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/replica"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// stage is where a round takes place.
type stage struct {
	t      *testing.T
	crew   *crew
	rand   *rand.Rand
	server *servers.Redis
	proxy  *servers.Proxy
}

func (s *stage) wait(least, most time.Duration) {
	time.Sleep(least + time.Duration(s.rand.Int64N(int64(most-least))))
}

const ms = time.Millisecond

// acts are what happens to those that write, and to their server.
var acts = map[string]func(s *stage){
	"nothing": func(*stage) {},
	"the server stops": func(s *stage) {
		s.wait(5*ms, 20*ms)
		s.server.Pause()
		s.wait(10*ms, 120*ms)
		s.server.Resume()
	},
	"processes stop": func(s *stage) {
		for range 3 {
			s.wait(2*ms, 10*ms)
			r := s.crew.replicas[s.rand.IntN(len(s.crew.replicas))]
			r.Pause()
			s.wait(5*ms, 40*ms)
			r.Resume()
		}
	},
	"processes are killed": func(s *stage) {
		s.wait(8*ms, 25*ms)
		s.crew.replicas[0].Kill()
		s.crew.replicas[1].Kill()
	},
	"the server is flushed": func(s *stage) {
		for range 2 {
			s.wait(5*ms, 25*ms)
			s.crew.note(history.Flush, func() { s.server.Do("FLUSHALL") })
		}
	},
	"the server forgets and starts again": func(s *stage) {
		s.wait(5*ms, 25*ms)
		s.crew.note(history.Flush, func() { s.server.Kill(); s.server.Restart() })
	},
	"the network is cut": func(s *stage) {
		for range 2 {
			s.wait(5*ms, 15*ms)
			s.proxy.Cut()
			s.wait(1*ms, 20*ms)
			s.proxy.Mend()
		}
	},
	"the network loses everything": func(s *stage) {
		s.wait(5*ms, 20*ms)
		s.proxy.Hold(servers.All)
		s.wait(20*ms, 100*ms)
		s.proxy.Release(servers.All)
	},
	"another server takes over": func(s *stage) {
		next := servers.Start(s.t)
		link := servers.NewProxy(s.t, s.server.Address)
		next.Follow(link.Address)
		s.wait(5*ms, 20*ms)
		s.crew.note(history.Fork, func() { s.server.Replicated(); link.Cut() })
		s.wait(5*ms, 20*ms)
		s.crew.note(history.Rewind, func() {
			s.server.Kill()
			next.Promote()
			s.proxy.Lead(next.Address)
		})
		s.server = next
	},
}

// TestWhatRedisDecidesIsLinearizable (A10, A11): whatever happens to servers, processes
// and the network between them, there is one order of all commands on a circuit in which
// each answer is what the protocol wants.
func TestWhatRedisDecidesIsLinearizable(t *testing.T) {
	t.Parallel()
	servers.Need(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &stage{t: t, crew: newCrew(t, 4, 2), rand: rand.New(rand.NewPCG(seed, 0))}
	s.server = servers.Start(t)
	s.proxy = servers.NewProxy(t, s.server.Address)

	var total tally
	rounds := 0
	for range long(8, 1) {
		for name, act := range acts {
			rounds++
			events := s.round(rounds, seed, func() { act(s) })
			total.check(t, fmt.Sprintf("round %d, %s", rounds, name), events)
		}
	}
	t.Logf("%d rounds, %v", rounds, &total)
	assert.LessOrEqual(t, total.unchecked, total.circuits/10, "most of it is to be checked")
	if nightly {
		assert.GreaterOrEqual(t, rounds, 50)
		assert.GreaterOrEqual(t, total.commands, 2000)
	}
}

// round lets all write while something happens, on circuits that are new.
func (s *stage) round(number int, seed uint64, act func()) []history.Event {
	w := replica.Writing{
		Address: s.proxy.Address, Commands: 14, Pause: 5 * ms, Seed: seed + uint64(number), Retries: number%2 == 0,
	}
	for i := range 3 {
		w.Circuits = append(w.Circuits, fmt.Sprintf("round %d, circuit %d", number, i))
	}
	return s.crew.write(w, act)
}
