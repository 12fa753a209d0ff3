package resilienttest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

var (
	get    = resilient.Idempotent("get")
	create = resilient.NonIdempotent("create")
)

// replayed is a guard in replay mode, with what it reports, over a state that a
// test can change.
type replayed struct {
	*resilient.Guard
	state   int
	reports reports
	events  resilienttest.Recorder
}

// newReplayed wires the options for replay.
func newReplayed(t *testing.T, policy resilient.Policy, options *resilient.Options) *replayed {
	t.Helper()
	r := new(replayed)
	options.Replay = resilienttest.Replay(&r.reports, func(context.Context) (int, error) { return r.state, nil })
	options.Observers = append(options.Observers, &r.events)
	r.Guard = newGuard(t, policy, options)
	return r
}

// TestReplayRunsAnnotatedOpsTwice is A98's test mode: what is annotated runs twice,
// what is not runs once.
func TestReplayRunsAnnotatedOpsTwice(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	var reads, writes resilienttest.Script[int]
	_, err := resilient.Execute(t.Context(), r.Guard, get, reads.Run)
	require.NoError(t, err)
	_, err = resilient.Execute(t.Context(), r.Guard, create, writes.Run)
	require.NoError(t, err)
	assert.Len(t, reads.Runs(), 2)
	assert.Len(t, writes.Runs(), 1)
	assert.Empty(t, r.reports.all())
}

// A policy that repeats every op does not make an op idempotent.
func TestReplayGoesByTheAnnotationAlone(t *testing.T) {
	policy := impatient()
	policy.Retry.IdempotentOnly = false
	r := newReplayed(t, policy, quiet())
	var s resilienttest.Script[int]
	require.NoError(t, resilient.Do(t.Context(), r.Guard, create, s.RunErr))
	assert.Len(t, s.Runs(), 1)

	policy = impatient()
	policy.Retry.MaxAttempts = 1
	require.NoError(t, r.SetPolicy(policy))
	require.NoError(t, resilient.Do(t.Context(), r.Guard, get, s.RunErr))
	assert.Len(t, s.Runs(), 3, "an op that is idempotent, and not retried, runs twice")
}

func TestReplayFindsAWrongAnnotation(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	put := func(context.Context) error { r.state = 7; return nil }
	add := func(context.Context) error { r.state++; return nil }
	require.NoError(t, resilient.Do(t.Context(), r.Guard, resilient.Idempotent("put"), put))
	assert.Empty(t, r.reports.all(), "the first run may change the state")
	require.NoError(t, resilient.Do(t.Context(), r.Guard, resilient.NonIdempotent("add"), add))
	assert.Empty(t, r.reports.all())
	require.NoError(t, resilient.Do(t.Context(), r.Guard, resilient.Idempotent("add"), add))
	assert.Equal(t, []string{
		"replay: add of orders is declared idempotent, but a second run changes the state:\n" +
			"\tafter one run:  9\n\tafter two runs: 10",
	}, r.reports.all())
}

// Whatever the way into the guard, there are two runs and the caller gets what the
// first one returned.
func TestReplayKeepsTheFirstResult(t *testing.T) {
	s := &resilienttest.Script[int]{}
	one := func(ctx context.Context, _ string) (int, error) { return s.Run(ctx) }
	oneErr := func(ctx context.Context, _ string) error { return s.RunErr(ctx) }
	for name, call := range map[string]func(ctx context.Context, g *resilient.Guard) (int, error){
		"Execute": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return resilient.Execute(ctx, g, get, s.Run)
		},
		"Do": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return 1, resilient.Do(ctx, g, get, s.RunErr)
		},
		"Async": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return resilient.Async(ctx, g, get, s.Run).Await(ctx)
		},
		"Wrap": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return resilient.Wrap(g, get, one)(ctx, "")
		},
		"Wrap0": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return resilient.Wrap0(g, get, s.Run)(ctx)
		},
		"WrapErr": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return 1, resilient.WrapErr(g, get, oneErr)(ctx, "")
		},
		"WrapErr0": func(ctx context.Context, g *resilient.Guard) (int, error) {
			return 1, resilient.WrapErr0(g, get, s.RunErr)(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			*s = resilienttest.Script[int]{Steps: steps{{Value: 1}, {Value: 2, Err: errDown}}}
			r := newReplayed(t, impatient(), quiet())
			value, err := call(t.Context(), r.Guard)
			require.NoError(t, err)
			assert.Equal(t, 1, value)
			assert.Len(t, s.Runs(), 2)
			assert.Equal(t, []string{"replay: get of orders is declared idempotent, but a second run fails: orders are down"},
				r.reports.all())
		})
	}
}

// The second run is in the attempt of the first: the same number and deadline, one
// event, one outcome, and no retry of its own.
func TestReplayLeavesNoTrace(t *testing.T) {
	policy := impatient()
	policy.Circuit.FailureThreshold = 1
	r := newReplayed(t, policy, quiet())
	s := resilienttest.Script[int]{Steps: steps{{}, {Err: errDown}}}
	require.NoError(t, resilient.Do(t.Context(), r.Guard, get, s.RunErr))
	runs := s.Runs()
	require.Len(t, runs, 2)
	assert.Equal(t, []int{1, 1}, []int{runs[0].Attempt, runs[1].Attempt})
	assert.Equal(t, runs[0].Deadline, runs[1].Deadline)
	assert.Equal(t, breaker.Closed, r.Circuit().State())

	all := resilienttest.Events[resilient.Event](&r.events)
	require.Len(t, all, 2)
	attempt, call := all[0].(resilient.AttemptDone), all[1].(resilient.CallDone)
	assert.Equal(t, resilient.OutcomeSuccess, attempt.Outcome)
	assert.Equal(t, 1, call.Attempts)
	assert.NoError(t, call.Err)
}

// The test mode adds no attempt to those of the policy (A82).
func TestReplayFollowsSuccessOnly(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	down := resilienttest.Script[int]{Steps: steps{{Err: errDown}}}
	require.ErrorIs(t, resilient.Do(t.Context(), r.Guard, get, down.RunErr), errDown)
	assert.Len(t, down.Runs(), 3, "three attempts")

	late := resilienttest.Script[int]{Steps: steps{{Err: errDown}, {}}}
	require.NoError(t, resilient.Do(t.Context(), r.Guard, get, late.RunErr))
	var attempts []int
	for _, run := range late.Runs() {
		attempts = append(attempts, run.Attempt)
	}
	assert.Equal(t, []int{1, 2, 2}, attempts)
	assert.Empty(t, r.reports.all())
}

// What the guard does not call a failure is no finding.
func TestReplayJudgesTheSecondRunAsTheGuardDoes(t *testing.T) {
	errGone := errors.New("gone")
	for name, c := range map[string]struct {
		second  error
		reports int
	}{
		"failure":             {second: errDown, reports: 1},
		"permanent":           {second: resilient.Permanent(errDown), reports: 1},
		"answer":              {second: fmt.Errorf("delete: %w", errGone)},
		"neutral":             {second: resilient.Neutral(errDown)},
		"another's rejection": {second: new(resilient.RejectedError)},
	} {
		t.Run(name, func(t *testing.T) {
			options := quiet()
			options.Classify = resilient.Answers(errGone)
			r := newReplayed(t, impatient(), options)
			s := resilienttest.Script[int]{Steps: steps{{}, {Err: c.second}}}
			require.NoError(t, resilient.Do(t.Context(), r.Guard, resilient.Idempotent("delete"), s.RunErr))
			assert.Len(t, s.Runs(), 2)
			assert.Len(t, r.reports.all(), c.reports)
		})
	}
}

func TestReplayTakesACancellationForNoFinding(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	require.NoError(t, resilient.Do(ctx, r.Guard, get, func(ctx context.Context) error {
		if runs++; runs == 2 {
			cancel()
		}
		return ctx.Err()
	}))
	assert.Equal(t, 2, runs)
	assert.Empty(t, r.reports.all())
}

func TestReplayReportsAPanicAndGoesOn(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	s := resilienttest.Script[int]{Steps: steps{{Value: 1}, {Panic: "boom"}}}
	value, err := resilient.Execute(t.Context(), r.Guard, get, s.Run)
	require.NoError(t, err)
	assert.Equal(t, 1, value)
	require.Len(t, r.reports.all(), 1)
	assert.Contains(t, r.reports.all()[0], "boom")
}

// A test that fails for good inside of the function ends, and the attempt with it.
func TestReplayLetsGoexitThrough(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	runs, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		_ = resilient.Do(context.Background(), r.Guard, get, func(context.Context) error {
			if runs++; runs == 2 {
				runtime.Goexit()
			}
			return nil
		})
		t.Error("the goroutine went on")
	}()
	<-ended
	assert.Len(t, r.reports.all(), 1)
	assert.Len(t, resilienttest.Events[resilient.CallDone](&r.events), 1)
}

func TestReplayDoesNotRunToolsInAReadOnlyPlan(t *testing.T) {
	options := quiet()
	options.ReadOnlyPlan = func(phase any) bool { return phase == "strategize" }
	r := newReplayed(t, impatient(), options)
	var s resilienttest.Script[int]
	tools := resilient.Idempotent("run_tools").ExecutesTools()
	require.NoError(t, resilient.Do(t.Context(), r.Guard, tools.InPlan("strategize"), s.RunErr))
	assert.Len(t, s.Runs(), 1)
	require.NoError(t, resilient.Do(t.Context(), r.Guard, tools.InPlan("execute"), s.RunErr))
	assert.Len(t, s.Runs(), 3)
}

func TestReplayKeepsToTheTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplayed(t, impatient(), quiet())
		op := get.WithTotalTimeout(10 * time.Second)

		runs := 0
		slow := func(context.Context) error { runs++; time.Sleep(10 * time.Second); return nil }
		require.NoError(t, resilient.Do(t.Context(), r.Guard, op, slow), "a success is kept")
		assert.Equal(t, 1, runs, "and not replayed when the time is over")

		hangs := resilienttest.Script[int]{Steps: steps{{Value: 1, Wait: time.Second}, {Hang: true}}}
		began := time.Now()
		value, err := resilient.Execute(t.Context(), r.Guard, op, hangs.Run)
		require.NoError(t, err)
		assert.Equal(t, 1, value)
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Len(t, r.reports.all(), 1)
	})
}

// A second run that ignores its context is left behind, as a first one is.
func TestReplayInAFutureIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplayed(t, impatient(), quiet())
		runs, release := 0, make(chan struct{})
		future := resilient.Async(t.Context(), r.Guard, get.WithTotalTimeout(time.Second), func(context.Context) (int, error) {
			if runs++; runs == 2 {
				<-release
			}
			return runs, nil
		})
		began := time.Now()
		value, err := future.Await(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, value)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Len(t, r.reports.all(), 1)
		close(release)
		synctest.Wait()
	})
}

func TestReplayTellsOfAProbeThatFails(t *testing.T) {
	ok, fails, panics := resilienttest.Step[int]{}, resilienttest.Step[int]{Err: errDown}, resilienttest.Step[int]{Panic: "boom"}
	for name, c := range map[string]struct {
		probe  steps
		report string
		runs   int
	}{
		"fails at first":    {steps{fails}, "replay: the probe failed at get of orders: orders are down", 1},
		"fails afterwards":  {steps{ok, fails}, "replay: the probe failed at get of orders: orders are down", 2},
		"panics at first":   {steps{panics}, "replay: the probe panicked at get of orders: boom", 1},
		"panics afterwards": {steps{ok, panics}, "replay: the probe panicked at get of orders: boom", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var told reports
			probe, s := resilienttest.Script[int]{Steps: c.probe}, resilienttest.Script[int]{}
			options := quiet()
			options.Replay = resilienttest.Replay(&told, probe.Run)
			require.NoError(t, resilient.Do(t.Context(), newGuard(t, impatient(), options), get, s.RunErr))
			assert.Len(t, s.Runs(), c.runs)
			assert.Equal(t, []string{c.report}, told.all())
		})
	}
}

// A probe may read through the guard itself, with the values of the call and
// without its deadline.
func TestReplayDoesNotReplayItsProbe(t *testing.T) {
	type key struct{}
	var told reports
	var g *resilient.Guard
	var read, s resilienttest.Script[int]
	options := quiet()
	options.Replay = resilienttest.Replay(&told, func(ctx context.Context) (int, error) {
		_, limited := ctx.Deadline()
		assert.False(t, limited)
		assert.Equal(t, "value", ctx.Value(key{}))
		return resilient.Execute(ctx, g, resilient.Idempotent("count"), read.Run)
	})
	g = newGuard(t, impatient(), options)
	require.NoError(t, resilient.Do(context.WithValue(t.Context(), key{}, "value"), g, get, s.RunErr))
	assert.Len(t, s.Runs(), 2)
	assert.Len(t, read.Runs(), 2, "once after each run")
	assert.Empty(t, told.all())
}

func TestReplayReachesInnerCalls(t *testing.T) {
	r := newReplayed(t, impatient(), quiet())
	var inner resilienttest.Script[int]
	require.NoError(t, resilient.Do(t.Context(), r.Guard, get, func(ctx context.Context) error {
		return resilient.Do(ctx, r.Guard, resilient.Idempotent("inner"), inner.RunErr)
	}))
	assert.Len(t, inner.Runs(), 4, "twice in each run of the outer one")
}

// A state that is equal whatever happens would find nothing, and say nothing.
func TestReplayRefusesAStateThatTellsNothing(t *testing.T) {
	var told reports
	assert.Nil(t, resilienttest.Replay(&told, func(context.Context) (*int, error) { return nil, nil }))
	assert.Nil(t, resilienttest.Replay(&told, func(context.Context) (any, error) { return nil, nil }))
	assert.Nil(t, resilienttest.Replay(&told, func(context.Context) (chan int, error) { return nil, nil }))
	assert.Len(t, told.all(), 3)
	assert.Contains(t, told.all()[0], "of kind ptr")
}

// The hook is anybody's: one that panics is logged, and the call is what it was.
func TestReplayHookIsContained(t *testing.T) {
	for name, hook := range map[string]resilient.ReplayFunc{
		"before": func(context.Context, resilient.Call) func(resilient.Outcome, error) { panic("boom") },
		"after": func(context.Context, resilient.Call) func(resilient.Outcome, error) {
			return func(resilient.Outcome, error) { panic("boom") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			g := newGuard(t, impatient(), &resilient.Options{Replay: hook, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			s := resilienttest.Script[int]{Steps: steps{{Value: 1}, {Value: 2}}}
			value, err := resilient.Execute(t.Context(), g, get, s.Run)
			require.NoError(t, err)
			assert.Equal(t, 1, value)
			assert.Contains(t, log.String(), "boom")
			assert.Contains(t, log.String(), "in=Replay")
		})
	}
}

// The hook is given names and errors as they may leave.
func TestReplayHookGetsNoSecrets(t *testing.T) {
	const secret = "password=hunter2"
	errSecret := errors.New(secret)
	g := newGuard(t, impatient(), &resilient.Options{
		Replay: func(_ context.Context, call resilient.Call) func(resilient.Outcome, error) {
			assert.NotContains(t, call.Operation, "hunter2")
			return func(outcome resilient.Outcome, err error) {
				assert.Equal(t, resilient.OutcomeFailure, outcome)
				assert.ErrorIs(t, err, errSecret)
				assert.NotContains(t, err.Error(), "hunter2")
			}
		},
	})
	s := resilienttest.Script[int]{Steps: steps{{}, {Err: errSecret}}}
	require.NoError(t, resilient.Do(t.Context(), g, resilient.Idempotent(secret), s.RunErr))
	assert.Len(t, s.Runs(), 2)
}

// A program, where nothing is replayed, pays nothing for it.
func TestReplayCostsNothingWhereItIsOff(t *testing.T) {
	g := newGuard(t, impatient(), quiet())
	ctx, n := context.Background(), 0
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		_, _ = resilient.Execute(ctx, g, get, func(context.Context) (int, error) { n++; return n, nil })
	}), 1.0, "the call's context")
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(ctx, g, get, func(context.Context) error { n++; return nil })
	}), 1.0, "the call's context")
}
