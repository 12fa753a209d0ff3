package toolguard_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// world is one backend, and the agents that want something of it.
type world struct {
	down   bool
	hits   int // of the backend
	wasted int // rounds whose calls all came to nothing
	calls  int // that the models have asked for
}

func (w *world) search(context.Context, string) (string, error) {
	w.hits++
	if w.down {
		return "", errDown
	}
	return "found", nil
}

// model is a pure function of what it is offered and of what came last.
type model func(offered []string, last string) (calls []string)

// persistent wants search while it is offered, and does without it else.
func persistent(offered []string, last string) []string {
	if last == "found" || !slices.Contains(offered, "search") {
		return nil // it answers
	}
	return []string{"search"}
}

// stubborn calls search whatever it is offered or told.
func stubborn(_ []string, last string) []string {
	if last == "found" {
		return nil
	}
	return []string{"search"}
}

// task lets a model work, for at most ten rounds. It reports whether there is an answer.
func (w *world) task(t *testing.T, g *toolguard.Guard, m model, names ...string) bool {
	last := ""
	for range 10 {
		turn := g.Turn(t.Context(), names)
		calls := m(offered(turn, names...), last)
		if len(calls) == 0 {
			turn.Close()
			return true
		}
		useful := false
		for _, name := range calls {
			w.calls++
			result, err := toolguard.Call(turn.Context(t.Context()), g, name, "x", w.search)
			if err != nil {
				last = "error"
				if refused, ok := err.(*toolguard.RefusedError); ok {
					last = refused.Message()
				}
				continue
			}
			last, useful = result, true
		}
		turn.Close()
		if !useful {
			w.wasted++
		}
	}
	return false
}

// The point of it all: rounds wasted by two replicas with ten tasks each.
func TestWastedRounds(t *testing.T) {
	for name, want := range map[string]struct {
		outage, answered, window int
		guards                   func(t *testing.T) []*toolguard.Guard
	}{
		"no breaker": {200, 0, 40, func(t *testing.T) []*toolguard.Guard {
			return []*toolguard.Guard{newGuard(t, toolguard.Options{}), newGuard(t, toolguard.Options{})}
		}},
		"local breakers": {6, 20, 2, func(t *testing.T) []*toolguard.Guard {
			return []*toolguard.Guard{newGuard(t, watchAll()), newGuard(t, watchAll())}
		}},
		"a shared one": {3, 20, 1, func(t *testing.T) []*toolguard.Guard { return onStore(t, newSpy(nil), 2) }},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				guards := want.guards(t)
				w := &world{down: true}
				answered := 0
				for i := range 20 {
					if w.task(t, guards[i%2], persistent, "search", "calc") {
						answered++
					}
				}
				assert.Equal(t, want.outage, w.wasted)
				assert.Equal(t, want.outage, w.hits)
				assert.Equal(t, want.answered, answered)
				for cooldown := time.Minute; cooldown <= 10*time.Minute; cooldown *= 2 {
					time.Sleep(cooldown)
					w.wasted = 0
					for i := range 4 {
						w.task(t, guards[i%2], persistent, "search", "calc")
					}
					assert.Equal(t, want.window, w.wasted)
				}
				w.down, w.wasted = false, 0
				time.Sleep(10 * time.Minute)
				hits := w.hits
				for i := range 20 {
					assert.True(t, w.task(t, guards[i%2], persistent, "search", "calc"))
				}
				assert.Equal(t, hits+20, w.hits, "the first one is the probe, and all are answered by the tool")
				assert.Zero(t, w.wasted)
			})
		})
	}
}

// A106, A113, A117: a model that never stops calls a handler as often as the threshold
// says, and once for each cooldown; it reads why, and no counter moves.
func TestStubbornModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		w := &world{down: true}
		began := time.Now()
		for w.calls < 754 {
			require.False(t, w.task(t, g, func(_ []string, last string) []string {
				if last != "" && last != "error" {
					assert.Contains(t, last, `Tool "search" is temporarily unavailable`)
				}
				time.Sleep(time.Second)
				return stubborn(nil, last)
			}, "search", "calc"))
		}
		assert.GreaterOrEqual(t, time.Since(began), 750*time.Second)
		assert.Equal(t, 3+3, w.hits, "threshold, and probes after 60, 120 and 240 seconds")
		before := g.Circuit("", "search").Snapshot()
		require.Equal(t, breaker.Open, before.State)
		w.task(t, g, stubborn, "search", "calc")
		assert.Equal(t, before, g.Circuit("", "search").Snapshot())
	})
}

// Tools that are registered are the same before and after a hundred sessions at once,
// with trips and recoveries.
func TestRegisteredToolsAreUntouched(t *testing.T) {
	options := toolguard.Options{MonitorAll: true, Limits: toolguard.Limits{RecoveryTimeout: time.Millisecond, RecoveryMultiplier: 1}}
	g := newGuard(t, options)
	names := []string{"a", "b", "c", "d", "e", "f"}
	tools := register(names...)
	before := slices.Clone(tools)
	done := make(chan int)
	for session := range 100 {
		go func() {
			hidden := 0
			for round := range 50 {
				turn := g.Turn(t.Context(), names)
				left := toolguard.Filter(turn, tools, nameOf)
				hidden += len(tools) - len(left)
				for _, tool := range left {
					_, _ = toolguard.Call(turn.Context(t.Context()), g, tool.Name, 0, func(context.Context, int) (int, error) {
						if (session+round)%3 != 0 {
							return 0, errDown
						}
						return 0, nil
					})
				}
				turn.Close()
			}
			done <- hidden
		}()
	}
	hidden := 0
	for range 100 {
		hidden += <-done
	}
	assert.Positive(t, hidden)
	assert.Equal(t, register(names...), tools)
	for i := range tools {
		assert.Same(t, before[i], tools[i])
	}
}
