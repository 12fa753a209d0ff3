package chaos_test

import (
	"math/rand/v2"
	"runtime"
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

// load is calls through a few circuits of the same name, all the time.
type load struct {
	members  []*member
	circuits []*breaker.Circuit
	down     []atomic.Bool // the dependency, as each of them sees it
	stop     chan struct{}
	workers  sync.WaitGroup

	begun, ended, rejected atomic.Int64
	lost                   atomic.Int64 // how many of them have said that Redis is gone
	machine                machine

	mu    sync.Mutex
	waits []wait
}

// wait is what one call took besides its work.
type wait struct {
	at time.Time
	d  time.Duration
}

func newLoad(t testing.TB, address string, s breaker.Settings) *load {
	t.Helper()
	l := &load{stop: make(chan struct{}), down: make([]atomic.Bool, 3)}
	for range l.down {
		m := join(t, address, &redisstore.Options{OnEvent: l.hear}, true)
		m.live(t)
		l.members = append(l.members, m)
		l.circuits = append(l.circuits, m.circuit(t, "loaded", s))
		m.live(t)
	}
	return l
}

func (l *load) hear(e redisstore.Event) {
	if e.Kind == redisstore.Lost {
		l.lost.Add(1)
	}
}

// start starts the workers: 1 ms calls, of which one in failing fails.
func (l *load) start(workers, failing int) {
	l.workers.Go(func() { l.machine.watch(l.stop) })
	for i, c := range l.circuits {
		for range workers {
			l.workers.Go(func() {
				for {
					select {
					case <-l.stop:
						return
					default:
						l.call(c, &l.down[i], failing)
					}
				}
			})
		}
	}
}

func (l *load) call(c *breaker.Circuit, down *atomic.Bool, failing int) {
	begun := time.Now()
	l.begun.Add(1)
	defer l.ended.Add(1)
	p, refused := c.Acquire(c.Now(), time.Second)
	asked := time.Since(begun)
	time.Sleep(time.Millisecond)
	if refused != nil {
		l.rejected.Add(1)
		return
	}
	settling := time.Now()
	if down.Load() || rand.IntN(failing) == 0 {
		c.Settle(p, breaker.Failure, errDown)
	} else {
		c.Settle(p, breaker.Success, nil)
	}
	l.mu.Lock()
	l.waits = append(l.waits, wait{begun, asked + time.Since(settling)})
	l.mu.Unlock()
}

// breaks has the dependency fail for all of them, or for none.
func (l *load) breaks(down bool) {
	for i := range l.down {
		l.down[i].Store(down)
	}
}

// end lets the workers finish, and fails the test if one does not.
func (l *load) end(t testing.TB) {
	t.Helper()
	close(l.stop)
	done := make(chan struct{})
	go func() { l.workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("a call does not return")
	}
	assert.Equal(t, l.begun.Load(), l.ended.Load())
}

// between are the waits of the calls that began then.
func (l *load) between(from, to time.Time) figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all figures
	for _, w := range l.waits {
		if !w.at.Before(from) && w.at.Before(to) {
			all = append(all, w.d)
		}
	}
	return all
}

// sent is how many scripts the calls have sent since it was last called.
func (l *load) sent() int {
	n := 0
	for _, m := range l.members {
		n += m.sent.reset()
	}
	return n
}

// agree waits until all circuits share their state, and that is one.
func (l *load) agree(limit time.Duration) bool {
	return servers.Within(limit, func() bool {
		first := l.circuits[0].Snapshot()
		for _, c := range l.circuits {
			if snap := c.Snapshot(); snap.Sharing != breaker.Shared || snap.Round != first.Round || snap.State != first.State {
				return false
			}
		}
		return true
	})
}

// TestRedisIsGoneAndComesBack (P109, A42): nobody notices but the operator.
func TestRedisIsGoneAndComesBack(t *testing.T) {
	servers.Need(t)
	for name, gone := range map[string]struct{ away, back func(*servers.Redis) }{
		"it hangs": {(*servers.Redis).Pause, (*servers.Redis).Resume},
		"it dies":  {(*servers.Redis).Kill, (*servers.Redis).Restart},
	} {
		t.Run(name, func(t *testing.T) {
			server := servers.Start(t)
			l := newLoad(t, server.Address, settings())
			l.start(10, 50)
			time.Sleep(300 * ms)
			before := time.Now()
			l.machine.allows() // from now on
			gone.away(server)
			stopped := time.Now()
			require.True(t, servers.Within(10*time.Second, func() bool { return l.lost.Load() == 3 }), "the first few calls find out")
			time.Sleep(100 * ms) // and those that were under way with them
			noticed := time.Now()
			busy := l.machine.allows()
			l.sent()
			time.Sleep(long(10*time.Second, time.Second))
			assert.Zero(t, l.sent(), "no call asks a Redis that is known to be gone")
			gone.back(server)
			back := time.Now()
			ok := l.agree(2 * time.Second)
			t.Logf("one view after %v", time.Since(back).Round(time.Millisecond))
			assert.True(t, ok, "Redis is back, so there is one view")
			assert.Zero(t, l.rejected.Load(), "no call fails because Redis is gone")
			l.down[0].Store(true)
			assert.True(t, servers.Within(2*time.Second, func() bool { return l.circuits[0].State() == breaker.Open }))
			assert.True(t, servers.Within(2*time.Second-time.Since(back), func() bool {
				return l.circuits[1].State() == breaker.Open && l.circuits[2].State() == breaker.Open
			}), "what one learns, all know again")
			t.Logf("what one has learnt, all know after %v", time.Since(back).Round(time.Millisecond))
			l.end(t)

			l.between(time.Time{}, before).log(t, "calls waited with Redis")
			first := l.between(stopped, noticed)
			first.log(t, "while it was being found out")
			later := l.between(noticed, back)
			later.log(t, "without Redis")
			t.Logf("it was found out after %v", noticed.Sub(stopped).Round(time.Millisecond))
			assert.LessOrEqual(t, first.at(1), 50*ms+busy, "no call waits longer than the store's timeout")
			assert.LessOrEqual(t, later.at(0.99), 20*ms)
		})
	}
}

// TestRedisDiesAgainAndAgain: under load, with a dependency that comes and goes.
func TestRedisDiesAgainAndAgain(t *testing.T) {
	server := servers.Start(t)
	before := runtime.NumGoroutine()
	s := settings()
	s.RecoveryTimeout, s.Cooldown = 100*ms, 50*ms
	l := newLoad(t, server.Address, s)
	l.start(10, 100)
	for i := range long(20, 3) {
		l.breaks(i%2 == 1)
		time.Sleep(time.Duration(50+rand.IntN(200)) * ms)
		server.Kill()
		time.Sleep(time.Duration(50+rand.IntN(300)) * ms)
		l.breaks(i%3 == 1)
		server.Restart()
	}
	l.breaks(false)
	back := time.Now()
	assert.True(t, servers.Within(5*time.Second, func() bool {
		for _, c := range l.circuits {
			if c.State() != breaker.Closed || c.Snapshot().Sharing != breaker.Shared {
				return false
			}
		}
		return true
	}), "a circuit is stuck")
	t.Logf("all closed and shared after %v", time.Since(back).Round(time.Millisecond))
	l.end(t)
	t.Logf("%d calls, %d of them rejected", l.begun.Load(), l.rejected.Load())
	for _, m := range l.members {
		m.leave()
	}
	require.True(t, servers.Within(5*time.Second, func() bool { return runtime.NumGoroutine() <= before }),
		"%d goroutines, and there were %d", runtime.NumGoroutine(), before)
}
