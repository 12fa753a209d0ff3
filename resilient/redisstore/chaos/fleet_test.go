package chaos_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// patient is for tests in which Redis always answers: a machine that is busy with other
// things is not to be taken for a Redis that is gone.
var patient = &redisstore.Options{Timeout: 2 * time.Second}

var errDown = errors.New("down")

// member is one replica in this process: a store of its own, and what it sends.
type member struct {
	store *redisstore.Store
	sent  *counter
	leave func() // ends Run and the client, and waits until nothing is left of them
}

// counter counts the scripts that calls send one by one, and the round trips that they
// make. What Run sends is not counted, nor what the client itself says on a new connection.
type counter struct{ scripts, trips atomic.Int64 }

// byRun is in the context of all that Run does.
type byRun struct{}

func (c *counter) trip(ctx context.Context, first redis.Cmder) {
	if ctx.Value(byRun{}) == nil && first.Name() != "hello" && first.Name() != "client" {
		c.trips.Add(1)
	}
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.trip(ctx, cmds[0])
		return next(ctx, cmds)
	}
}

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") {
			c.scripts.Add(1)
		}
		c.trip(ctx, cmd)
		return next(ctx, cmd)
	}
}

// reset returns how many scripts there were since it was last called.
func (c *counter) reset() int { return int(c.scripts.Swap(0)) }

// during returns how many round trips there are while f does something.
func (c *counter) during(f func()) int {
	before := c.trips.Load()
	f()
	return int(c.trips.Load() - before)
}

// join makes a replica. With news, Run runs.
func join(t testing.TB, address string, options *redisstore.Options, news bool) *member {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: address, ContextTimeoutEnabled: true, DialTimeout: time.Second})
	m := &member{sent: &counter{}}
	client.AddHook(m.sent)
	store, err := redisstore.New(client, options)
	require.NoError(t, err)
	m.store = store
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), byRun{}, true))
	var running sync.WaitGroup
	if news {
		running.Go(func() { _ = store.Run(ctx) })
	}
	m.leave = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		_ = client.Close()
	})
	t.Cleanup(m.leave)
	return m
}

// circuit makes one that the member shares.
func (m *member) circuit(t testing.TB, name string, s breaker.Settings) *breaker.Circuit {
	t.Helper()
	c, err := breaker.New(name, s, &breaker.Options{Store: m.store})
	require.NoError(t, err)
	return c
}

// guard makes one of all tools, which the member shares.
func (m *member) guard(t testing.TB, options toolguard.Options) *toolguard.Guard {
	t.Helper()
	options.MonitorAll, options.Store = true, m.store
	g, err := toolguard.New(&options)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

// live waits until news arrive.
func (m *member) live(t testing.TB) {
	t.Helper()
	heard := make(chan struct{})
	var once sync.Once
	m.store.Watch("live", func(n breaker.News) {
		if n.Live {
			once.Do(func() { close(heard) })
		}
	})
	select {
	case <-heard:
	case <-time.After(10 * time.Second):
		t.Fatal("no news arrive")
	}
}

// try makes one call that takes no time, and reports whether it was admitted.
func try(c *breaker.Circuit, err error) bool {
	p, rejected := c.Acquire(c.Now(), time.Second)
	if rejected != nil {
		return false
	}
	c.Settle(p, breaker.OutcomeOf(err), err)
	return true
}

// trip fails until the circuit is open. Others who succeed may make that take a while.
func trip(t testing.TB, c *breaker.Circuit) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); c.State() != breaker.Open; try(c, errDown) {
		if time.Now().After(end) {
			t.Fatal("the circuit does not open")
		}
	}
}

// settings are those of the tests here: five failures open for a minute.
func settings() breaker.Settings { return breaker.DefaultSettings() }

// figures are what is printed of a distribution.
type figures []time.Duration

func (f figures) at(part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(f))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)].Round(10 * time.Microsecond)
}

func (f figures) log(t testing.TB, what string) {
	t.Helper()
	if len(f) > 0 {
		t.Logf("%s: p50 %v, p99 %v, max %v (%d)", what, f.at(0.5), f.at(0.99), f.at(1), len(f))
	}
}

// machine is how busy this one is: how long it keeps a goroutine waiting that wants to
// run. What a bound promises is promised where there is a processor to keep it.
type machine struct{ late atomic.Int64 }

// watch looks until stop is closed.
func (m *machine) watch(stop <-chan struct{}) {
	for {
		begun := time.Now()
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		if late := int64(time.Since(begun)); late > m.late.Load() {
			m.late.Store(late)
		}
	}
}

// allows is what it may add to a bound: a few times what it has kept others waiting since
// this was last asked, for a call, Redis and what lies between are kept waiting in turn.
func (m *machine) allows() time.Duration { return 20*ms + 4*time.Duration(m.late.Swap(0)) }

// watched watches the machine until the test ends.
func watched(t testing.TB) *machine {
	m, stop := &machine{}, make(chan struct{})
	go m.watch(stop)
	t.Cleanup(func() { close(stop) })
	return m
}
