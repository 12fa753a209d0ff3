package breaker_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// moody is a store that takes its time, fails, and loses replies while it is bad.
type moody struct {
	*breaker.MemoryStore
	bad   atomic.Bool
	mu    sync.Mutex
	faces *rand.Rand
}

func (m *moody) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	m.mu.Lock()
	face, pause := m.faces.IntN(8), time.Duration(m.faces.IntN(60))*time.Millisecond
	m.mu.Unlock()
	if !m.bad.Load() {
		face, pause = 9, pause/10
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
		return breaker.Answer{}, ctx.Err()
	}
	switch face {
	case 0:
		return breaker.Answer{}, errStore
	case 1:
		return breaker.Answer{}, breaker.ErrGarbled
	case 2:
		_, _ = m.MemoryStore.Do(ctx, circuit, c) // the reply is lost
		return breaker.Answer{}, errStore
	case 3:
		panic("store")
	case 4:
		m.Forget(circuit)
	}
	return m.MemoryStore.Do(ctx, circuit, c)
}

// Whatever has happened to a fleet and its store: once both are well, and orders are
// over, every replica admits calls, and closes. A working store grants no more probes
// than there may be.
func TestAFleetRecovers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		seed, silent := rapid.Uint64().Draw(r, "seed"), rapid.Bool().Draw(r, "silent")
		reporters, replicas := rapid.IntRange(1, 2).Draw(r, "reporters"), rapid.IntRange(1, 3).Draw(r, "replicas")
		strict := rapid.Bool().Draw(r, "strict")
		synctest.Test(t, func(t *testing.T) {
			store := &moody{
				MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: silent, Strict: strict}),
				faces:       rand.New(rand.NewPCG(seed, 1)),
			}
			settings := small()
			settings.MinReporters = reporters
			var fleet []*breaker.Circuit
			for range replicas {
				var c *breaker.Circuit
				c, err := breaker.New("dep", settings, &breaker.Options{Store: store, OnTransition: func(breaker.Transition) { c.Snapshot() }})
				require.NoError(t, err)
				fleet = append(fleet, c)
			}
			var down atomic.Bool
			var all sync.WaitGroup
			for i, c := range fleet {
				for j := range 4 {
					all.Go(func() { storm(t, c, settings, rand.New(rand.NewPCG(seed, uint64(10*i+j))), &down, store) })
				}
			}
			all.Wait()
			store.bad.Store(false)
			down.Store(false)
			for _, c := range fleet {
				c.Release()
				require.NoError(t, c.SetSettings(settings))
			}
			time.Sleep(10 * time.Minute)
			for range 30 {
				for _, c := range fleet {
					call(c, nil)
				}
				time.Sleep(time.Minute)
			}
			for i, c := range fleet {
				snap := c.Snapshot()
				assert.True(t, call(c, nil), "replica %d: %+v", i, snap)
				assert.Equal(t, breaker.Closed, snap.State, "replica %d", i)
				assert.Equal(t, breaker.Shared, snap.Sharing, "replica %d", i)
				assert.Zero(t, snap.Failures)
			}
			probesOfAWellFleet(t, fleet)
		})
		if t.Failed() {
			r.FailNow()
		}
	})
}

// storm does to a circuit whatever can be done.
func storm(t *testing.T, c *breaker.Circuit, settings breaker.Settings, dice *rand.Rand, down *atomic.Bool, store *moody) {
	for range 150 {
		time.Sleep(time.Duration(dice.IntN(1500)) * time.Millisecond)
		switch n := dice.IntN(60); n {
		case 0:
			down.Store(!down.Load())
		case 1:
			store.bad.Store(!store.bad.Load())
		case 2, 3, 4:
			[]func(){c.ForceOpen, c.ForceClosed, c.Disable}[n-2]()
			time.Sleep(time.Duration(dice.IntN(3000)) * time.Millisecond)
			c.Release()
		case 5:
			c.Reset()
		case 6, 7, 8:
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			order := breaker.Order{Author: "ann", Reason: "drill", Force: breaker.Force(dice.IntN(4)), For: time.Duration(1+dice.IntN(20)) * time.Second}
			if order.Force == breaker.NoForce {
				order.For, order.Reset = 0, dice.IntN(2) == 0
			}
			func() {
				defer func() { _ = recover() }()
				_ = c.Steer(ctx, order)
			}()
			cancel()
		case 9:
			other := settings
			other.Enabled, other.Local, other.MinReporters = dice.IntN(2) == 0, dice.IntN(3) == 0, 1+dice.IntN(2)
			require.NoError(t, c.SetSettings(other))
		case 13:
			store.Skew(time.Duration(dice.IntN(7200)-3600) * time.Second)
		case 10:
			for _, g := range breaker.AcquireAll([]breaker.Request{{Circuit: c, Limit: limit}, {Circuit: c, Limit: limit}}) {
				if g.Rejected == nil {
					c.Settle(g.Permit, breaker.Neutral, nil)
				}
			}
		default:
			p, rejected := c.Acquire(c.Now(), limit)
			if rejected != nil {
				continue
			}
			time.Sleep(time.Duration(dice.IntN(300)) * time.Millisecond)
			switch {
			case n == 11:
				c.Settle(p, breaker.Neutral, nil)
			case down.Load() && n == 12:
				c.Withhold(p, errDown, time.Second)
			case down.Load():
				c.Settle(p, breaker.Failure, errDown)
			default:
				c.Settle(p, breaker.Success, nil)
			}
		}
	}
}

// probesOfAWellFleet opens the circuit of all, and lets all ask at once.
func probesOfAWellFleet(t *testing.T, fleet []*breaker.Circuit) {
	for range 2 {
		for _, c := range fleet {
			call(c, errDown)
			call(c, errDown)
		}
		time.Sleep(time.Second)
	}
	shared := 0
	for _, c := range fleet {
		if c.Snapshot().Sharing == breaker.Shared {
			shared++
		}
	}
	if shared < len(fleet) {
		return // one that has opened by itself probes by itself
	}
	time.Sleep(30 * time.Second)
	var probes atomic.Int64
	var all sync.WaitGroup
	for _, c := range fleet {
		for range 5 {
			all.Go(func() {
				if p, rejected := c.Acquire(c.Now(), limit); rejected == nil && p.Probe() {
					probes.Add(1)
				}
			})
		}
	}
	all.Wait()
	assert.LessOrEqual(t, probes.Load(), int64(1), "probes")
}
