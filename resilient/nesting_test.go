package resilient_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// R9: under a running call that retries, an inner call runs once, through every pair of ways in.
func TestR9AnInnerCallRunsOnce(t *testing.T) {
	for _, outer := range entries() {
		for _, inner := range entries() {
			t.Run(inner.name+" in "+outer.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					above, below := named(t, "above", steady(), nil), named(t, "below", steady(), nil)
					fn, calls := fails(always)
					made := 0
					_, err := outer.call(t.Context(), above, get, func(ctx context.Context) (int, error) {
						made++
						value, err := inner.call(ctx, below, get, fn)
						assert.Equal(t, errDown, err, "unwrapped, so that the outer call may repeat it")
						assert.Equal(t, made, value)
						return value, err
					})
					assert.Equal(t, 3, made)
					assert.EqualValues(t, 3, calls.Load(), "not 9")
					var exhausted *resilient.ExhaustedError
					require.ErrorAs(t, err, &exhausted)
					assert.Equal(t, "above", exhausted.Service)
					assert.Equal(t, 3, exhausted.Attempts)
					assert.Equal(t, errDown, exhausted.Last)
					assert.Equal(t, 3, below.Circuit().Snapshot().Failures, "A34: through its circuit")
					assert.Equal(t, 3, above.Circuit().Snapshot().Failures)
				})
			})
		}
	}
}

func TestP126A61NestedRetriesDoNotMultiply(t *testing.T) {
	for _, in := range entries() {
		for _, depth := range []int{3, 4} {
			synctest.Test(t, func(t *testing.T) {
				var guards []*resilient.Guard
				for range depth {
					guards = append(guards, newGuard(t, steady(), nil))
				}
				fn, calls := fails(always)
				for _, g := range guards {
					inner := fn
					fn = func(ctx context.Context) (int, error) { return in.call(ctx, g, get, inner) }
				}
				_, err := fn(t.Context())
				require.ErrorIs(t, err, errDown)
				assert.EqualValues(t, 3, calls.Load(), "not 27")
				for _, g := range guards {
					assert.Equal(t, 3, g.Circuit().Snapshot().Failures)
				}
			})
		}
	}
}

func TestR9TheInnerCircuitIsConsulted(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		above, below := named(t, "above", steady(threshold(1)), nil), named(t, "below", steady(threshold(1)), nil)
		open(t, below)
		fn, calls := fails(0)
		made := 0
		start := time.Now()
		_, err := in.call(t.Context(), above, get, func(ctx context.Context) (int, error) {
			made++
			return in.call(ctx, below, get, fn)
		})
		assert.Zero(t, calls.Load())
		assert.Equal(t, 1, made, "a rejection is not retried")
		assert.Zero(t, time.Since(start))
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, "below", rejected.Service)
		assert.Equal(t, breaker.Closed, above.Circuit().State(), "neutral: nothing ran")
		assert.Zero(t, above.Circuit().Snapshot().Failures)
	})
}

// Whatever opened the inner circuit: it was said about the attempts of another call.
func TestARejectionIsNeutralWhateverItsCause(t *testing.T) {
	causes := map[string]error{
		"plain":                        errDown,
		"Permanent":                    resilient.Permanent(errDown),
		"RetryAfter":                   resilient.RetryAfter(errDown, sec),
		"a cancellation":               context.Canceled,
		"retry-go's own unrecoverable": unrecoverable(errDown),
		"a panic":                      &resilient.PanicError{Value: "boom"},
		"an exhausted call":            &resilient.ExhaustedError{Service: "deeper"},
	}
	for name, cause := range causes {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				above, below := named(t, "above", steady(), nil), named(t, "below", steady(threshold(1)), nil)
				_ = resilient.Do(t.Context(), below, apply, returns(cause))
				require.Equal(t, breaker.Open, below.Circuit().State())
				made := 0
				_, err := in.call(t.Context(), above, get, func(ctx context.Context) (int, error) {
					made++
					return in.call(ctx, below, get, func(context.Context) (int, error) { return 0, nil })
				})
				var rejected *resilient.RejectedError
				require.ErrorAs(t, err, &rejected)
				assert.Equal(t, 1, made)
				assert.Zero(t, above.Circuit().Snapshot().Failures)
			})
		})
	}
}

// The inner circuit opens in the middle: the outer call sees failures, then a rejection, and stops.
func TestTheInnerCircuitOpensDuringTheRetriesAbove(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		above, below := named(t, "above", steady(attempts(9)), nil), named(t, "below", steady(threshold(2)), nil)
		fn, calls := fails(always)
		_, err := in.call(t.Context(), above, get, func(ctx context.Context) (int, error) {
			return in.call(ctx, below, get, fn)
		})
		assert.EqualValues(t, 2, calls.Load())
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		assert.Equal(t, 2, above.Circuit().Snapshot().Failures)
	})
}

func TestAnOuterCallWithoutRetryTakesNothingAway(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for name, above := range map[string]*resilient.Guard{
			"one attempt": newGuard(t, steady(attempts(1)), nil), "not repeatable": newGuard(t, steady(), nil),
			"unguarded": resilient.Passthrough(),
		} {
			fn, calls := fails(always)
			made := 0
			op := get
			if name == "not repeatable" {
				op = apply
			}
			_, err := in.call(t.Context(), above, op, func(ctx context.Context) (int, error) {
				made++
				return in.call(ctx, newGuard(t, steady(), nil), get, fn)
			})
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted, name)
			assert.Same(t, exhausted, err, "%s: the inner one's, unchanged", name)
			assert.Equal(t, 1, made, name)
			assert.EqualValues(t, 3, calls.Load(), name)
		}
	})
}

// A call without retry between two that would: the outermost retries, so the innermost does not.
func TestR9ACallInBetweenWithoutRetry(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		fn, calls := fails(always)
		_, err := in.call(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) (int, error) {
			return in.call(ctx, newGuard(t, steady(attempts(1)), nil), get, func(ctx context.Context) (int, error) {
				return in.call(ctx, newGuard(t, steady(), nil), get, fn)
			})
		})
		require.ErrorIs(t, err, errDown)
		assert.EqualValues(t, 3, calls.Load())
	})
}

func TestA62AnExhaustedCallInsideIsNotRetried(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		above := named(t, "above", steady(), nil)
		fn, calls := fails(always)
		made := 0
		_, err := in.call(t.Context(), above, get, func(context.Context) (int, error) {
			made++ // the inner call does not know that it is one
			return in.call(context.Background(), named(t, "below", steady(), nil), get, fn)
		})
		assert.Equal(t, 1, made)
		assert.EqualValues(t, 3, calls.Load())
		var exhausted *resilient.ExhaustedError
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, "below", exhausted.Service, "unchanged")
		assert.Equal(t, 1, above.Circuit().Snapshot().Failures, "a failure all the same")
	})
}

func TestR9DetachMayRetry(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		fn, calls := fails(always)
		made := 0
		_, err := in.call(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) (int, error) {
			made++
			return in.call(nesting.Detach(ctx), newGuard(t, steady(), nil), get, fn)
		})
		require.ErrorIs(t, err, errDown)
		assert.Equal(t, 1, made, "exhausted inside")
		assert.EqualValues(t, 3, calls.Load())
	})
}

// Detach takes a call out of its scope, not out of its time.
func TestDetachKeepsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		err := resilient.Do(t.Context(), newGuard(t, steady(total(sec)), nil), apply, func(ctx context.Context) error {
			return resilient.Do(nesting.Detach(ctx), newGuard(t, steady(), nil), apply, func(ctx context.Context) error {
				<-ctx.Done()
				return context.Cause(ctx)
			})
		})
		assert.Equal(t, sec, time.Since(start))
		var timeout *resilient.TimeoutError
		require.ErrorAs(t, err, &timeout)
	})
}

func TestR9ABackgroundJobOfACallThatHasReturned(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		var job context.Context
		_, err := in.call(t.Context(), newGuard(t, steady(), nil), get, func(ctx context.Context) (int, error) {
			job = context.WithoutCancel(ctx)
			fn, calls := fails(always)
			_, err := in.call(job, newGuard(t, steady(), nil), get, fn)
			assert.Equal(t, errDown, err)
			assert.EqualValues(t, 1, calls.Load(), "while it runs, it counts")
			return 0, nil
		})
		require.NoError(t, err)
		fn, calls := fails(always)
		_, err = in.call(job, newGuard(t, steady(), nil), get, fn)
		require.ErrorIs(t, err, errDown)
		assert.EqualValues(t, 3, calls.Load(), "and no more once it has returned")
	})
}

// An inner call whose time is over leaves the rest of the outer call's time alone.
func TestAnInnerTimeoutIsRetriedAbove(t *testing.T) {
	for name, policy := range map[string]resilient.Policy{"total": steady(total(sec)), "attempt": steady(each(sec))} {
		t.Run(name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				above, below := named(t, "above", steady(), nil), named(t, "below", policy, nil)
				made := 0
				value, err := in.call(t.Context(), above, get, func(ctx context.Context) (int, error) {
					made++
					return in.call(ctx, below, get, func(ctx context.Context) (int, error) {
						if made == 1 {
							<-ctx.Done()
							return 0, ctx.Err()
						}
						return 7, nil
					})
				})
				require.NoError(t, err)
				assert.Equal(t, 7, value)
				assert.Equal(t, 2, made)
			})
		})
	}
}

// The outer call's limit ends the inner one, which finds its cause.
func TestAnOuterTimeoutEndsTheInnerCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		above, below := named(t, "above", steady(each(sec), attempts(1)), nil), named(t, "below", steady(), nil)
		start := time.Now()
		err := resilient.Do(t.Context(), above, get, func(ctx context.Context) error {
			return resilient.Do(ctx, below, get, func(ctx context.Context) error {
				<-ctx.Done()
				assert.Equal(t, &resilient.TimeoutError{Limit: resilient.LimitAttempt, After: sec}, context.Cause(ctx))
				return ctx.Err()
			})
		})
		assert.Equal(t, sec, time.Since(start))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 1, below.Circuit().Snapshot().Failures, "a hung dependency under a short deadline")
	})
}

func TestNestedScopesHaveAPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_ = resilient.Do(t.Context(), named(t, "above", steady(), nil), get, func(ctx context.Context) error {
			return resilient.Do(ctx, named(t, "below", steady(), nil), apply, func(ctx context.Context) error {
				assert.Equal(t, []string{"above.get", "below.apply"}, nesting.Path(ctx))
				assert.Equal(t, 2, nesting.Depth(ctx))
				return resilient.Do(ctx, resilient.Passthrough(), get, func(ctx context.Context) error {
					assert.Equal(t, 2, nesting.Depth(ctx), "a guard that protects nothing has no scope")
					return nil
				})
			})
		})
	})
}

func TestTheSameGuardNested(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(100)), nil)
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
			return in.call(ctx, g, get, fn)
		})
		require.ErrorIs(t, err, errDown)
		assert.EqualValues(t, 3, calls.Load())
		assert.Equal(t, 6, g.Circuit().Snapshot().Failures)
		assert.False(t, errors.Is(err, context.Canceled))
	})
}

// A guard that is used inside of a call of its own heals all the same: the inner call is part of the outer one's probe,
// asks for no permit and settles none.
func TestACallInsideItsOwnGuardsProbe(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(threshold(1)), nil)
		for _, want := range []breaker.State{breaker.Open, breaker.Closed} {
			halfOpen(t, g)
			inner := errDown
			if want == breaker.Closed {
				inner = nil
			}
			var calls int
			_, err := in.call(t.Context(), g, get, func(ctx context.Context) (int, error) {
				require.EqualValues(t, 1, g.Circuit().Snapshot().Probes)
				return resilient.Execute(ctx, g, get, func(context.Context) (int, error) {
					calls++
					require.Equal(t, breaker.HalfOpen, g.Circuit().State(), "the inner call has settled nothing")
					return 1, inner
				})
			})
			require.Equal(t, want == breaker.Closed, err == nil)
			require.Equal(t, 1, calls)
			require.Equal(t, want, g.Circuit().State())
			require.Zero(t, g.Circuit().Snapshot().Late)
		}
	})
}

// It is part of the probe only while that runs, and is one: not of an earlier round, nor after its return.
func TestOnlyARunningProbeLendsItsPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1)), nil)
		var before, during context.Context
		_, err := resilient.Execute(t.Context(), g, apply, func(ctx context.Context) (int, error) {
			before = context.WithoutCancel(ctx)
			halfOpen(t, g) // while this call is out, which is of an earlier round
			probe, err := g.Acquire(t.Context())
			require.NoError(t, err)
			defer probe.Settle(nil)
			_, err = resilient.Execute(ctx, g, apply, succeed)
			return 0, err
		})
		var rejected *resilient.RejectedError
		require.ErrorAs(t, err, &rejected)
		halfOpen(t, g)
		_, err = resilient.Execute(t.Context(), g, apply, func(ctx context.Context) (int, error) {
			during = context.WithoutCancel(ctx)
			return 0, resilient.Neutral(errDown)
		})
		require.ErrorIs(t, err, errDown)
		probe, err := g.Acquire(t.Context())
		require.NoError(t, err)
		for _, ctx := range []context.Context{before, during} {
			_, err = resilient.Execute(ctx, g, apply, succeed)
			require.ErrorAs(t, err, &rejected)
		}
		probe.Settle(nil)
	})
}

func succeed(context.Context) (int, error) { return 1, nil }
