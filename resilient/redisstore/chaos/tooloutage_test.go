package chaos_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
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

// TestRedisDiesInAToolsOutage (R29): the agents' loops see no error but the tool's own,
// nobody waits for Redis longer than the store's timeout, each replica goes on withholding
// the tool by itself; and when Redis is back, there is one view again, whether it has
// forgotten everything or not.
func TestRedisDiesInAToolsOutage(t *testing.T) {
	t.Parallel()
	servers.Need(t)
	for name, args := range map[string][]string{
		"it forgets":   nil,
		"it remembers": {"--appendonly", "yes", "--appendfsync", "always"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servers.Start(t, args...)
			o := newToolOutage(t, server.Address)
			busy := watched(t)
			o.start(t)
			require.True(t, servers.Within(10*time.Second, func() bool { return o.offered() == len(o.replicas) }))

			o.down.Store(true)
			require.True(t, servers.Within(10*time.Second, func() bool {
				first := o.replicas[0].seen()
				return o.agree() && first.State == breaker.Open && time.Until(first.Until) > toolCooldown/2
			}), "the tool is withheld everywhere")
			server.Kill()
			died := time.Now()
			require.True(t, servers.Within(10*time.Second, func() bool {
				return !slices.ContainsFunc(o.replicas, func(r *toolReplica) bool { return r.seen().Sharing != breaker.Lost })
			}), "they find out")
			t.Logf("found out after %v", time.Since(died).Round(ms))
			o.alone(t, long(10*time.Second, 2500*ms))

			server.Restart()
			back := time.Now()
			require.True(t, servers.Within(10*time.Second, o.agree), "there is one view")
			t.Logf("one view after %v", time.Since(back).Round(ms))
			o.down.Store(false)
			require.True(t, servers.Within(10*time.Second, func() bool {
				return o.agree() && o.replicas[0].seen().State == breaker.Closed && o.offered() == len(o.replicas)
			}), "the tool is back everywhere")
			o.replicas[0].broken.Store(true)
			require.True(t, servers.Within(10*time.Second, func() bool {
				return o.agree() && o.replicas[1].seen().State == breaker.Open
			}), "what one learns, the other knows again")

			o.end(t)
			bound := toolTimeout + busy.allows()
			for what, waits := range o.waits {
				waits.log(t, what)
				assert.LessOrEqual(t, waits.at(1), bound, "%s: nobody waits longer than the store's timeout", what)
			}
			t.Logf("%d turns, %d calls of the tool, %d refusals; the bound was %v", o.turns.Load(), o.hits(), o.refused.Load(), bound.Round(ms))
			assert.Positive(t, o.refused.Load())
			assert.Zero(t, o.panics.Load(), "panics that were contained")
		})
	}
}

const (
	toolCooldown = 300 * ms
	toolTimeout  = 200 * ms // of the store
)

// toolOutage is agents on a few replicas, all the time, and the one tool that they want.
type toolOutage struct {
	replicas []*toolReplica
	down     atomic.Bool // the tool, for all of them
	stop     chan struct{}
	agents   sync.WaitGroup
	t        testing.TB

	turns, refused, panics atomic.Int64

	mu    sync.Mutex
	waits map[string]figures
}

// toolReplica is one of them.
type toolReplica struct {
	guard               *toolguard.Guard
	broken              atomic.Bool // the tool, for this one
	hits, running, most atomic.Int64
	offered             atomic.Bool // in its last turn
}

func (r *toolReplica) seen() breaker.Snapshot { return r.guard.Circuit("", "search").Snapshot() }

func newToolOutage(t testing.TB, address string) *toolOutage {
	t.Helper()
	o := &toolOutage{t: t, stop: make(chan struct{}), waits: map[string]figures{}}
	for range 2 {
		m := join(t, address, &redisstore.Options{Timeout: toolTimeout}, true)
		m.live(t)
		o.replicas = append(o.replicas, &toolReplica{guard: m.guard(t, toolguard.Options{
			Limits: toolguard.Limits{
				RecoveryTimeout: toolCooldown, RecoveryMultiplier: 1,
				ProbeLease: 300 * ms, Timeout: 500 * ms, // should Redis die with a probe out, nobody waits for it for long
			},
			Logger: slog.New(panicCounter{slog.DiscardHandler, &o.panics}),
		})})
	}
	return o
}

// panicCounter counts the records that tell of one.
type panicCounter struct {
	slog.Handler
	n *atomic.Int64
}

func (panicCounter) Enabled(context.Context, slog.Level) bool { return true }

func (c panicCounter) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "panic") {
		c.n.Add(1)
	}
	return nil
}

// start starts the agents: of each two, one calls the tool while it is offered, and the
// other whatever it is offered.
func (o *toolOutage) start(t testing.TB) {
	t.Helper()
	for _, r := range o.replicas {
		r.guard.Turn(t.Context(), []string{"search"}).Close() // it is known
		for i := range 4 {
			o.agents.Go(func() {
				for {
					select {
					case <-o.stop:
						return
					case <-time.After(ms):
						o.turn(r, i%2 == 1)
					}
				}
			})
		}
	}
}

// turn is one turn of an agent.
func (o *toolOutage) turn(r *toolReplica, stubborn bool) {
	ctx, names := context.Background(), []string{"calc", "search"}
	o.turns.Add(1)
	var turn *toolguard.Turn
	o.time("turn", func() { turn = r.guard.Turn(ctx, names) })
	offered := slices.Contains(toolguard.Filter(turn, names, func(name string) string { return name }), "search")
	r.offered.Store(offered)
	chosen := "calc"
	if offered || stubborn {
		chosen = "search"
	}
	begun := time.Now()
	_, err := toolguard.Call(turn.Context(ctx), r.guard, chosen, "", func(context.Context, string) (string, error) {
		o.note("begin", time.Since(begun))
		defer func() { begun = time.Now() }()
		return "", o.use(r, chosen)
	})
	o.note("end", time.Since(begun)) // of one that was refused it is the whole call
	o.judge(err, chosen)
	o.time("close", turn.Close)
}

// judge looks at what a call ended with. The loop sees the tool's own error, and why it
// was refused, and nothing else.
func (o *toolOutage) judge(err error, chosen string) {
	var refused *toolguard.RefusedError
	switch {
	case err == nil:
	case errors.As(err, &refused) && refused.Tool == "search" && strings.Contains(refused.Message(), "temporarily unavailable"):
		o.refused.Add(1)
	case chosen == "search" && err == errDown: // it comes back unchanged
	default:
		o.t.Errorf("a loop sees %v", err)
	}
}

// use is the tools themselves.
func (o *toolOutage) use(r *toolReplica, name string) error {
	if name != "search" {
		return nil
	}
	r.hits.Add(1)
	atMost(&r.most, r.running.Add(1))
	defer r.running.Add(-1)
	time.Sleep(ms)
	if o.down.Load() || r.broken.Load() {
		return errDown
	}
	return nil
}

func atMost(most *atomic.Int64, value int64) {
	for old := most.Load(); value > old && !most.CompareAndSwap(old, value); old = most.Load() {
	}
}

func (o *toolOutage) time(what string, f func()) {
	begun := time.Now()
	f()
	o.note(what, time.Since(begun))
}

func (o *toolOutage) note(what string, d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waits[what] = append(o.waits[what], d)
}

// alone looks, for that long, that each replica keeps the rules by itself.
func (o *toolOutage) alone(t testing.TB, length time.Duration) {
	t.Helper()
	before := make([]int64, len(o.replicas))
	begun := time.Now()
	for i, r := range o.replicas {
		before[i] = r.hits.Load()
		r.most.Store(0)
	}
	time.Sleep(length)
	for i, r := range o.replicas {
		hits := r.hits.Load() - before[i]
		cooldowns := int64(time.Since(begun)/toolCooldown) + 1
		t.Logf("replica %d by itself: %d calls of the tool in %d cooldowns", i, hits, cooldowns)
		assert.LessOrEqual(t, hits, cooldowns, "one probe for each cooldown")
		assert.Positive(t, hits, "it goes on trying")
		assert.EqualValues(t, 1, r.most.Load(), "one at a time")
		assert.Equal(t, breaker.Lost, r.seen().Sharing)
	}
}

// agree reports whether all of them share their state, and that is one.
func (o *toolOutage) agree() bool {
	first := o.replicas[0].seen()
	return !slices.ContainsFunc(o.replicas, func(r *toolReplica) bool {
		snap := r.seen()
		return snap.Sharing != breaker.Shared || snap.Round != first.Round || snap.State != first.State
	})
}

// offered is on how many replicas the model was offered the tool last.
func (o *toolOutage) offered() (n int) {
	for _, r := range o.replicas {
		if r.offered.Load() {
			n++
		}
	}
	return n
}

func (o *toolOutage) hits() (n int64) {
	for _, r := range o.replicas {
		n += r.hits.Load()
	}
	return n
}

// end lets the agents finish, and fails the test if one does not.
func (o *toolOutage) end(t testing.TB) {
	t.Helper()
	close(o.stop)
	done := make(chan struct{})
	go func() { o.agents.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("an agent does not return")
	}
}
