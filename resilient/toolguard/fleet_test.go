package toolguard_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var stores = map[string]*breaker.MemoryOptions{"with news": nil, "without news": {Silent: true}}

// onStore makes guards that share one store.
func onStore(t *testing.T, store breaker.Store, n int) []*toolguard.Guard {
	guards := make([]*toolguard.Guard, n)
	for i := range guards {
		options := watchAll()
		options.Store = store
		guards[i] = newGuard(t, options)
	}
	return guards
}

// R29, R30: at the half-open edge, one turn in the whole fleet sees the tool.
func TestOneTurnOfTheFleetIsOfferedTheProbe(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := newSpy(options)
				guards := onStore(t, store, 2)
				names := []string{"calc", "search"}
				for _, g := range guards {
					g.Turn(t.Context(), names)
				}
				open(t, guards[0], "search")
				for _, g := range guards { // both know
					time.Sleep(2 * time.Second)
					require.Equal(t, []string{"calc"}, offered(g.Turn(t.Context(), names), names...))
				}
				for range 200 {
					time.Sleep(time.Until(guards[0].Circuit("", "search").Snapshot().Until))
					turns := make([]*toolguard.Turn, 64)
					var seen atomic.Int64
					var wg sync.WaitGroup
					for i := range turns {
						wg.Go(func() {
							turns[i] = guards[i%2].Turn(t.Context(), names)
							if len(offered(turns[i], names...)) == 2 {
								seen.Add(1)
							}
						})
					}
					wg.Wait()
					require.Equal(t, int64(1), seen.Load())
					for _, turn := range turns {
						if len(turn.Withheld()) == 0 {
							permit, err := turn.Begin(t.Context(), "search")
							require.NoError(t, err)
							require.True(t, permit.End(toolguard.Error))
						}
						turn.Close()
					}
					for _, g := range guards {
						time.Sleep(2 * time.Second)
						require.Len(t, g.Turn(t.Context(), names).Withheld(), 1)
					}
				}
			})
		})
	}
}

// An outage that one replica has seen stops the others before their first call, and one
// success brings the tool back for all.
func TestFleetSharesWhatItKnows(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				guards := onStore(t, newSpy(options), 2)
				g, other := guards[0], guards[1]
				g.Turn(t.Context(), []string{"search"})
				open(t, g, "search")
				assert.Len(t, other.Turn(t.Context(), []string{"search"}).Withheld(), 1, "at its first turn")
				_, err := other.Begin(t.Context(), "search")
				requireRefused(t, err)
				time.Sleep(time.Minute)
				require.NoError(t, call(t.Context(), g, "search", toolguard.Success))
				time.Sleep(2 * time.Second)
				assert.Empty(t, other.Turn(t.Context(), []string{"search"}).Withheld())
			})
		})
	}
}

// Where the list stays as it is, a turn asks nothing: a replica learns of an outage by its
// first call, before the tool would run, and of its end likewise.
func TestFleetSharesWhatItKnowsWhereTheListStays(t *testing.T) {
	for name, memory := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := newSpy(memory)
				options := watchAll()
				options.Store, options.Mode = store, toolguard.GuardOnly
				g, other := newGuard(t, options), newGuard(t, options)
				names := []string{"search", "calc"}
				turn := g.Turn(t.Context(), names)
				for range 3 {
					require.NoError(t, call(turn.Context(t.Context()), g, "search", toolguard.Error))
				}
				before := store.trips.Load()
				turn = other.Turn(t.Context(), names)
				assert.Equal(t, before, store.trips.Load())
				_, err := turn.Begin(t.Context(), "search")
				refused := refusedBy(t, err)
				assert.Equal(t, toolguard.ReasonOpen, refused.Reason)
				assert.Equal(t, []string{"calc"}, refused.Others)
				assert.LessOrEqual(t, store.trips.Load(), before+1)

				time.Sleep(time.Minute)
				permit, err := other.Turn(t.Context(), names).Begin(t.Context(), "search")
				require.NoError(t, err)
				require.True(t, permit.Probe())
				_, err = g.Turn(t.Context(), names).Begin(t.Context(), "search")
				requireRefused(t, err)
				permit.End(toolguard.Success)
				time.Sleep(2 * time.Second)
				permit, err = g.Turn(t.Context(), names).Begin(t.Context(), "search")
				require.NoError(t, err)
				assert.False(t, permit.Probe())
				permit.End(toolguard.Success)
			})
		})
	}
}

// A server without turns takes part from the first call of what Monitor names.
func TestServersShareWithoutTurns(t *testing.T) {
	options := toolguard.Options{Monitor: []string{"search"}, Store: newSpy(nil)}
	g, other := newGuard(t, options), newGuard(t, options)
	open(t, g, "search")
	_, err := other.Begin(t.Context(), "search")
	requireRefused(t, err)
}

// One that watches all without turns learns of an outage with its first own error, since
// a name alone makes no state; its errors count for the fleet.
func TestServersThatWatchAllJoinWithAnError(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			guards := onStore(t, newSpy(options), 2)
			g, other := guards[0], guards[1]
			open(t, g, "search")
			require.NoError(t, call(t.Context(), other, "search", toolguard.Success))
			require.NoError(t, call(t.Context(), other, "search", toolguard.Error))
			_, err := other.Begin(t.Context(), "search")
			requireRefused(t, err)
			snap := other.Circuit("", "search").Snapshot()
			assert.Equal(t, 1, snap.Generation)
			assert.Equal(t, 3, snap.Failures, "it was open already")
		})
	}
}

// What the tool asks for holds for all replicas.
func TestFleetHeedsRetryAfter(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				guards := onStore(t, newSpy(options), 2)
				_, err := toolguard.Call(t.Context(), guards[0], "search", 0, func(context.Context, int) (int, error) {
					return 0, resilient.RetryAfter(errDown, 300*time.Second)
				})
				require.ErrorIs(t, err, errDown)
				for range 100 {
					for _, g := range guards {
						require.Len(t, g.Turn(t.Context(), []string{"search"}).Withheld(), 1)
					}
					time.Sleep(3*time.Second - time.Millisecond)
				}
				time.Sleep(time.Second)
				assert.Empty(t, guards[1].Turn(t.Context(), []string{"search"}).Withheld())
			})
		})
	}
}

// A turn is one round trip at most, and none while all is healthy and there are news.
func TestRoundTrips(t *testing.T) {
	bubble(t, func(t *testing.T) {
		names := make([]string, 100)
		for i := range names {
			names[i] = fmt.Sprintf("tool_%d", i)
		}
		trips := func(store *spyStore, f func()) int64 {
			before := store.trips.Load()
			f()
			return store.trips.Load() - before
		}
		live, silent := newSpy(nil), newSpy(&breaker.MemoryOptions{Silent: true})
		for _, store := range []*spyStore{live, silent} {
			g := onStore(t, store, 1)[0]
			turn := func() { g.Turn(t.Context(), names) }
			first := trips(store, turn)
			assert.LessOrEqual(t, first, int64(1))
			assert.Zero(t, trips(store, turn), "healthy, and fresh")
			assert.Zero(t, trips(store, func() {
				for _, name := range names {
					_ = call(t.Context(), g, name, toolguard.Success)
				}
			}))
			time.Sleep(time.Hour)
			if store == live {
				assert.Zero(t, trips(store, turn), "healthy")
			} else {
				assert.Equal(t, int64(1), trips(store, turn), "all views are too old")
			}
			for _, name := range names {
				for range 3 {
					_ = call(t.Context(), g, name, toolguard.Error)
				}
			}
			time.Sleep(time.Hour)
			var lazy *toolguard.Turn
			assert.Equal(t, int64(1), trips(store, func() { lazy = g.Turn(t.Context(), names) }), "100 probes")
			assert.Empty(t, lazy.Withheld())
			assert.Equal(t, int64(1), trips(store, lazy.Close), "and all of them back")
			assert.Equal(t, int64(1), trips(store, turn), "at once")
		}
	})
}

// A store that hangs keeps a turn, and its end, no longer than its own timeout, however
// many probes there are.
func TestStoreThatHangs(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := &hangingStore{spyStore: newSpy(options)}
				g, names := onStore(t, store, 1)[0], []string{"a", "b", "c", "d", "e", "f", "g", "h"}
				for _, name := range names {
					open(t, g, name)
				}
				time.Sleep(time.Minute)
				turn := g.Turn(t.Context(), names)
				require.Empty(t, turn.Withheld())
				store.hangs.Store(true)
				took := func(f func()) time.Duration {
					began := time.Now()
					f()
					return time.Since(began)
				}
				timeout := store.Terms().Timeout
				require.Positive(t, timeout)
				assert.Equal(t, timeout, took(turn.Close))
				assert.LessOrEqual(t, took(func() { turn = g.Turn(t.Context(), names) }), timeout)
				assert.Empty(t, turn.Withheld(), "free at once, as far as this process knows")
				assert.Zero(t, took(turn.Close))
			})
		})
	}
}

// hangingStore is one that does not answer.
type hangingStore struct {
	*spyStore
	hangs atomic.Bool
}

func (s *hangingStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return breaker.Answer{}, ctx.Err()
	}
	return s.spyStore.Do(ctx, circuit, c)
}

func (s *hangingStore) DoAll(ctx context.Context, commands []breaker.BatchCommand) []breaker.BatchReply {
	if s.hangs.Load() {
		<-ctx.Done()
		replies := make([]breaker.BatchReply, len(commands))
		for i := range replies {
			replies[i].Err = ctx.Err()
		}
		return replies
	}
	return s.spyStore.DoAll(ctx, commands)
}

// A store that dies in mid-outage gives no error to the loop; when it is back, there is
// one view again.
func TestStoreThatDies(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				store := newSpy(options)
				guards := onStore(t, store, 2)
				names := []string{"search"}
				for _, g := range guards {
					g.Turn(t.Context(), names)
				}
				open(t, guards[0], "search")
				time.Sleep(2 * time.Second)
				for _, g := range guards {
					require.Len(t, g.Turn(t.Context(), names).Withheld(), 1)
				}
				store.dead.Store(true)
				for range 50 {
					time.Sleep(time.Second)
					for _, g := range guards {
						assert.Len(t, g.Turn(t.Context(), names).Withheld(), 1, "each goes on by itself")
						_, err := g.Begin(t.Context(), "search")
						requireRefused(t, err)
					}
				}
				time.Sleep(10 * time.Second)
				for _, g := range guards { // each has its own probe now
					turn := g.Turn(t.Context(), names)
					require.Empty(t, turn.Withheld())
					permit, err := turn.Begin(t.Context(), "search")
					require.NoError(t, err)
					permit.End(toolguard.Error)
					turn.Close()
				}
				store.dead.Store(false)
				time.Sleep(10 * time.Minute)
				seen := 0
				for range 2 {
					for _, g := range guards {
						turn := g.Turn(t.Context(), names)
						if len(turn.Withheld()) > 0 {
							continue
						}
						seen++
						permit, err := turn.Begin(t.Context(), "search")
						require.NoError(t, err)
						if permit.Probe() {
							permit.End(toolguard.Success)
						}
						time.Sleep(2 * time.Second)
					}
				}
				assert.Positive(t, seen)
				for _, g := range guards {
					assert.Empty(t, g.Turn(t.Context(), names).Withheld())
					snap := g.Circuit("", "search").Snapshot()
					assert.Equal(t, breaker.Closed, snap.State)
					assert.Equal(t, breaker.Shared, snap.Sharing)
				}
				assert.Equal(t, guards[0].Circuit("", "search").Snapshot().Round, guards[1].Circuit("", "search").Snapshot().Round)
			})
		})
	}
}

// Closing a guard ends all that it has to do with its store.
func TestClose(t *testing.T) {
	store := newSpy(nil)
	g := onStore(t, store, 1)[0]
	g.Turn(t.Context(), []string{"a", "b"})
	assert.Equal(t, int64(2), store.watched.Load())
	g.Close()
	assert.Zero(t, store.watched.Load())
	assert.Empty(t, g.Tools())
}
