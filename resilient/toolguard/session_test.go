package toolguard_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

type sessionKey struct{}

func inSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

func budget(n int) toolguard.Options {
	return toolguard.Options{
		MonitorAll: true, Exclude: []string{"final_answer"}, MaxFailuresPerSession: n,
		Session: func(ctx context.Context) string {
			id, _ := ctx.Value(sessionKey{}).(string)
			return id
		},
	}
}

// A105: a model that alternates between broken tools is stopped, and told why.
func TestSessionBudget(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, budget(10))
		names := []string{"a", "b", "c", "final_answer"}
		ctx := inSession(t.Context(), "ann")
		backend, refusals := 0, 0
		var last string
		for round := range 200 { // it never stops by itself, and time passes
			turn := g.Turn(ctx, names)
			_, err := toolguard.Call(turn.Context(ctx), g, names[round%3], 0, func(context.Context, int) (int, error) {
				backend++
				return 0, errDown
			})
			turn.Close()
			require.Error(t, err)
			if refused, ok := err.(*toolguard.RefusedError); ok {
				refusals++
				last = refused.Message()
			}
			time.Sleep(time.Minute)
		}
		assert.Equal(t, 10, backend)
		assert.Equal(t, 190, refusals)
		assert.Equal(t, `Stop calling tools other than "final_answer": 10 calls in this session have failed, and no more are allowed. Go on with what is known, and say what could not be done.`, last)

		turn := g.Turn(ctx, names)
		assert.Equal(t, []string{"final_answer"}, offered(turn, names...), "what is excluded stays")
		assert.Equal(t, last, turn.Notice())
		permit, err := turn.Begin(ctx, "final_answer")
		require.NoError(t, err)
		permit.End(toolguard.Success)

		other := inSession(t.Context(), "bob")
		time.Sleep(time.Hour)
		turn = g.Turn(other, names)
		assert.Len(t, offered(turn, names...), 4, "another session")
		turn.Close()
		assert.NoError(t, call(t.Context(), g, "d", toolguard.Error), "no session, no limit")
		g.EndSession("ann")
		assert.Len(t, offered(g.Turn(ctx, names), names...), 4, "it begins anew")
	})
}

// A tool that is watched is no way out once all failures are spent, also in a turn that has
// begun before; without a turn, or where there is no other tool, none is named.
func TestSpentBudgetLeavesWhatIsNotWatched(t *testing.T) {
	g := newGuard(t, budget(1))
	ctx := inSession(t.Context(), "ann")
	turn := g.Turn(ctx, []string{"a", "b", "final_answer"})
	alone := g.Turn(ctx, []string{"a", "b"})
	require.NoError(t, call(turn.Context(ctx), g, "a", toolguard.Error))
	_, err := turn.Begin(ctx, "b")
	assert.Equal(t, []string{"final_answer"}, refusedBy(t, err).Others)
	_, err = alone.Begin(ctx, "b")
	assert.Contains(t, refusedBy(t, err).Message(), "Stop calling tools: 1 call in this session has failed")
	_, err = g.Begin(ctx, "b")
	assert.Contains(t, refusedBy(t, err).Message(), "Stop calling tools: 1 call in this session has failed")
}

// Sessions that are over are forgotten, the oldest first.
func TestSessionsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		options := budget(1)
		options.MaxCircuits = 16
		options.Limits.FailureThreshold = 1_000_000
		g := newGuard(t, options)
		for i := range 1000 {
			require.NoError(t, call(inSession(t.Context(), fmt.Sprint(i)), g, "a", toolguard.Error))
			time.Sleep(time.Millisecond)
		}
		refused := 0
		for i := range 1000 {
			if _, err := g.Begin(inSession(t.Context(), fmt.Sprint(i)), "a"); err != nil {
				refused++
			}
		}
		assert.LessOrEqual(t, refused, 16)
		assert.GreaterOrEqual(t, refused, 14)
		_, err := g.Begin(inSession(t.Context(), "999"), "a")
		requireRefused(t, err)
	})
}
