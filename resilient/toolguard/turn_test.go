package toolguard_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// R25, R26: three errors in a row withhold a tool; its time over, one turn sees it.
func TestWithheldAndBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		turn := g.Turn(t.Context(), []string{"search", "calc"})
		assert.Equal(t, []string{"search", "calc"}, offered(turn, "search", "calc"))
		open(t, g, "search")
		turn = g.Turn(t.Context(), []string{"search", "calc"})
		assert.Equal(t, []string{"calc"}, offered(turn, "search", "calc"))
		require.Len(t, turn.Withheld(), 1)
		assert.Equal(t, toolguard.Withheld{
			Tool: "search", Reason: toolguard.ReasonOpen, Until: turn.Withheld()[0].Until,
		}, turn.Withheld()[0])
		assert.Equal(t, time.Minute, time.Until(turn.Withheld()[0].Until))

		time.Sleep(time.Minute)
		first, second := g.Turn(t.Context(), []string{"search", "calc"}), g.Turn(t.Context(), []string{"search", "calc"})
		assert.Equal(t, []string{"search", "calc"}, offered(first, "search", "calc"))
		assert.Equal(t, []string{"calc"}, offered(second, "search", "calc"), "R30: one probe")
		assert.Equal(t, toolguard.ReasonProbe, second.Withheld()[0].Reason)
		permit, err := first.Begin(t.Context(), "search")
		require.NoError(t, err)
		assert.True(t, permit.Probe())
		permit.End(toolguard.Success)
		third := g.Turn(t.Context(), []string{"search", "calc"})
		assert.Empty(t, third.Withheld())
		assert.Equal(t, toolguard.Delta{Back: []string{"search"}}, third.Delta(second))
	})
}

// R25: cooldowns are 60, 120, 240, 480, 600, 600 seconds.
func TestCooldownsGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		for _, cooldown := range []time.Duration{60, 120, 240, 480, 600, 600} {
			turn := g.Turn(t.Context(), []string{"search"})
			require.Len(t, turn.Withheld(), 1)
			assert.Equal(t, cooldown*time.Second, time.Until(turn.Withheld()[0].Until))
			time.Sleep(cooldown*time.Second - 1)
			assert.Empty(t, offered(g.Turn(t.Context(), []string{"search"}), "search"))
			time.Sleep(time.Nanosecond)
			turn = g.Turn(t.Context(), []string{"search"})
			assert.Equal(t, []string{"search"}, offered(turn, "search"))
			permit, err := turn.Begin(t.Context(), "search")
			require.NoError(t, err)
			permit.End(toolguard.Error)
			turn.Close()
		}
	})
}

// A106, R25: what has passed while nobody asked is seen at the next turn.
func TestRecoveryAfterADayIdle(t *testing.T) {
	for name, store := range map[string]func() breaker.Store{
		"no store":     func() breaker.Store { return nil },
		"with news":    func() breaker.Store { return newSpy(nil) },
		"without news": func() breaker.Store { return newSpy(&breaker.MemoryOptions{Silent: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				options := watchAll()
				options.Store = store()
				g := newGuard(t, options)
				g.Turn(t.Context(), []string{"search"})
				open(t, g, "search")
				time.Sleep(24 * time.Hour)
				turn := g.Turn(t.Context(), []string{"search"})
				assert.Equal(t, []string{"search"}, offered(turn, "search"))
				permit, err := turn.Begin(t.Context(), "search")
				require.NoError(t, err)
				assert.True(t, permit.End(toolguard.Success))
				assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
			})
		})
	}
}

// A110: a turn that does not use its probe gives it back when it ends.
func TestLazyModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		time.Sleep(time.Minute)
		lazy := g.Turn(t.Context(), []string{"search"})
		require.Empty(t, lazy.Withheld())
		assert.Len(t, g.Turn(t.Context(), []string{"search"}).Withheld(), 1)
		lazy.Close()
		lazy.Close()

		forgotten := g.Turn(t.Context(), []string{"search"})
		require.Empty(t, forgotten.Withheld(), "free at once")
		withheld := g.Turn(t.Context(), []string{"search"}).Withheld()
		require.Len(t, withheld, 1)
		lease := 2*time.Minute + 30*time.Second + 15*time.Second // the model's time, the call's, and a tenth
		assert.Equal(t, lease, time.Until(withheld[0].Until))
		time.Sleep(lease)
		assert.Empty(t, g.Turn(t.Context(), []string{"search"}).Withheld(), "without an end, after the lease")
	})
}

// A token whose lease is over decides nothing, whatever comes of its call.
func TestOldTokenIsDropped(t *testing.T) {
	for name, store := range map[string]func() breaker.Store{
		"no store":     func() breaker.Store { return nil },
		"with news":    func() breaker.Store { return newSpy(nil) },
		"without news": func() breaker.Store { return newSpy(&breaker.MemoryOptions{Silent: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				options := watchAll()
				options.Store = store()
				g := newGuard(t, options)
				open(t, g, "search")
				time.Sleep(time.Minute)
				old := g.Turn(t.Context(), []string{"search"})
				permit, err := old.Begin(t.Context(), "search")
				require.NoError(t, err)
				time.Sleep(3 * time.Minute)
				next := g.Turn(t.Context(), []string{"search"})
				require.Empty(t, next.Withheld())
				assert.False(t, permit.End(toolguard.Success), "too late")
				assert.Equal(t, breaker.HalfOpen, g.Circuit("", "search").State())
				assert.Equal(t, uint64(1), g.Circuit("", "search").Snapshot().Late)
				fresh, err := next.Begin(t.Context(), "search")
				require.NoError(t, err)
				assert.True(t, fresh.End(toolguard.Error))
				assert.Equal(t, 2, g.Circuit("", "search").Snapshot().Generation)
			})
		})
	}
}

// A claim that the model uses so late that its call would outlast the lease is claimed
// anew, so that a probe which hangs is settled in time.
func TestLateUseClaimsAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		time.Sleep(time.Minute)
		turn := g.Turn(t.Context(), []string{"search"})
		time.Sleep(2*time.Minute + 1)
		permit, err := turn.Begin(t.Context(), "search")
		require.NoError(t, err)
		assert.True(t, permit.Probe())
		<-permit.Context().Done() // 30 s: the first lease would be over nearly
		time.Sleep(2 * time.Second)
		assert.True(t, permit.End(toolguard.Error), "in time")
		assert.Equal(t, 2, g.Circuit("", "search").Snapshot().Generation)
	})
}

// A109: of several calls in one half-open turn one runs.
func TestParallelCallsOfOneTurn(t *testing.T) {
	for name, mode := range map[string]toolguard.Mode{
		"withhold": toolguard.Withhold, "mask": toolguard.Mask, "guard only": toolguard.GuardOnly,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				options := watchAll()
				options.Mode = mode
				g := newGuard(t, options)
				open(t, g, "search")
				time.Sleep(time.Minute)
				turn := g.Turn(t.Context(), []string{"search", "calc"})
				first, err := turn.Begin(t.Context(), "search")
				require.NoError(t, err)
				for range 2 {
					_, err = turn.Begin(t.Context(), "search")
					refused := refusedBy(t, err)
					assert.Equal(t, toolguard.ReasonSecondProbe, refused.Reason)
					assert.Contains(t, refused.Message(), "temporarily unavailable")
				}
				first.End(toolguard.Ignored)
				_, err = turn.Begin(t.Context(), "search")
				assert.Equal(t, toolguard.ReasonSecondProbe, refusedBy(t, err).Reason, "nor when it ended without a verdict")
				turn.Close()

				next := g.Turn(t.Context(), []string{"search", "calc"})
				permit, err := next.Begin(t.Context(), "search")
				require.NoError(t, err)
				permit.End(toolguard.Success)
				permit, err = next.Begin(t.Context(), "search")
				require.NoError(t, err, "it is back")
				permit.End(toolguard.Success)
			})
		})
	}
}

// What a turn withholds it refuses, until the tool has recovered: it takes no probe
// from a turn that offers it.
func TestWithheldIsRefusedInItsTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		turn := g.Turn(t.Context(), []string{"search"})
		time.Sleep(time.Minute)
		_, err := turn.Begin(t.Context(), "search")
		assert.Equal(t, toolguard.ReasonOpen, refusedBy(t, err).Reason)
		assert.Equal(t, breaker.Open, g.Circuit("", "search").State(), "nothing was claimed")
		require.NoError(t, call(t.Context(), g, "search", toolguard.Success))
		permit, err := turn.Begin(t.Context(), "search")
		require.NoError(t, err, "it has recovered meanwhile")
		permit.End(toolguard.Success)
	})
}

// The three modes: the list changes in one of them only, and the call is guarded in all.
func TestModes(t *testing.T) {
	names := []string{"search", "calc"}
	for mode, want := range map[toolguard.Mode]struct{ offered, allowed []string }{
		toolguard.Withhold:  {[]string{"calc"}, []string{"calc"}},
		toolguard.Mask:      {names, []string{"calc"}},
		toolguard.GuardOnly: {names, names},
	} {
		options := watchAll()
		options.Mode = mode
		g := newGuard(t, options)
		open(t, g, "search")
		turn := g.Turn(t.Context(), names)
		assert.Equal(t, want.offered, offered(turn, names...))
		assert.Equal(t, want.allowed, turn.Allowed())
		_, err := turn.Begin(t.Context(), "search")
		assert.Equal(t, toolguard.ReasonOpen, refusedBy(t, err).Reason)
	}
}

// A114, R26: always a new slice, same order, same elements, the input untouched; nothing
// withheld, the same slice.
func TestFilter(t *testing.T) {
	g := newGuard(t, watchAll())
	tools := register("a", "search", "b", "search", "c")
	names := []string{"a", "search", "b", "search", "c"}
	same := toolguard.Filter(g.Turn(t.Context(), names), tools, nameOf)
	assert.Same(t, &tools[0], &same[0])
	assert.Len(t, same, len(tools))
	open(t, g, "search")
	turn := g.Turn(t.Context(), names)
	left := toolguard.Filter(turn, tools, nameOf)
	assert.Equal(t, []*registered{tools[0], tools[2], tools[4]}, left)
	assert.Same(t, tools[2], left[1], "shared")
	assert.Equal(t, register("a", "search", "b", "search", "c"), tools, "untouched")
	left[0] = nil
	_ = append(left, nil)
	assert.NotNil(t, tools[0])
	others := tools[2:3]
	assert.Same(t, &others[0], &toolguard.Filter(turn, others, nameOf)[0], "nothing to leave out")
	assert.Nil(t, toolguard.Filter[*registered](turn, nil, nameOf))
	assert.Same(t, &tools[0], &toolguard.Filter(nil, tools, nameOf)[0])
}

func TestDelta(t *testing.T) {
	bubble(t, func(t *testing.T) {
		names := []string{"a", "b"}
		g := newGuard(t, watchAll())
		first := g.Turn(t.Context(), names)
		assert.False(t, first.Delta(nil).Changed())
		open(t, g, "b")
		second := g.Turn(t.Context(), names)
		assert.Equal(t, toolguard.Delta{Gone: []string{"b"}}, second.Delta(first))
		assert.Equal(t, toolguard.Delta{Gone: []string{"b"}}, second.Delta(nil))
		assert.False(t, g.Turn(t.Context(), names).Delta(second).Changed())
		assert.False(t, g.Turn(t.Context(), []string{"a"}).Delta(second).Changed(), "b does not exist any more")
		assert.True(t, second.Delta(first).Changed())
	})
}

// A115: what is excluded is never withheld; beyond the share, tools stay in the list,
// those that are back first, and their calls are refused.
func TestCapOnTheWithheldShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := watchAll()
		options.Exclude = []string{"final_answer"}
		options.MaxWithheldShare = 0.5
		g := newGuard(t, options)
		names := []string{"a", "b", "c", "final_answer"}
		for _, name := range names {
			for range 3 {
				_ = call(t.Context(), g, name, toolguard.Error)
			}
			time.Sleep(time.Second)
		}
		turn := g.Turn(t.Context(), names)
		assert.Equal(t, []string{"a", "final_answer"}, offered(turn, names...))
		assert.Equal(t, []string{"a", "final_answer"}, turn.Allowed())
		withheld := turn.Withheld()
		require.Len(t, withheld, 3)
		assert.True(t, withheld[0].Listed)
		_, err := turn.Begin(t.Context(), "a")
		refused := refusedBy(t, err)
		assert.Equal(t, []string{"final_answer"}, refused.Others)
		assert.Contains(t, turn.Notice(), `"a" until`)
	})
}

// The zero options do nothing, and ask no store.
func TestNothingIsWatchedByDefault(t *testing.T) {
	store := newSpy(nil)
	for name, g := range map[string]*toolguard.Guard{
		"nil":         must(toolguard.New(nil)),
		"a store":     newGuard(t, toolguard.Options{Store: store}),
		"all are out": newGuard(t, toolguard.Options{Store: store, Monitor: []string{"search"}, Exclude: []string{"search"}}),
	} {
		t.Run(name, func(t *testing.T) {
			for range 10 {
				turn := g.Turn(t.Context(), []string{"search"})
				assert.Equal(t, []string{"search"}, offered(turn, "search"))
				permit, err := turn.Begin(t.Context(), "search")
				require.NoError(t, err)
				assert.False(t, permit.Watched())
				assert.Equal(t, t.Context(), permit.Context(), "not even a time limit")
				assert.False(t, permit.End(toolguard.Error))
				turn.Close()
			}
			assert.Empty(t, g.Tools())
		})
	}
	assert.Zero(t, store.trips.Load())
	assert.Zero(t, store.watched.Load())
}

func must(g *toolguard.Guard, err error) *toolguard.Guard {
	if err != nil {
		panic(err)
	}
	return g
}

// What is nobody's guard withholds nothing, and does not pretend to guard.
func TestNilGuard(t *testing.T) {
	var g *toolguard.Guard
	turn := g.Turn(t.Context(), []string{"search"})
	assert.Equal(t, []string{"search"}, offered(turn, "search"))
	_, err := g.Begin(t.Context(), "search")
	require.ErrorIs(t, err, toolguard.ErrNilGuard)
	_, err = turn.Begin(t.Context(), "search")
	require.ErrorIs(t, err, toolguard.ErrNilGuard)
	var none *toolguard.Turn
	_, err = none.Begin(t.Context(), "search")
	require.ErrorIs(t, err, toolguard.ErrNilGuard)
	none.Close()
	assert.Empty(t, none.Withheld())
	assert.Empty(t, none.Allowed())
	assert.Empty(t, none.Notice())
	assert.False(t, none.Delta(nil).Changed())
	assert.Equal(t, t.Context(), none.Context(t.Context()))
	var permit *toolguard.Permit
	assert.False(t, permit.End(toolguard.Error))
	assert.False(t, new(toolguard.Permit).End(toolguard.Error))
	assert.Equal(t, toolguard.Ignored, permit.EndResult(nil, errDown))
	assert.False(t, permit.Probe())
	assert.NotNil(t, permit.Context())
	g.Close()
	g.EndSession("s")
	assert.Nil(t, g.Tools())
	assert.Nil(t, g.Circuit("", "search"))
	assert.False(t, g.Watches("search"))
}

// A context that is over claims nothing and calls nothing.
func TestContextThatIsOver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "search")
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDown)
		turn := g.Turn(ctx, []string{"search"})
		assert.Len(t, turn.Withheld(), 1)
		_, err := turn.Begin(ctx, "search")
		require.ErrorIs(t, err, errDown)
		_, err = g.Begin(ctx, "search")
		require.ErrorIs(t, err, errDown)
		assert.Equal(t, breaker.Open, g.Circuit("", "search").State())
	})
}

// Keys have nothing to do with each other.
func TestKeys(t *testing.T) {
	type tenant struct{}
	options := watchAll()
	options.Key = func(ctx context.Context) string { return ctx.Value(tenant{}).(string) }
	g := newGuard(t, options)
	ann, bob := context.WithValue(t.Context(), tenant{}, "ann"), context.WithValue(t.Context(), tenant{}, "bob")
	for range 3 {
		require.NoError(t, call(ann, g, "search", toolguard.Error))
	}
	assert.Empty(t, offered(g.Turn(ann, []string{"search"}), "search"))
	assert.NotEmpty(t, offered(g.Turn(bob, []string{"search"}), "search"))
	assert.Nil(t, g.Circuit("bob", "search"))
	require.NoError(t, call(t.Context(), g, "search", toolguard.Error), "a Key that panics leaves the tool unwatched")
	assert.Len(t, g.Tools(), 1)
}
