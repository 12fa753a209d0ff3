package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestP47TheCallersCancellationIsNotRetried(t *testing.T) {
	for _, cause := range []error{nil, errOther} {
		for _, wrap := range []bool{false, true} {
			t.Run(fmt.Sprint(cause, wrap), func(t *testing.T) {
				overEntries(t, func(t *testing.T, in entry) {
					g := newGuard(t, steady(threshold(1)), nil)
					ctx, cancel := context.WithCancelCause(t.Context())
					calls := 0
					var returned error
					_, err := in.call(ctx, g, get, func(ctx context.Context) (int, error) {
						calls++
						cancel(cause)
						<-ctx.Done()
						returned = context.Cause(ctx)
						if wrap {
							returned = fmt.Errorf("reading: %w", returned)
						}
						return 0, returned
					})
					assert.Equal(t, returned, err, "unchanged")
					assert.Equal(t, 1, calls)
					assert.Zero(t, g.Circuit().Snapshot().Failures)
				})
			})
		}
	}
}

func TestP71A18TheCallersCancellationIsNoFailure(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1)), nil)
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := in.call(ctx, g, get, func(ctx context.Context) (int, error) {
				cancel()
				<-ctx.Done()
				return 0, ctx.Err()
			})
			require.ErrorIs(t, err, context.Canceled)
		}
		snap := g.Circuit().Snapshot()
		assert.Equal(t, breaker.Closed, snap.State)
		assert.Zero(t, snap.Failures)
	})
}

// R11: every kind of error counts, with these exceptions.
func TestR11Outcomes(t *testing.T) {
	answer := errors.New("no such plan")
	noise := errors.New("not my fault")
	cancelOf := func(err error) func(context.Context, context.CancelCauseFunc) error {
		return func(_ context.Context, cancel context.CancelCauseFunc) error {
			cancel(errOther)
			return err
		}
	}
	plainly := func(err error) func(context.Context, context.CancelCauseFunc) error {
		return func(context.Context, context.CancelCauseFunc) error { return err }
	}
	rejection := &resilient.RejectedError{Service: "another", State: breaker.Open, Cause: errDown}
	gaveUp := &resilient.ExhaustedError{Service: "another", Attempts: 3, Reason: resilient.ReasonAttempts, Last: errDown}
	timeout := &resilient.TimeoutError{Limit: resilient.LimitTotal, After: sec}
	tests := []struct {
		name  string
		fn    func(ctx context.Context, cancel context.CancelCauseFunc) error
		want  resilient.Outcome
		retry bool
	}{
		{"nil", plainly(nil), resilient.OutcomeSuccess, false},
		{"an error", plainly(errDown), resilient.OutcomeFailure, true},
		{"Canceled, but not by the caller", plainly(context.Canceled), resilient.OutcomeFailure, true},
		{"DeadlineExceeded, of nobody's", plainly(context.DeadlineExceeded), resilient.OutcomeFailure, true},
		{"a timeout of ours", plainly(timeout), resilient.OutcomeFailure, true},
		{"the caller's cancellation", cancelOf(context.Canceled), resilient.OutcomeNeutral, false},
		{"the caller's cancellation, joined", cancelOf(errors.Join(errDown, context.Canceled)), resilient.OutcomeNeutral, false},
		{"the cause of the caller's cancellation", cancelOf(fmt.Errorf("x: %w", errOther)), resilient.OutcomeNeutral, false},
		{"an error though the caller cancelled", cancelOf(errDown), resilient.OutcomeFailure, false},
		{"a deadline though the caller cancelled", cancelOf(context.DeadlineExceeded), resilient.OutcomeFailure, false},
		{"a rejection by another guard", plainly(rejection), resilient.OutcomeNeutral, false},
		{"a rejection, wrapped", plainly(fmt.Errorf("x: %w", rejection)), resilient.OutcomeNeutral, false},
		{"a rejection by a forced guard", plainly(&resilient.RejectedError{State: breaker.ForcedOpen}), resilient.OutcomeNeutral, false},
		{"an exhausted call inside", plainly(fmt.Errorf("x: %w", gaveUp)), resilient.OutcomeFailure, false},
		{"Neutral", plainly(resilient.Neutral(errDown)), resilient.OutcomeNeutral, false},
		{"Permanent", plainly(resilient.Permanent(errDown)), resilient.OutcomeFailure, false},
		{"classified as an answer", plainly(fmt.Errorf("x: %w", answer)), resilient.OutcomeSuccess, false},
		{"classified as neutral", plainly(noise), resilient.OutcomeNeutral, false},
		{"Permanent and an answer", plainly(resilient.Permanent(answer)), resilient.OutcomeFailure, false},
		{"P30 a nil *ExhaustedError", plainly((*resilient.ExhaustedError)(nil)), resilient.OutcomeFailure, true},
		{"P30 a nil *RejectedError", plainly((*resilient.RejectedError)(nil)), resilient.OutcomeFailure, true},
		{"P30 a nil *TimeoutError", plainly((*resilient.TimeoutError)(nil)), resilient.OutcomeFailure, true},
		{"P30 a nil *PanicError", plainly((*resilient.PanicError)(nil)), resilient.OutcomeFailure, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				seen := &recorder{}
				g := newGuard(t, steady(), &resilient.Options{
					Observers: []resilient.Observer{seen},
					Classify: func(err error) resilient.Outcome {
						switch {
						case errors.Is(err, answer):
							return resilient.OutcomeSuccess
						case err == noise:
							return resilient.OutcomeNeutral
						default:
							return resilient.OutcomeUnjudged
						}
					},
				})
				for _, op := range []resilient.Op{apply, get} { // made once, and more than once if it may be
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					g.Circuit().Reset()
					calls := 0
					_, err := in.call(ctx, g, op, func(ctx context.Context) (int, error) {
						calls++
						if calls > 1 {
							return 0, nil
						}
						return 0, tt.fn(ctx, cancel)
					})
					if tt.retry && op == get {
						require.NoError(t, err)
						assert.Equal(t, 2, calls)
					} else {
						assert.Equal(t, 1, calls)
					}
				}
				done := recorded[resilient.AttemptDone](seen)
				require.NotEmpty(t, done)
				assert.Equal(t, tt.want, done[0].Outcome)
			})
		})
	}
}

func TestR11OpensAfterThatManyFailuresInARow(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(5)), nil)
		once := func(err error) {
			_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { return 0, err })
		}
		for range 4 {
			once(errDown)
		}
		once(nil) // in a row: a success begins the count anew
		for range 4 {
			once(errDown)
			once(resilient.Neutral(errDown)) // takes nothing away
		}
		assert.Equal(t, breaker.Closed, g.Circuit().State())
		once(errOther)
		assert.Equal(t, breaker.Open, g.Circuit().State())
	})
}

func TestP59TheCountDoesNotDecay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(5)), nil)
		for range 5 {
			require.Equal(t, breaker.Closed, g.Circuit().State())
			_ = resilient.Do(t.Context(), g, apply, returns(errDown))
			time.Sleep(time.Hour)
		}
		assert.Equal(t, breaker.Open, g.Circuit().State())
	})
}
