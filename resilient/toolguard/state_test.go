package toolguard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// Whatever turns, calls and ends come in whatever order, in several turns at once: no
// two probes are out, what a turn offers it can call once, and a tool whose turns are
// closed comes back when its time is over.
func TestAnyOrder(t *testing.T) {
	bubble(t, func(t *testing.T) { rapid.Check(inBubble{t}, anyOrder) })
}

// inBubble hides the test's deadline from rapid, which cannot be asked for in a bubble.
type inBubble struct{ *testing.T }

func anyOrder(t *rapid.T) {
	options := watchAll()
	options.Logger = silent
	options.Limits = toolguard.Limits{ // short, as rapid counts a bubble's time
		RecoveryTimeout: 60 * time.Millisecond, MaxRecoveryTimeout: 600 * time.Millisecond,
		ProbeLease: 120 * time.Millisecond, Timeout: 30 * time.Millisecond,
	}
	if rapid.Bool().Draw(t, "store") {
		options.Store = newSpy(nil)
	}
	guards := []*toolguard.Guard{must(toolguard.New(&options))}
	if options.Store != nil {
		guards = append(guards, must(toolguard.New(&options)))
	}
	names := []string{"a", "b"}
	var turns []*toolguard.Turn
	var permits []*toolguard.Permit
	t.Repeat(map[string]func(*rapid.T){
		"turn": func(t *rapid.T) {
			g := rapid.SampledFrom(guards).Draw(t, "guard")
			turns = append(turns, g.Turn(t.Context(), names))
		},
		"begin": func(t *rapid.T) {
			if len(turns) == 0 {
				t.Skip()
			}
			turn := rapid.SampledFrom(turns).Draw(t, "turn")
			permit, err := turn.Begin(t.Context(), rapid.SampledFrom(names).Draw(t, "tool"))
			if err != nil {
				var refused *toolguard.RefusedError
				require.ErrorAs(t, err, &refused)
				require.NotEmpty(t, refused.Message())
				return
			}
			permits = append(permits, permit)
		},
		"end": func(t *rapid.T) {
			if len(permits) == 0 {
				t.Skip()
			}
			permit := rapid.SampledFrom(permits).Draw(t, "permit")
			permit.End(toolguard.Outcome(rapid.IntRange(0, 5).Draw(t, "outcome")))
			assert.False(t, permit.End(toolguard.Error))
		},
		"close": func(t *rapid.T) {
			if len(turns) == 0 {
				t.Skip()
			}
			rapid.SampledFrom(turns).Draw(t, "turn").Close()
		},
		"sleep": func(t *rapid.T) {
			time.Sleep(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 60, 120, 150, 600, 1200}).Draw(t, "ms")) * time.Millisecond)
		},
		"": func(t *rapid.T) {
			for _, g := range guards {
				for _, status := range g.Tools() {
					require.LessOrEqual(t, status.Probes, 1)
				}
			}
		},
	})
	for _, turn := range turns {
		turn.Close()
	}
	for _, permit := range permits {
		permit.End(toolguard.Ignored)
	}
	time.Sleep(2 * time.Second) // the longest cooldown, or the lease with its margin
	for _, g := range guards {
		turn := g.Turn(t.Context(), names)
		assert.Empty(t, turn.Withheld(), "all of them are back")
		for _, name := range names {
			permit, err := turn.Begin(t.Context(), name)
			require.NoError(t, err)
			permit.End(toolguard.Success)
		}
		turn.Close()
	}
	for _, g := range guards {
		for _, status := range g.Tools() {
			assert.Equal(t, breaker.Closed, status.State)
		}
		g.Close()
	}
}
