package resilient_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

func limits(all ...resilient.AttemptLimit) *resilient.Options {
	return &resilient.Options{AttemptLimits: all}
}

func TestP10P15AttemptLimits(t *testing.T) {
	down, other := resilient.LimitAttempts(errDown, 2), resilient.LimitAttempts(errOther, 1)
	anything := resilient.AttemptLimit{Match: func(error) bool { return true }, Max: 3}
	tests := []struct {
		name    string
		most    int
		limits  []resilient.AttemptLimit
		returns []error
		want    int
		reason  resilient.Reason // 0: the last error, as it is
	}{
		{"P10 2 of 3", 3, []resilient.AttemptLimit{down}, []error{errDown}, 2, resilient.ReasonAttemptLimit},
		{"P15 2 of 100", 100, []resilient.AttemptLimit{down}, []error{errDown}, 2, resilient.ReasonAttemptLimit},
		{"of another error", 3, []resilient.AttemptLimit{down}, []error{errOther}, 3, resilient.ReasonAttempts},
		{"only those that match count", 100, []resilient.AttemptLimit{down}, []error{errDown, errOther, errOther, errDown}, 4, resilient.ReasonAttemptLimit},
		{"one is no retry", 3, []resilient.AttemptLimit{other}, []error{errOther}, 1, 0},
		{"one, later", 3, []resilient.AttemptLimit{other}, []error{errDown, errOther}, 2, 0},
		{"the first that is reached", 100, []resilient.AttemptLimit{anything, down}, []error{errDown}, 2, resilient.ReasonAttemptLimit},
		{"two at once: the stricter", 100, []resilient.AttemptLimit{anything, other}, []error{errDown, errDown, errOther}, 3, 0},
		{"it never raises", 2, []resilient.AttemptLimit{anything}, []error{errDown}, 2, resilient.ReasonAttempts},
		{"as many as are allowed", 3, []resilient.AttemptLimit{anything}, []error{errDown}, 3, resilient.ReasonAttempts},
		{"of a permanent error", 3, []resilient.AttemptLimit{down}, []error{resilient.Permanent(errDown)}, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, steady(attempts(tt.most)), limits(tt.limits...))
				calls := 0
				start := time.Now()
				_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
					calls++
					return 0, fmt.Errorf("attempt: %w", tt.returns[min(calls, len(tt.returns))-1])
				})
				assert.Equal(t, tt.want, calls)
				assert.Equal(t, time.Duration(tt.want-1)*sec, time.Since(start), "P10: waits = calls − 1")
				last := tt.returns[min(calls, len(tt.returns))-1]
				require.ErrorIs(t, err, last)
				var exhausted *resilient.ExhaustedError
				if tt.reason == 0 {
					assert.NotErrorAs(t, err, &exhausted, "as it is")
					return
				}
				require.ErrorAs(t, err, &exhausted)
				assert.Equal(t, tt.reason, exhausted.Reason)
				assert.Equal(t, tt.want, exhausted.Attempts)
			})
		})
	}
}

// Each call counts for itself (A71), and matches that panic do not match.
func TestAttemptLimitsBelongToACall(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		log := &journal{}
		options := limits(resilient.LimitAttempts(errDown, 2), resilient.AttemptLimit{Match: func(error) bool { panic("match") }, Max: 1})
		options.Logger = log.logger()
		g := newGuard(t, steady(noDelay), options)
		for range 3 {
			fn, calls := fails(always)
			_, err := in.call(t.Context(), g, get, fn)
			assert.EqualValues(t, 2, calls.Load())
			assert.Equal(t, "plans.get: gave up after 2 attempts: no more attempts for this error: down", err.Error())
		}
		assert.Contains(t, log.text(), "AttemptLimit")
	})
}

// P14: a limit of 0 means nothing else than it says, since it is refused.
func TestP14BadAttemptLimits(t *testing.T) {
	for _, bad := range []resilient.AttemptLimit{
		{}, {Max: 1}, resilient.LimitAttempts(errDown, 0), resilient.LimitAttempts(errDown, -1), resilient.LimitAttempts(errDown, 101),
	} {
		_, err := resilient.NewGuard("plans", steady(), limits(resilient.LimitAttempts(errDown, 100), bad))
		require.ErrorContains(t, err, "Options.AttemptLimits[1]")
	}
	options := limits(resilient.LimitAttempts(errDown, 1))
	g := newGuard(t, steady(noDelay), options)
	options.AttemptLimits[0].Max = 100
	fn, calls := fails(always)
	_, err := resilient.Execute(t.Context(), g, get, fn)
	assert.Equal(t, errDown, err)
	assert.EqualValues(t, 1, calls.Load(), "the guard has its own copy")
}
