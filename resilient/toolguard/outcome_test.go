package toolguard_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// R27, A107: only an Error counts; what says nothing gives a probe back at once.
func TestWhatSaysNothing(t *testing.T) {
	for _, o := range []toolguard.Outcome{toolguard.Ignored, toolguard.Denied, toolguard.Interrupted, toolguard.Running, 200} {
		t.Run(o.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newGuard(t, watchAll())
				for range 2 {
					require.NoError(t, call(t.Context(), g, "search", toolguard.Error))
				}
				for range 50 {
					require.NoError(t, call(t.Context(), g, "search", o))
				}
				assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
				assert.Equal(t, 2, g.Circuit("", "search").Snapshot().Failures, "it is no success either")
				require.NoError(t, call(t.Context(), g, "search", toolguard.Error))
				time.Sleep(time.Minute)
				for range 50 {
					turn := g.Turn(t.Context(), []string{"search"})
					require.Empty(t, turn.Withheld(), "free at once")
					permit, err := turn.Begin(t.Context(), "search")
					require.NoError(t, err)
					require.True(t, permit.Probe())
					permit.End(o)
				}
				assert.Equal(t, breaker.HalfOpen, g.Circuit("", "search").State())
			})
		})
	}
	assert.Equal(t, toolguard.Ignored, *new(toolguard.Outcome))
}

// Only consecutive errors count.
func TestSuccessClearsTheCount(t *testing.T) {
	g := newGuard(t, watchAll())
	for range 10 {
		require.NoError(t, call(t.Context(), g, "search", toolguard.Error))
		require.NoError(t, call(t.Context(), g, "search", toolguard.Error))
		require.NoError(t, call(t.Context(), g, "search", toolguard.Success))
	}
	assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
}

// End counts once, whoever calls it.
func TestEndCountsOnce(t *testing.T) {
	g := newGuard(t, watchAll())
	for range 2 {
		permit, err := g.Begin(t.Context(), "search")
		require.NoError(t, err)
		assert.True(t, permit.End(toolguard.Error))
		for range 10 {
			assert.False(t, permit.End(toolguard.Error))
			assert.Equal(t, toolguard.Error, permit.EndResult(nil, errDown))
		}
	}
	assert.Equal(t, 2, g.Circuit("", "search").Snapshot().Failures)
}

type value struct{ ok bool }

// How a call's end is judged, by types and the context, never by a text.
func TestJudgement(t *testing.T) {
	type run func(context.Context, string) (value, error)
	returns := func(err error) run {
		return func(context.Context, string) (value, error) { return value{err == nil}, err }
	}
	hangs := func(ctx context.Context, _ string) (value, error) {
		<-ctx.Done()
		return value{}, ctx.Err()
	}
	for name, test := range map[string]struct {
		run  run
		want toolguard.Outcome
	}{
		"nil":                      {returns(nil), toolguard.Success},
		"an error":                 {returns(errDown), toolguard.Error},
		"a text like a denial":     {returns(errors.New("403 permission denied, cancelled, bad arguments")), toolguard.Error},
		"somebody's deadline":      {returns(context.DeadlineExceeded), toolguard.Error},
		"a cancellation, not ours": {returns(context.Canceled), toolguard.Error},
		"marked denied":            {returns(fmt.Errorf("a: %w", toolguard.WithOutcome(errDown, toolguard.Denied))), toolguard.Denied},
		"marked ignored":           {returns(errors.Join(errDown, toolguard.WithOutcome(errDown, toolguard.Ignored))), toolguard.Ignored},
		"marked running":           {returns(toolguard.WithOutcome(errDown, toolguard.Running)), toolguard.Running},
		"neutral":                  {returns(resilient.Neutral(errDown)), toolguard.Ignored},
		"permanent":                {returns(resilient.Permanent(errDown)), toolguard.Error},
		"another guard's refusal":  {returns(fmt.Errorf("agent: %w", &toolguard.RefusedError{Tool: "calc"})), toolguard.Ignored},
		"a circuit inside":         {returns(&resilient.RejectedError{Service: "db"}), toolguard.Error},
		"retries in vain":          {returns(&resilient.ExhaustedError{Last: errDown}), toolguard.Error},
		"our deadline":             {hangs, toolguard.Error},
		"classified":               {returns(errClassified), toolguard.Denied},
		"classify has no opinion":  {returns(errPanics), toolguard.Error},
		"a value that failed":      {func(context.Context, string) (value, error) { return value{false}, nil }, toolguard.Error},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var got []toolguard.Outcome
				options := watchAll()
				options.Classify = classify
				g := newGuard(t, options)
				permit, err := g.Begin(t.Context(), "search")
				require.NoError(t, err)
				v, err := test.run(permit.Context(), "x")
				got = append(got, permit.EndResult(v, err))
				assert.Equal(t, []toolguard.Outcome{test.want}, got)

				_, calledErr := toolguard.Call(t.Context(), g, "search", "x", test.run)
				assert.Equal(t, err, calledErr, "unchanged")
				failures := 0
				if c := g.Circuit("", "search"); c != nil {
					failures = c.Snapshot().Failures
				}
				assert.Equal(t, test.want == toolguard.Error, failures == 2, "%d failures", failures)
			})
		})
	}
}

var (
	errClassified = errors.New("classified")
	errPanics     = errors.New("panics")
)

// A119: failures that are in the value.
func classify(_ context.Context, r toolguard.Result) (toolguard.Outcome, bool) {
	switch {
	case errors.Is(r.Err, errClassified):
		return toolguard.Denied, true
	case errors.Is(r.Err, errPanics):
		panic("classify")
	case r.Err == nil && !r.Value.(value).ok:
		return toolguard.Error, true
	}
	return toolguard.Ignored, false
}

// The caller who gives up is no outage; the tool's own limit is, whatever the caller
// does later.
func TestCancellationAndDeadlines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hang := func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}
		for _, mine := range []error{nil, errDown} {
			g := newGuard(t, watchAll())
			for range 50 {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(mine) })
				_, err := toolguard.Call(ctx, g, "search", 0, hang)
				require.Error(t, err)
			}
			assert.Nil(t, g.Circuit("", "search"), "Interrupted")
		}
		g := newGuard(t, toolguard.Options{MonitorAll: true, Tools: map[string]toolguard.Limits{"slow": {Timeout: time.Minute}, "free": {Timeout: toolguard.NoTimeout}}})
		for name, limit := range map[string]time.Duration{"search": 30 * time.Second, "slow": time.Minute, "free": time.Hour} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			_, err := toolguard.Call(ctx, g, name, 0, hang)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, limit, time.Since(began))
			assert.Equal(t, 1, g.Circuit("", name).Snapshot().Failures, "an Error, whoever's deadline it is")
			var ours *resilient.TimeoutError
			assert.Equal(t, name != "free", errors.As(err, &ours))
		}
	})
}

// A caller who gives up while a call inside waits for its next attempt has interrupted the
// tool, whose attempts are one outcome: nobody knows what the next one would have come to.
func TestCallerWhoGivesUpBetweenAttempts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		policy := resilient.DefaultPolicy()
		policy.Circuit.Enabled = false
		retry, err := resilient.NewGuard("retry", policy, &resilient.Options{Logger: silent})
		require.NoError(t, err)
		g := newGuard(t, watchAll())
		search := func(ctx context.Context, attempts int) error {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			_, err := toolguard.Call(ctx, g, "search", 0, func(ctx context.Context, _ int) (int, error) {
				return resilient.Execute(ctx, retry, resilient.Idempotent("find"), func(ctx context.Context) (int, error) {
					if resilient.Attempt(ctx) == attempts {
						time.AfterFunc(time.Millisecond, func() { cancel(errClassified) })
					}
					return 0, errDown
				})
			})
			return err
		}
		for range 50 {
			require.ErrorIs(t, search(t.Context(), 1), errClassified)
		}
		assert.Empty(t, g.Tools(), "Interrupted")
		require.ErrorIs(t, search(t.Context(), policy.Retry.MaxAttempts), errDown)
		assert.Equal(t, 1, g.Circuit("", "search").Snapshot().Failures, "all attempts were made before")
	})
}

// A panic and a Goexit are errors, and go on as what they are.
func TestPanicAndGoexit(t *testing.T) {
	g := newGuard(t, watchAll())
	assert.PanicsWithValue(t, "mine", func() {
		_, _ = toolguard.Call(t.Context(), g, "search", 0, func(context.Context, int) (int, error) { panic("mine") })
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = toolguard.Call(t.Context(), g, "search", 0, func(context.Context, int) (int, error) {
			runtime.Goexit()
			return 0, nil
		})
	}()
	<-done
	assert.Equal(t, 2, g.Circuit("", "search").Snapshot().Failures)
}

// A107: arguments are checked before the permit is taken, and count for nothing.
func TestArgumentsAreCheckedFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		errArguments := errors.New("query must not be empty")
		options := watchAll()
		options.CheckArguments = func(_ context.Context, tool string, arguments any) error {
			assert.Equal(t, "search", tool)
			switch arguments.(string) {
			case "":
				return errArguments
			case "panic":
				panic("check")
			}
			return nil
		}
		g := newGuard(t, options)
		ran := 0
		search := func(context.Context, string) (int, error) { ran++; return ran, errDown }
		for range 50 {
			_, err := toolguard.Call(t.Context(), g, "search", "", search)
			require.ErrorIs(t, err, errArguments)
		}
		assert.Zero(t, ran)
		assert.Nil(t, g.Circuit("", "search"))
		for range 3 {
			_, err := toolguard.Call(t.Context(), g, "search", "panic", search)
			require.ErrorIs(t, err, errDown, "a check that panics has no opinion")
		}
		time.Sleep(time.Minute)
		turn := g.Turn(t.Context(), []string{"search"})
		ctx := turn.Context(t.Context())
		_, err := toolguard.Call(ctx, g, "search", "", search)
		require.ErrorIs(t, err, errArguments)
		_, err = toolguard.Call(ctx, g, "search", "good", func(context.Context, string) (int, error) { return 1, nil })
		require.NoError(t, err, "the probe is still there")
		assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
	})
}

// A111: retries of one call are one outcome, whether they are inside or outside.
func TestRetriesAreOneOutcome(t *testing.T) {
	for name, each := range map[string]time.Duration{"one context": 0, "a context for each attempt": time.Second} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				policy := resilient.DefaultPolicy()
				policy.AttemptTimeout = each
				policy.Circuit.Enabled = false
				retry, err := resilient.NewGuard("retry", policy, &resilient.Options{Logger: silent})
				require.NoError(t, err)
				ran := 0
				backend := func(context.Context) (int, error) { ran++; return 0, errDown }

				inside := newGuard(t, watchAll())
				for range 2 {
					_, _ = toolguard.Call(t.Context(), inside, "search", 0, func(ctx context.Context, _ int) (int, error) {
						return resilient.Execute(ctx, retry, resilient.Idempotent("search"), backend)
					})
				}
				assert.Equal(t, 6, ran)
				assert.Equal(t, 2, inside.Circuit("", "search").Snapshot().Failures)

				outside := newGuard(t, watchAll())
				ran = 0
				for range 2 {
					_, _ = resilient.Execute(t.Context(), retry, resilient.Idempotent("search"), func(ctx context.Context) (int, error) {
						return toolguard.Call(ctx, outside, "search", 0, func(ctx context.Context, _ int) (int, error) { return backend(ctx) })
					})
				}
				assert.Equal(t, 6, ran)
				assert.Equal(t, 2, outside.Circuit("", "search").Snapshot().Failures)
				open(t, outside, "calc")
				ran = 0
				_, err = resilient.Execute(t.Context(), retry, resilient.Idempotent("calc"), func(ctx context.Context) (int, error) {
					ran++
					return toolguard.Call(ctx, outside, "calc", 0, func(ctx context.Context, _ int) (int, error) { return backend(ctx) })
				})
				requireRefused(t, err)
				assert.Equal(t, 1, ran, "a refusal is not retried")
			})
		})
	}
}

// A tool whose own circuit is open is withheld, and not called again and again for as long
// as that one lasts: with the default policy it opens before the tool has failed three times.
func TestCircuitInsideOfTheTool(t *testing.T) {
	bubble(t, func(t *testing.T) {
		db, err := resilient.NewGuard("db", resilient.DefaultPolicy(), &resilient.Options{Logger: silent})
		require.NoError(t, err)
		g, rounds, down := newGuard(t, watchAll()), 0, true
		round := func() bool {
			turn := g.Turn(t.Context(), []string{"search"})
			defer turn.Close()
			if len(offered(turn, "search")) == 0 {
				return false
			}
			rounds++
			_, err := toolguard.Call(turn.Context(t.Context()), g, "search", 0, func(ctx context.Context, _ int) (int, error) {
				return resilient.Execute(ctx, db, resilient.Idempotent("find"), func(context.Context) (int, error) {
					if down {
						return 0, errDown
					}
					return 0, nil
				})
			})
			return err != nil
		}
		for rounds < 100 && round() {
		}
		assert.Equal(t, 3, rounds)
		assert.Equal(t, breaker.Open, db.Circuit().State())

		// A call of another guard that was refused says nothing about this tool.
		outer := newGuard(t, watchAll())
		for range 50 {
			_, err := toolguard.Call(t.Context(), outer, "agent", 0, func(ctx context.Context, _ int) (int, error) {
				return 0, call(ctx, g, "search", toolguard.Success)
			})
			requireRefused(t, err)
		}
		assert.Empty(t, outer.Tools())

		down = false
		time.Sleep(time.Minute)
		assert.False(t, round())
		assert.Equal(t, 4, rounds, "the probe")
		assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
	})
}

// A 429 that says 300 s keeps the tool away for 300 s, although its first cooldown is 60.
func TestRetryAfter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		_, err := toolguard.Call(t.Context(), g, "search", 0, func(context.Context, int) (int, error) {
			return 0, resilient.RetryAfter(errDown, 300*time.Second)
		})
		require.ErrorIs(t, err, errDown)
		for range 299 {
			require.Empty(t, offered(g.Turn(t.Context(), []string{"search"}), "search"))
			_, err := g.Begin(t.Context(), "search")
			require.Error(t, err)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Second)
		assert.NotEmpty(t, offered(g.Turn(t.Context(), []string{"search"}), "search"))

		g = newGuard(t, watchAll())
		for _, short := range []error{
			resilient.RetryAfter(errDown, -1), toolguard.WithOutcome(resilient.RetryAfter(errDown, time.Hour), toolguard.Denied),
		} {
			_, _ = toolguard.Call(t.Context(), g, "search", 0, func(context.Context, int) (int, error) { return 0, short })
		}
		assert.Equal(t, breaker.Closed, g.Circuit("", "search").State())
	})
}

// The hint holds also where the call has a guarded one inside, which asks a server and
// gives up since it may not wait so long.
func TestRetryAfterOfACallInside(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newGuard(t, watchAll())
		server, err := resilient.NewGuard("server", resilient.DefaultPolicy(), &resilient.Options{Logger: silent})
		require.NoError(t, err)
		_, err = toolguard.Call(t.Context(), g, "search", 0, func(ctx context.Context, _ int) (int, error) {
			return resilient.Execute(ctx, server, resilient.Idempotent("find"), func(context.Context) (int, error) {
				return 0, resilient.RetryAfter(errDown, 300*time.Second)
			})
		})
		require.ErrorIs(t, err, errDown)
		time.Sleep(299 * time.Second)
		require.Empty(t, offered(g.Turn(t.Context(), []string{"search"}), "search"))
		time.Sleep(time.Second)
		assert.NotEmpty(t, offered(g.Turn(t.Context(), []string{"search"}), "search"))
	})
}

func TestCallOfNothing(t *testing.T) {
	_, err := toolguard.Call[int, int](t.Context(), newGuard(t, watchAll()), "search", 0, nil)
	require.ErrorIs(t, err, resilient.ErrNilFunction)
	_, err = toolguard.Call(t.Context(), nil, "search", 0, func(context.Context, int) (int, error) { return 0, nil })
	require.ErrorIs(t, err, toolguard.ErrNilGuard)
	assert.NoError(t, toolguard.WithOutcome(nil, toolguard.Denied))
	assert.Equal(t, errDown.Error(), toolguard.WithOutcome(errDown, toolguard.Denied).Error())
}
