package replica

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// Guarding gives a replica a guard of tools that it shares.
type Guarding struct {
	URL    string
	Limits toolguard.Limits
	// Timeout is the store's; 0 is its default.
	Timeout time.Duration
}

// Turning is turns of agents whose models are offered the tool or not. Each model calls
// what was withheld from it all the same; one that is offered it waits for [Using].
type Turning struct {
	// Agents is how many there are, all at once.
	Agents int
	// At is when they begin, as a Unix time in nanoseconds.
	At int64
	// For is until when each goes on with another turn, from At on; it has one in any case.
	For time.Duration
}

// Using ends the turn that is offered the tool.
type Using struct {
	// Calls is how often its model calls the tool, which fails. Without such a turn, it is
	// a new one.
	Calls int
}

// Toolbox is what came of that, and what the replica knows of the tool then.
type Toolbox struct {
	// Turns is how many there were, and Offered in how many of them the tool was.
	Turns, Offered int64
	// Ran is how many calls have reached the tool.
	Ran int64

	State      breaker.State
	Sharing    breaker.Sharing
	Round      uint64
	Generation int
	// Until is the end of the open time, as a Unix time in nanoseconds.
	Until int64
}

// Tool is the one that breaks. The agents have another one, which does not.
const (
	Tool  = "search"
	other = "calc"
)

// toolbox is the replica's guard, and the turns that are not over.
type toolbox struct {
	guard *toolguard.Guard
	ran   atomic.Int64

	mu   sync.Mutex // guards what follows
	open []*toolguard.Turn
}

func (g *Guarding) do(ctx context.Context) (*toolbox, error) {
	store, err := redisstore.Open(g.URL, &redisstore.Options{Timeout: g.Timeout})
	if err != nil {
		return nil, err
	}
	go func() { _ = store.Run(ctx) }() // it ends with the process
	guard, err := toolguard.New(&toolguard.Options{Monitor: []string{Tool}, Limits: g.Limits, Store: store})
	return &toolbox{guard: guard}, err
}

func (b *toolbox) turn(ctx context.Context) (turn *toolguard.Turn, offered bool) {
	names := []string{other, Tool}
	turn = b.guard.Turn(ctx, names)
	return turn, slices.Contains(toolguard.Filter(turn, names, func(name string) string { return name }), Tool)
}

// call has a model call the tool in a turn.
func (b *toolbox) call(ctx context.Context, turn *toolguard.Turn) {
	_, _ = toolguard.Call(turn.Context(ctx), b.guard, Tool, "", func(context.Context, string) (string, error) {
		b.ran.Add(1)
		return "", ErrDown
	})
}

func (w *Turning) do(ctx context.Context, b *toolbox) Toolbox {
	begin := time.Unix(0, w.At)
	before := b.ran.Load()
	var turns, offers atomic.Int64
	var all sync.WaitGroup
	for range w.Agents {
		all.Go(func() {
			time.Sleep(time.Until(begin))
			for {
				turn, offered := b.turn(ctx)
				turns.Add(1)
				if offered {
					offers.Add(1)
					b.mu.Lock()
					b.open = append(b.open, turn)
					b.mu.Unlock()
					return
				}
				b.call(ctx, turn)
				turn.Close()
				if time.Since(begin) >= w.For {
					return
				}
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	all.Wait()
	seen := b.seen()
	seen.Turns, seen.Offered, seen.Ran = turns.Load(), offers.Load(), b.ran.Load()-before
	return seen
}

func (u *Using) do(ctx context.Context, b *toolbox) Toolbox {
	b.mu.Lock()
	open := b.open
	b.open = nil
	b.mu.Unlock()
	if open == nil {
		turn, _ := b.turn(ctx)
		open = append(open, turn)
	}
	before := b.ran.Load()
	for _, turn := range open {
		for range u.Calls {
			b.call(ctx, turn)
		}
		turn.Close()
	}
	seen := b.seen()
	seen.Ran = b.ran.Load() - before
	return seen
}

// seen is what is known of the tool. It asks nobody.
func (b *toolbox) seen() Toolbox {
	circuit := b.guard.Circuit("", Tool)
	if circuit == nil {
		return Toolbox{}
	}
	snap := circuit.Snapshot()
	return Toolbox{
		State: snap.State, Sharing: snap.Sharing, Round: snap.Round, Generation: snap.Generation,
		Until: snap.Until.UnixNano(),
	}
}
