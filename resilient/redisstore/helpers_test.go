package redisstore_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// small is a policy with which little is needed to open and to close a circuit.
func small() breaker.Settings {
	s := breaker.DefaultSettings()
	s.FailureThreshold, s.RecoveryTimeout, s.Cooldown = 2, time.Minute, 0
	return s
}

var lastID atomic.Uint64

func read() breaker.Command { return breaker.Command{Kind: breaker.Read, Settings: small()} }

func acquire() breaker.Command {
	return breaker.Command{Kind: breaker.Acquire, ID: lastID.Add(1), Settings: small(), Lease: time.Minute}
}

func settle(round, token uint64, outcome breaker.Outcome) breaker.Command {
	c := breaker.Command{Kind: breaker.Settle, ID: token, Settings: small(), Round: round, Token: token, Outcome: outcome, Cause: "down"}
	if token == 0 {
		c.ID = lastID.Add(1)
	}
	return c
}

func operate(order breaker.Order) breaker.Command {
	order.Author, order.Reason = "kim", "drill"
	return breaker.Command{Kind: breaker.Operate, ID: lastID.Add(1), Settings: small(), Order: order}
}

func do(t testing.TB, store *redisstore.Store, circuit string, c breaker.Command) breaker.Answer {
	t.Helper()
	answer, err := store.Do(context.Background(), circuit, c)
	require.NoError(t, err)
	return answer
}

// trip opens a circuit that is closed.
func trip(t testing.TB, store *redisstore.Store, circuit string) breaker.Answer {
	t.Helper()
	round := do(t, store, circuit, read()).Record.Round
	do(t, store, circuit, settle(round, 0, breaker.Failure))
	answer := do(t, store, circuit, settle(round, 0, breaker.Failure))
	require.Equal(t, breaker.Open, answer.Record.Beneath)
	return answer
}

// diary notes events.
type diary struct {
	mu     sync.Mutex
	events []redisstore.Event
}

func (d *diary) note(e redisstore.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
}

func (d *diary) kinds() []redisstore.EventKind {
	d.mu.Lock()
	defer d.mu.Unlock()
	kinds := []redisstore.EventKind{}
	for _, e := range d.events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// ear notes news of one circuit.
type ear struct {
	mu   sync.Mutex
	news []breaker.News
}

func (e *ear) hear(n breaker.News) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.news = append(e.news, n)
}

func (e *ear) last() breaker.News {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.news) == 0 {
		return breaker.News{}
	}
	return e.news[len(e.news)-1]
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.news)
}

func (e *ear) live() bool { return e.last().Live }

func (e *ear) state() breaker.State {
	if a := e.last().Answer; a != nil {
		return a.Record.Beneath
	}
	return 255
}

const soon = 10 * time.Second

func eventually(t testing.TB, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, soon, 2*time.Millisecond, what)
}

// run starts Run and ends it with the test, if not before.
func run(t testing.TB, store *redisstore.Store) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- store.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-result:
			require.NoError(t, err)
		case <-time.After(soon):
			t.Error("Run does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

// goroutines of this package that are running, tests aside.
func goroutines() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var ours []string
	for _, g := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(g, "redisstore.(*subscription)") || strings.Contains(g, "redisstore.(*runner)") {
			ours = append(ours, g)
		}
	}
	return strings.Join(ours, "\n\n")
}

// proxy stands between clients and a server.
type proxy struct {
	addr     string
	upstream string
	listener net.Listener
	mu       sync.Mutex
	frozen   map[net.Conn]*atomic.Bool // of connections that have subscribed
}

func startProxy(t testing.TB, upstream string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: listener.Addr().String(), upstream: upstream, listener: listener, frozen: map[net.Conn]*atomic.Bool{}}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			down, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(down)
		}
	}()
	return p
}

func (p *proxy) serve(down net.Conn) {
	defer func() { _ = down.Close() }()
	up, err := net.Dial("tcp", p.upstream)
	if err != nil {
		return
	}
	defer func() { _ = up.Close() }()
	frozen := &atomic.Bool{}
	go func() {
		defer func() { _ = up.Close() }()
		buffer := make([]byte, 64<<10)
		for {
			n, err := down.Read(buffer)
			if err != nil {
				return
			}
			if bytes.Contains(buffer[:n], []byte("subscribe")) {
				p.mu.Lock()
				p.frozen[down] = frozen
				p.mu.Unlock()
			}
			if _, err := up.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	_, _ = io.Copy(writer(func(b []byte) (int, error) {
		if frozen.Load() {
			return len(b), nil
		}
		return down.Write(b)
	}), up)
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// blackHole lets nothing more come through the connections that are subscribed now.
func (p *proxy) blackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, frozen := range p.frozen {
		frozen.Store(true)
	}
}

// counter counts the commands that a client sends, and can lose their replies.
type counter struct {
	commands atomic.Int64
	trips    atomic.Int64
	lose     atomic.Bool
}

func (c *counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.commands.Add(1)
		c.trips.Add(1)
		err := next(ctx, cmd)
		if c.lose.Load() {
			cmd.SetErr(io.ErrUnexpectedEOF)
			return io.ErrUnexpectedEOF
		}
		return err
	}
}

func (c *counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.commands.Add(int64(len(cmds)))
		c.trips.Add(1)
		return next(ctx, cmds)
	}
}
