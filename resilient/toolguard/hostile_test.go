package toolguard_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// A model that is told of other tools goes there. What is broken as well is none, whether
// the list shows it or not, and also if it broke in this very turn.
func TestBrokenToolsAreNoAlternative(t *testing.T) {
	names := []string{"a", "b", "c", "b", "c", ""}
	guardOnly := watchAll()
	guardOnly.Mode = toolguard.GuardOnly
	before := newGuard(t, guardOnly)
	open(t, before, "a")
	open(t, before, "b")
	turn := before.Turn(t.Context(), names)
	_, err := turn.Begin(t.Context(), "a")
	assert.Equal(t, []string{"c"}, refusedBy(t, err).Others)

	since := newGuard(t, watchAll())
	turn = since.Turn(t.Context(), names)
	open(t, since, "a")
	open(t, since, "b")
	_, err = turn.Begin(t.Context(), "a")
	assert.Equal(t, []string{"c"}, refusedBy(t, err).Others)
	assert.Equal(t, []string{"c"}, turn.Others("a"))
}

// What a turn may try itself is an alternative to what it may not.
func TestAProbeIsAnAlternative(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "b")
		time.Sleep(time.Minute)
		open(t, g, "a")
		turn := g.Turn(t.Context(), []string{"a", "b"})
		assert.Equal(t, []string{"b"}, turn.Others("a"))
		_, err := turn.Begin(t.Context(), "b")
		require.NoError(t, err)
		assert.Empty(t, turn.Others("a"), "it is being tried")
		assert.Empty(t, (*toolguard.Turn)(nil).Others("a"))
		assert.Empty(t, new(toolguard.Turn).Others("a"))
	})
}

// Where the budget is spent in mid-turn, no watched tool is left.
func TestNothingIsLeftOfASpentBudget(t *testing.T) {
	options := watchAll()
	options.Exclude = []string{"exit"}
	options.MaxFailuresPerSession = 1
	options.Session = func(context.Context) string { return "s" }
	g := newGuard(t, options)
	turn := g.Turn(t.Context(), []string{"a", "b", "exit"})
	require.NoError(t, call(turn.Context(t.Context()), g, "a", toolguard.Error))
	_, err := turn.Begin(t.Context(), "a")
	assert.Equal(t, []string{"exit"}, refusedBy(t, err).Others)
}

// A Classify that ends its goroutine, as a test's FailNow does, keeps no probe.
func TestClassifyThatEndsItsGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := watchAll()
		options.Classify = func(context.Context, toolguard.Result) (toolguard.Outcome, bool) {
			runtime.Goexit()
			return toolguard.Error, true
		}
		g := newGuard(t, options)
		open(t, g, "a")
		time.Sleep(time.Minute)
		var call sync.WaitGroup
		call.Go(func() {
			_, _ = toolguard.Call(t.Context(), g, "a", 0, func(context.Context, int) (int, error) { return 0, nil })
		})
		call.Wait()
		permit, err := g.Begin(t.Context(), "a")
		require.NoError(t, err)
		assert.True(t, permit.Probe())
	})
}

// A turn keeps its leases and time limits: with a longer one, a probe's call would
// outlive its place, and be late.
func TestLimitsThatGrowInATurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		open(t, g, "a")
		time.Sleep(time.Minute)
		turn := g.Turn(t.Context(), []string{"a"})
		require.NoError(t, g.SetLimits(toolguard.Limits{Timeout: time.Hour}, nil))
		permit, err := turn.Begin(t.Context(), "a")
		require.NoError(t, err)
		require.True(t, permit.Probe())
		deadline, _ := permit.Context().Deadline()
		time.Sleep(time.Until(deadline) - time.Second)
		assert.Len(t, g.Turn(t.Context(), []string{"a"}).Withheld(), 1, "a second probe")
		assert.True(t, permit.End(toolguard.Success), "a call within its limit is not late")
	})
}

// newslessStore panics when it is asked for news.
type newslessStore struct{ breaker.Store }

func (newslessStore) Watch(string, func(breaker.News)) func() { panic("watch") }

func TestStoreThatPanicsForNews(t *testing.T) {
	options := watchAll()
	options.Store = newslessStore{breaker.NewMemoryStore(nil)}
	g := newGuard(t, options)
	require.NotPanics(t, func() { assert.Empty(t, g.Turn(t.Context(), []string{"a"}).Withheld()) })
	open(t, g, "a")
	requireRefused(t, call(t.Context(), g, "a", toolguard.Ignored))
}

// The share is one of the list, where a name may be there twice.
func TestCapOnTheWithheldShareOfNamesThatAreThereTwice(t *testing.T) {
	names := []string{"a", "b", "a", "a", "c"}
	options := watchAll()
	options.MaxWithheldShare = 0.5
	g := newGuard(t, options)
	open(t, g, "a")
	open(t, g, "b")
	assert.Equal(t, []string{"a", "a", "a", "c"}, offered(g.Turn(t.Context(), names), names...))

	options.MaxFailuresPerSession = 1
	options.Session = func(context.Context) string { return "s" }
	g = newGuard(t, options)
	require.NoError(t, call(t.Context(), g, "a", toolguard.Error))
	turn := g.Turn(t.Context(), names)
	assert.Len(t, turn.Withheld(), 3)
	assert.Equal(t, []string{"a", "a", "a"}, offered(turn, names...))
}
