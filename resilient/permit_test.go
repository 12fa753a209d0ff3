package resilient_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestP77APermitCountsOnce(t *testing.T) {
	g := newGuard(t, steady(threshold(3)), nil)
	permit, err := g.Acquire(t.Context())
	require.NoError(t, err)
	assert.True(t, permit.Settle(errDown))
	for range 3 {
		assert.False(t, permit.Settle(errDown))
		assert.False(t, permit.Settle(nil))
	}
	assert.Equal(t, 1, g.Circuit().Snapshot().Failures)
	assert.Zero(t, g.Circuit().Snapshot().Late)
}

func TestP77APermitSettledByManyCountsOnce(t *testing.T) {
	g := newGuard(t, steady(), nil)
	for range 100 {
		permit, err := g.Acquire(t.Context())
		require.NoError(t, err)
		before := g.Circuit().Snapshot().Failures
		var counted atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if permit.Settle(errDown) {
					counted.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, counted.Load())
		assert.Equal(t, before+1, g.Circuit().Snapshot().Failures)
	}
}

func TestPermitIsJudgedAsExecuteJudges(t *testing.T) {
	cancelled := errors.New("the caller gave up")
	tests := []struct {
		name string
		err  error
		want int // failures, of one before
	}{
		{"a failure", errDown, 2},
		{"a success", nil, 0},
		{"an answer", errOther, 0},
		{"neutral", resilient.Neutral(errDown), 1},
		{"permanent", resilient.Permanent(errDown), 2},
		{"a rejection", &resilient.RejectedError{Service: "another"}, 1},
		{"cancelled by the caller", cancelled, 1},
		{"the bare cancellation", context.Canceled, 1},
		{"a deadline", context.DeadlineExceeded, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGuard(t, steady(), &resilient.Options{Classify: resilient.Answers(errOther)})
			_ = resilient.Do(t.Context(), g, apply, returns(errDown))
			ctx, cancel := context.WithCancelCause(t.Context())
			permit, err := g.Acquire(ctx)
			require.NoError(t, err)
			cancel(cancelled)
			assert.True(t, permit.Settle(tt.err))
			assert.Equal(t, tt.want, g.Circuit().Snapshot().Failures)
		})
	}
}

func TestObserversSeeAPermitAsOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := &recorder{}
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
		first, err := g.Acquire(t.Context())
		require.NoError(t, err)
		late, err := g.Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(sec)
		first.Settle(errDown)
		first.Settle(errDown)
		late.Settle(nil)
		call := resilient.Call{Service: "plans"}
		done := recorded[resilient.AttemptDone](seen)
		require.Len(t, done, 2)
		assert.ErrorIs(t, done[0].Err, errDown)
		done[0].Err = nil
		assert.Equal(t, []resilient.AttemptDone{
			{Call: call, Attempt: 1, Outcome: resilient.OutcomeFailure, Duration: sec, ByHand: true},
			{Call: call, Attempt: 1, Outcome: resilient.OutcomeSuccess, Duration: sec, ByHand: true},
		}, done)
		assert.Equal(t, []resilient.LateResult{{Call: call, Attempt: 1, Outcome: resilient.OutcomeSuccess}}, recorded[resilient.LateResult](seen))
	})
}

func TestAcquireRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var noContext context.Context
		seen := &recorder{}
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
		permit, err := g.Acquire(noContext)
		assert.Equal(t, resilient.ErrNilContext, err)
		assert.Nil(t, permit)
		for _, g := range []*resilient.Guard{nil, {}} {
			permit, err = g.Acquire(t.Context())
			assert.Equal(t, resilient.ErrNilGuard, err)
			assert.Nil(t, permit)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errOther)
		permit, err = g.Acquire(ctx)
		assert.Equal(t, errOther, err)
		assert.Nil(t, permit)
		open(t, g)
		permit, err = g.Acquire(t.Context())
		assert.Nil(t, permit)
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, []resilient.CallRejected{{Call: resilient.Call{Service: "plans"}, Rejection: rejected}}, recorded[resilient.CallRejected](seen))
		var none *resilient.Permit
		assert.False(t, none.Settle(nil))
	})
}

func TestAcquireHasNoLimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1), total(sec)), nil)
		permit, err := g.Acquire(t.Context())
		require.NoError(t, err)
		time.Sleep(24 * time.Hour)
		assert.True(t, permit.Settle(errDown), "a closed circuit knows no lease")
		assert.Equal(t, breaker.Open, g.Circuit().State())
	})
}

func TestAForgottenProbeIsFreeAfterItsLease(t *testing.T) {
	for _, limit := range []time.Duration{0, 20 * sec, 60 * sec} { // of an attempt: it is never longer than the total
		forget(t, steady(threshold(1), total(20*sec), each(limit)))
	}
	forget(t, steady(threshold(1), total(60*sec), each(20*sec)))
}

func forget(t *testing.T, policy resilient.Policy) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, policy, nil)
		halfOpen(t, g)
		forgotten, err := g.Acquire(t.Context())
		require.NoError(t, err)
		_, err = g.Acquire(t.Context())
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, breaker.HalfOpen, rejected.State)
		assert.Equal(t, 22*sec, rejected.RetryAfter(), "the limit of the call and 10 % more")
		time.Sleep(22*sec - 1)
		_, err = g.Acquire(t.Context())
		require.Error(t, err)
		time.Sleep(time.Nanosecond)
		next, err := g.Acquire(t.Context())
		require.NoError(t, err)
		assert.False(t, forgotten.Settle(errDown), "it is late")
		assert.EqualValues(t, 1, g.Circuit().Snapshot().Late)
		assert.True(t, next.Settle(nil))
		assert.Equal(t, breaker.Closed, g.Circuit().State())
	})
}

// A probe that hangs until its limit still settles in time: its lease is longer than the limit.
func TestAProbeThatHangsSettlesInTime(t *testing.T) {
	for name, op := range map[string]resilient.Op{
		"the policy's": get, "the op's total": get.WithTotalTimeout(50 * sec), "the op's attempt": get.WithAttemptTimeout(2 * sec),
	} {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(threshold(1), total(5*sec)), nil)
				halfOpen(t, g)
				_, err := in.call(t.Context(), g, op, func(ctx context.Context) (int, error) {
					<-ctx.Done()
					return 0, ctx.Err()
				})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				snap := g.Circuit().Snapshot()
				assert.Equal(t, breaker.Open, snap.State)
				assert.Equal(t, 2, snap.Generation)
				assert.Zero(t, snap.Late)
			})
		})
	}
}
