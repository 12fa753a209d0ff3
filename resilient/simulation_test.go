package resilient_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// The simulation: 200 processes call one server, which gets slow, breaks down and recovers. They share nothing, so each
// has a guard, and a retry budget, of its own. Calls come by the clock, twice a second in each process, whatever has
// become of those before: callers do not wait for an outage to end.
const (
	clients  = 200
	interval = time.Second / 2 // between two calls of a client
	normal   = clients * int(time.Second/interval)

	slowFrom = 10 * time.Second // the server gets slow, and fails one call in ten
	downFrom = 30 * time.Second // it fails each call, and soon: that is what makes the most load
	upFrom   = 80 * time.Second
	simEnd   = 120 * time.Second
)

// region policy
func outagePolicy() resilient.Policy {
	policy := resilient.DefaultPolicy() // 3 attempts, from 1 s on, with jitter; 5 failures in a row open the circuit
	policy.TotalTimeout = 10 * time.Second
	policy.AttemptTimeout = 2 * time.Second
	policy.Retry.Budget = "retries"
	policy.Circuit.RecoveryTimeout = 10 * time.Second
	policy.Circuit.Cooldown = 5 * time.Second
	policy.Circuit.RecoveryJitter = 0.2 // so that 200 processes do not probe in the same instant
	return policy
}

// outageBudget is one retry for ten calls. It has no floor: the default one, ten retries in ten seconds, would let a
// process that calls twice a second add half to its load.
func outageBudget() resilient.CallRatio {
	return resilient.CallRatio{Ratio: 0.1, Window: 10 * time.Second}
}

// endregion

// tally counts something, second by second.
type tally [simEnd / time.Second]atomic.Int64

func (c *tally) add(at time.Duration) {
	if at < simEnd {
		c[at/time.Second].Add(1)
	}
}

// sum is how many there were from one time to another.
func (c *tally) sum(from, to time.Duration) (n int) {
	for i := from / time.Second; i < to/time.Second; i++ {
		n += int(c[i].Load())
	}
	return n
}

// most is how many there were in the worst span of that length between two times.
func (c *tally) most(span, from, to time.Duration) (worst int) {
	for at := from; at+span <= to; at += time.Second {
		worst = max(worst, c.sum(at, at+span))
	}
	return worst
}

// outage is what has come of one run.
type outage struct {
	offered, sent, answered tally
	kept                    tally // answered, by when the call began

	mu      sync.Mutex
	changes [clients][]change // of each client's circuit
}

type change struct {
	to breaker.State
	at time.Duration
}

// count is how many times circuits went into a state from one time on until another.
func (o *outage) count(to breaker.State, from, until time.Duration) (n int) {
	for _, changes := range o.changes {
		for _, c := range changes {
			if c.to == to && c.at >= from && c.at < until {
				n++
			}
		}
	}
	return n
}

// serve is the server, as it is at that time.
func serve(ctx context.Context, now time.Duration, lucky float64) error {
	takes, failing := 50*time.Millisecond, 0.0
	switch {
	case now < slowFrom || now >= upFrom:
	case now < downFrom:
		takes, failing = 400*time.Millisecond, 0.1
	default:
		takes, failing = 20*time.Millisecond, 1
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	if lucky < failing {
		return errDown
	}
	return nil
}

// simulate runs the whole story, with one guard of that policy for each client, and a budget for each.
func simulate(t *testing.T, policy resilient.Policy) *outage {
	t.Helper()
	o := &outage{}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() { o.client(t, n, start, policy) })
		}
		all.Wait()
	})
	return o
}

// client makes its calls until the end, and waits for them.
func (o *outage) client(t *testing.T, n int, start time.Time, policy resilient.Policy) {
	budget, err := resilient.NewBudget(outageBudget())
	if !assert.NoError(t, err) {
		return
	}
	guard, err := resilient.NewGuard(fmt.Sprintf("client-%d", n), policy, &resilient.Options{
		Budgets: map[string]*resilient.Budget{"retries": budget},
		Logger:  slog.New(slog.DiscardHandler),
		Observers: []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
			if c, ok := event.(resilient.CircuitChanged); ok {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.changes[n] = append(o.changes[n], change{c.To, c.At.Sub(start)})
			}
		})},
	})
	if !assert.NoError(t, err) {
		return
	}
	luck := rand.New(rand.NewPCG(1, uint64(n)))
	var drawing sync.Mutex
	draw := func() float64 {
		drawing.Lock()
		defer drawing.Unlock()
		return luck.Float64()
	}
	var calls sync.WaitGroup
	time.Sleep(time.Duration(draw() * float64(interval)))
	for time.Since(start) < simEnd {
		began := time.Since(start)
		o.offered.add(began)
		calls.Go(func() {
			if resilient.Do(context.Background(), guard, get, func(ctx context.Context) error {
				now := time.Since(start)
				o.sent.add(now)
				return serve(ctx, now, draw())
			}) == nil {
				o.answered.add(time.Since(start))
				o.kept.add(began)
			}
		})
		time.Sleep(interval)
	}
	calls.Wait()
}
