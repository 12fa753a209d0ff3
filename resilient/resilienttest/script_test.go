package resilienttest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

type steps = []resilienttest.Step[int]

func TestScriptFollowsItsSteps(t *testing.T) {
	s := resilienttest.Script[int]{Steps: steps{{Err: errDown}, {Value: 1}, {Value: 2, Err: errDown}, {Value: 3}}}
	ctx := context.Background()
	for i, want := range []resilienttest.Step[int]{
		{Err: errDown}, {Value: 1}, {Value: 2, Err: errDown}, {Value: 3}, {Value: 3}, {Value: 3}, // the last one again
	} {
		value, err := s.Run(ctx)
		assert.Equal(t, want, resilienttest.Step[int]{Value: value, Err: err}, "run %d", i+1)
	}
	assert.Len(t, s.Runs(), 6)
}

func TestScriptZeroValueSucceeds(t *testing.T) {
	var s resilienttest.Script[*int]
	value, err := s.Run(context.Background())
	assert.Nil(t, value)
	require.NoError(t, err)
	require.NoError(t, s.RunErr(context.Background()))
	assert.Len(t, s.Runs(), 2)
}

func TestScriptPanics(t *testing.T) {
	s := resilienttest.Script[int]{Steps: steps{{Panic: "boom"}, {Value: 1}}}
	assert.PanicsWithValue(t, "boom", func() { _ = s.RunErr(context.Background()) })
	value, err := s.Run(context.Background())
	assert.Equal(t, 1, value)
	require.NoError(t, err)
	assert.Len(t, s.Runs(), 2, "the run that panicked too")
}

func TestScriptWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := resilienttest.Script[int]{Steps: steps{{Value: 1, Err: errDown, Wait: time.Minute}}}
		began := time.Now()
		value, err := s.Run(t.Context())
		assert.Equal(t, 1, value)
		assert.Equal(t, errDown, err)
		assert.Equal(t, time.Minute, time.Since(began))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		value, err = s.Run(ctx)
		assert.Zero(t, value)
		assert.Equal(t, context.DeadlineExceeded, err)
		assert.Equal(t, time.Second, time.Since(began))
	})
}

func TestScriptHangsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := resilienttest.Script[int]{Steps: steps{{Value: 1, Hang: true}}}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Hour, func() { cancel(errors.New("enough")) })
		began := time.Now()
		value, err := s.Run(ctx)
		assert.Zero(t, value)
		assert.Equal(t, context.Canceled, err)
		assert.Equal(t, time.Hour, time.Since(began))
	})
}

func TestScriptRemembersHowItWasRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := resilient.DefaultPolicy()
		policy.Retry.Backoff, policy.Retry.BaseDelay, policy.Retry.Jitter = resilient.BackoffFixed, time.Second, false
		policy.AttemptTimeout = 10 * time.Second
		g := newGuard(t, policy, quiet())
		s := resilienttest.Script[int]{Steps: steps{{Err: errDown}, {Hang: true}, {Value: 1}}}
		began := time.Now()
		_, err := resilient.Execute(t.Context(), g, resilient.Idempotent("get"), s.Run)
		require.NoError(t, err)
		outside, err := s.Run(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, outside)

		type run struct {
			attempt   int
			at, limit time.Duration
		}
		var runs []run
		for _, r := range s.Runs() {
			one := run{attempt: r.Attempt, at: r.At.Sub(began)}
			if !r.Deadline.IsZero() {
				one.limit = r.Deadline.Sub(r.At)
			}
			runs = append(runs, one)
		}
		assert.Equal(t, []run{
			{attempt: 1, at: 0, limit: 10 * time.Second},
			{attempt: 2, at: time.Second, limit: 10 * time.Second},
			{attempt: 3, at: 12 * time.Second, limit: 10 * time.Second},
			{attempt: 0, at: 12 * time.Second},
		}, runs)
	})
}

func TestScriptTakesEachStepOnce(t *testing.T) {
	const n = 100
	s := resilienttest.Script[int]{Steps: make(steps, n)}
	for i := range s.Steps {
		s.Steps[i].Value = i
	}
	taken := make(chan int, n)
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			value, _ := s.Run(context.Background())
			taken <- value
			_ = s.Runs()
		})
	}
	all.Wait()
	close(taken)
	seen := map[int]bool{}
	for value := range taken {
		assert.False(t, seen[value], "step %d", value)
		seen[value] = true
	}
	assert.Len(t, seen, n)
	assert.Len(t, s.Runs(), n)
}

func TestScriptRunsAreTheCallers(t *testing.T) {
	var s resilienttest.Script[int]
	require.NoError(t, s.RunErr(context.Background()))
	s.Runs()[0].Attempt = 99
	assert.Zero(t, s.Runs()[0].Attempt)
}
