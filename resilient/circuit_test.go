package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestA58AnOpenCircuitRefusesAtOnce(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		seen := &recorder{}
		g := newGuard(t, steady(threshold(1), attempts(5)), &resilient.Options{Observers: []resilient.Observer{seen}})
		open(t, g)
		before := len(seen.all())
		fn, calls := fails(0)
		start := time.Now()
		_, err := in.call(t.Context(), g, get, fn)
		assert.Zero(t, time.Since(start), "no sleep")
		assert.Zero(t, calls.Load())
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Same(t, rejected, err, "as it is")
		require.ErrorIs(t, err, errDown, "A59: the cause that opened it")
		assert.Equal(t, "plans", rejected.Service)
		assert.Equal(t, 60*sec, rejected.RetryAfter())
		assert.EqualValues(t, 1, g.Circuit().Snapshot().Rejected)
		require.Len(t, seen.all()[before:], 1)
		assert.Equal(t, resilient.CallRejected{
			Call: resilient.Call{Service: "plans", Operation: "get"}, Attempts: 0, Rejection: rejected,
		}, seen.all()[before])
	})
}

func TestACircuitThatOpensEndsTheRetriesAtOnce(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(2), attempts(9)), nil)
		fn, calls := fails(always)
		start := time.Now()
		value, err := in.call(t.Context(), g, get, fn)
		assert.Equal(t, sec, time.Since(start), "one wait, and none after the circuit has opened")
		assert.EqualValues(t, 2, calls.Load())
		assert.Equal(t, 2, value)
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonCircuit, exhausted.Reason)
		assert.Equal(t, 2, exhausted.Attempts)
		assert.Same(t, errDown, exhausted.Last)
		var rejected *resilient.RejectedError
		require.ErrorAs(t, exhausted.Limit, &rejected)
		assert.Equal(t, breaker.Open, rejected.State)
	})
}

// Somebody else's failures open the circuit while a call waits for its next attempt.
func TestACircuitThatOpensDuringTheWaitEndsTheRetries(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(3), delay(10*sec)), nil)
		time.AfterFunc(sec, func() { g.Circuit().ForceOpen() })
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, fn)
		assert.EqualValues(t, 1, calls.Load())
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonCircuit, exhausted.Reason)
		assert.Equal(t, 1, exhausted.Attempts)
		require.ErrorIs(t, err, errDown)
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, breaker.ForcedOpen, rejected.State)
	})
}

// When the last attempt allowed opens the circuit, it is still the attempts that are used up.
func TestTheLastAttemptOpensTheCircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(3)), nil)
		err := resilient.Do(t.Context(), g, get, returns(errDown))
		assert.Equal(t, breaker.Open, g.Circuit().State())
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, resilient.ReasonAttempts, exhausted.Reason)
	})
}

func TestA121RejectionsAreOnlyCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log journal
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Logger: log.logger()})
		open(t, g)
		for range 10_000 {
			require.Error(t, resilient.Do(t.Context(), g, get, returns(nil)))
		}
		assert.Len(t, log.records(t), 1, "one record for the transition")
		assert.EqualValues(t, 10_000, g.Circuit().Snapshot().Rejected)
	})
}

func TestP125RetriesDoNotPassTheHalfOpenLimit(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1), func(p *resilient.Policy) {
			p.Circuit.MaxProbes, p.Circuit.SuccessesToClose = 2, 2
			p.Retry.Backoff, p.Retry.BaseDelay = resilient.BackoffNone, 0
		}), nil)
		halfOpen(t, g)
		var now, most, calls, rejected, exhausted atomic.Int64
		for range 20 {
			go func() {
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
					calls.Add(1)
					defer now.Add(-1)
					if n := now.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(sec)
					return 0, errDown
				})
				var r *resilient.RejectedError
				var e *resilient.ExhaustedError
				switch {
				case errors.As(err, &e):
					exhausted.Add(1)
				case errors.As(err, &r):
					rejected.Add(1)
				}
			}()
		}
		time.Sleep(10 * sec)
		assert.LessOrEqual(t, most.Load(), int64(2))
		assert.EqualValues(t, 2, calls.Load(), "each probe is made once: after its failure the circuit is open")
		assert.EqualValues(t, 18, rejected.Load())
		assert.EqualValues(t, 2, exhausted.Load())
	})
}

func TestP85A1ANeutralProbeGivesItsPlaceBack(t *testing.T) {
	business := errors.New("business")
	tests := []struct {
		name string
		fn   func(ctx context.Context, cancel context.CancelFunc) error
	}{
		{"A18 cancelled by its caller", func(ctx context.Context, cancel context.CancelFunc) error {
			cancel()
			<-ctx.Done()
			return ctx.Err()
		}},
		{"A1 classified as neutral", func(context.Context, context.CancelFunc) error { return business }},
		{"marked Neutral", func(context.Context, context.CancelFunc) error { return resilient.Neutral(errDown) }},
		{"P82 A31 rejected by another guard", func(context.Context, context.CancelFunc) error {
			return &resilient.RejectedError{Service: "another", State: breaker.Open}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(threshold(1)), &resilient.Options{Classify: func(err error) resilient.Outcome {
					if err == business {
						return resilient.OutcomeNeutral
					}
					return resilient.OutcomeUnjudged
				}})
				halfOpen(t, g)
				for range 3 {
					ctx, cancel := context.WithCancel(t.Context())
					_, err := in.call(ctx, g, get, func(ctx context.Context) (int, error) {
						assert.Equal(t, 1, g.Circuit().Snapshot().Probes)
						return 0, tt.fn(ctx, cancel)
					})
					cancel()
					require.Error(t, err)
					snap := g.Circuit().Snapshot()
					require.Equal(t, breaker.HalfOpen, snap.State, "no verdict")
					require.Zero(t, snap.Probes, "the place is free at once")
					require.Zero(t, snap.Late)
				}
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, nil })
				require.NoError(t, err, "the next call is the probe")
				assert.Equal(t, breaker.Closed, g.Circuit().State())
			})
		})
	}
}

// A6: a call from before the trip says nothing about the recovery.
func TestA6AnOldCallDoesNotCloseTheCircuit(t *testing.T) {
	for _, in := range entries() {
		for _, result := range []error{nil, errDown} {
			t.Run(fmt.Sprint(in.name, result), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					seen := &recorder{}
					g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
					release := make(chan struct{})
					go func() {
						_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) {
							<-release
							return 0, result
						})
					}()
					synctest.Wait()
					halfOpen(t, g)
					close(release)
					synctest.Wait()
					snap := g.Circuit().Snapshot()
					assert.Equal(t, breaker.HalfOpen, snap.State)
					assert.Zero(t, snap.Successes)
					assert.EqualValues(t, 1, snap.Late)
					late := recorded[resilient.LateResult](seen)
					require.Len(t, late, 1)
					want := resilient.LateResult{Call: resilient.Call{Service: "plans", Operation: "apply"}, Attempt: 1, Outcome: breaker.OutcomeOf(result)}
					assert.Equal(t, want, late[0])
				})
			})
		}
	}
}
