package resilient_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestDefaultPolicy(t *testing.T) {
	want := resilient.Policy{
		Retry: resilient.RetryPolicy{
			MaxAttempts: 3, BaseDelay: sec, MaxDelay: 60 * sec, Backoff: resilient.BackoffExponential, Jitter: true,
			IdempotentOnly: true, MaxRetryAfter: 60 * sec,
		},
		Circuit: breaker.Settings{
			Enabled: true, FailureThreshold: 5, RecoveryTimeout: 60 * sec, Cooldown: 30 * sec, MaxProbes: 1,
			SuccessesToClose: 1, RecoveryMultiplier: 1, MaxRecoveryTimeout: 24 * time.Hour, MinReporters: 1,
			MinimumCalls: 20, Window: 60 * sec, WindowBuckets: 10,
		},
		TotalTimeout: 300 * sec,
	}
	assert.Equal(t, want, resilient.DefaultPolicy())
	assert.True(t, want == resilient.DefaultPolicy(), "policies are comparable")
	assert.NoError(t, want.Validate())
}

// P13, P66, A55: zero and negative values have one meaning each, and it is never "without limit".
func TestP13P66A55InvalidPolicies(t *testing.T) {
	tests := []struct {
		field string
		edit  func(p *resilient.Policy)
	}{
		{"Retry.MaxAttempts", func(p *resilient.Policy) { p.Retry.MaxAttempts = 0 }},
		{"Retry.MaxAttempts", func(p *resilient.Policy) { p.Retry.MaxAttempts = -1 }},
		{"Retry.MaxAttempts", func(p *resilient.Policy) { p.Retry.MaxAttempts = 101 }},
		{"Retry.BaseDelay", func(p *resilient.Policy) { p.Retry.BaseDelay = -1 }},
		{"Retry.BaseDelay", func(p *resilient.Policy) { p.Retry.BaseDelay = time.Hour + 1; p.Retry.MaxDelay = 24 * time.Hour }},
		{"Retry.MaxDelay", func(p *resilient.Policy) { p.Retry.MaxDelay = 0 }},
		{"Retry.MaxDelay", func(p *resilient.Policy) { p.Retry.MaxDelay = -1 }},
		{"Retry.MaxDelay", func(p *resilient.Policy) { p.Retry.MaxDelay = sec - 1 }},
		{"Retry.MaxDelay", func(p *resilient.Policy) { p.Retry.MaxDelay = 24*time.Hour + 1 }},
		{"Retry.MaxDelay", func(p *resilient.Policy) { p.Retry.Backoff = resilient.BackoffLinear; p.Retry.MaxDelay = 2*sec - 1 }},
		{"Retry.Backoff", func(p *resilient.Policy) { p.Retry.Backoff = "" }},
		{"Retry.Backoff", func(p *resilient.Policy) { p.Retry.Backoff = "Fixed" }},
		{"Retry.MaxRetryAfter", func(p *resilient.Policy) { p.Retry.MaxRetryAfter = -1 }},
		{"Retry.MaxRetryAfter", func(p *resilient.Policy) { p.Retry.MaxRetryAfter = 24*time.Hour + 1 }},
		{"TotalTimeout", func(p *resilient.Policy) { p.TotalTimeout = 0 }},
		{"TotalTimeout", func(p *resilient.Policy) { p.TotalTimeout = -1 }},
		{"TotalTimeout", func(p *resilient.Policy) { p.TotalTimeout = 300*sec + 1 }},
		{"AttemptTimeout", func(p *resilient.Policy) { p.AttemptTimeout = -1 }},
		{"AttemptTimeout", func(p *resilient.Policy) { p.AttemptTimeout = 300*sec + 1 }},
		{"FailureThreshold", func(p *resilient.Policy) { p.Circuit.FailureThreshold = 0 }},
		{"FailureThreshold", func(p *resilient.Policy) { p.Circuit.FailureThreshold = -1 }},
		{"RecoveryTimeout", func(p *resilient.Policy) { p.Circuit.RecoveryTimeout = 0 }},
		{"Cooldown", func(p *resilient.Policy) { p.Circuit.Cooldown = -1 }},
		{"MaxProbes", func(p *resilient.Policy) { p.Circuit.MaxProbes = 0 }},
		{"SuccessesToClose", func(p *resilient.Policy) { p.Circuit.SuccessesToClose = 0 }},
		{"RecoveryMultiplier", func(p *resilient.Policy) { p.Circuit.RecoveryMultiplier = math.NaN() }},
		{"MaxRecoveryTimeout", func(p *resilient.Policy) { p.Circuit.MaxRecoveryTimeout = 0 }},
		{"ProbeLease", func(p *resilient.Policy) { p.Circuit.ProbeLease = -1 }},
	}
	for _, tt := range tests {
		policy := resilient.DefaultPolicy()
		tt.edit(&policy)
		require.ErrorContains(t, policy.Validate(), tt.field)
		g, err := resilient.NewGuard("plans", policy, nil)
		assert.Nil(t, g, tt.field)
		require.ErrorContains(t, err, tt.field)
		require.ErrorContains(t, err, "plans")
	}
	_, err := resilient.NewGuard("plans", resilient.Policy{}, nil)
	require.ErrorContains(t, err, "start from DefaultPolicy")
	_, err = resilient.NewGuard("plan_service", resilient.Policy{Retry: resilient.RetryPolicy{MaxAttempts: 2}}, nil)
	require.ErrorContains(t, err, "start from DefaultPolicy")
	_, err = resilient.NewGuard("plans", resilient.Policy{TotalTimeout: -1}, nil)
	for _, field := range []string{"MaxAttempts", "Backoff", "TotalTimeout", "FailureThreshold", "RecoveryTimeout", "MaxProbes"} {
		require.ErrorContains(t, err, field, "every field is named")
	}
	assert.NotContains(t, err.Error(), "AttemptTimeout")
}

func TestValidPoliciesAtTheEnds(t *testing.T) {
	for _, edit := range []func(p *resilient.Policy){
		func(p *resilient.Policy) { p.Retry.MaxAttempts = 1 },
		func(p *resilient.Policy) { p.Retry.MaxAttempts = 100 },
		func(p *resilient.Policy) { p.Retry.BaseDelay = 0 },
		func(p *resilient.Policy) { p.Retry.BaseDelay, p.Retry.MaxDelay = time.Hour, time.Hour },
		func(p *resilient.Policy) { p.Retry.BaseDelay, p.Retry.MaxDelay = 0, 100*ms },
		func(p *resilient.Policy) { p.Retry.MaxDelay = 24 * time.Hour },
		func(p *resilient.Policy) {
			p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.MaxDelay = resilient.BackoffNone, 0, 0
		},
		func(p *resilient.Policy) { p.Retry.MaxRetryAfter = 0 },
		func(p *resilient.Policy) { p.Retry.MaxRetryAfter = 24 * time.Hour },
		func(p *resilient.Policy) { p.TotalTimeout = 1 },
		func(p *resilient.Policy) { p.AttemptTimeout = 300 * sec },
		func(p *resilient.Policy) { p.Circuit.Enabled = false },
	} {
		policy := resilient.DefaultPolicy()
		edit(&policy)
		_, err := resilient.NewGuard("plans", policy, nil)
		assert.NoError(t, err)
	}
}

func TestNewGuardNeedsAName(t *testing.T) {
	g, err := resilient.NewGuard("", resilient.DefaultPolicy(), nil)
	assert.Nil(t, g)
	assert.ErrorContains(t, err, "name")
}

func TestA86TheNameIsSanitised(t *testing.T) {
	g := named(t, jdbcURL, steady(), nil)
	assert.NotContains(t, g.Name(), marker.Secret)
	assert.Contains(t, g.Name(), "db.example", "and still says which one it is")
	assert.Equal(t, g.Name(), g.Circuit().Name())
	long := named(t, strings.Repeat("ü", 1000), steady(), nil)
	assert.Equal(t, strings.Repeat("ü", 200)+"...", long.Name())
	op := resilient.Idempotent(jdbcURL)
	_ = resilient.Do(t.Context(), g, op, func(ctx context.Context) error {
		path := nesting.Path(ctx) // it goes over the wire
		assert.Len(t, path, 1)
		assert.NotContains(t, path[0], marker.Secret)
		assert.Contains(t, path[0], "db.example")
		return nil
	})
	assert.Equal(t, jdbcURL, op.Name(), "as it was given; it is cleaned where it leaves")
}

func TestOp(t *testing.T) {
	assert.True(t, resilient.Idempotent("x").Idempotent())
	assert.False(t, resilient.NonIdempotent("x").Idempotent())
	assert.False(t, resilient.Op{}.Idempotent())
	assert.Equal(t, "x", resilient.NonIdempotent("x").Name())
	op := resilient.Idempotent("x")
	_ = op.WithTotalTimeout(sec).WithAttemptTimeout(sec).InPlan("p").ExecutesTools()
	assert.Equal(t, resilient.Idempotent("x"), op, "a value: the methods change a copy")
	assert.True(t, op.WithTotalTimeout(sec).Idempotent())
}

func TestOptionsAreCopied(t *testing.T) {
	options := &resilient.Options{Classify: resilient.Answers(errDown)}
	g := newGuard(t, steady(), options)
	copied := *options
	options.Classify = nil
	_ = resilient.Do(t.Context(), g, apply, returns(errDown))
	assert.Zero(t, g.Circuit().Snapshot().Failures)
	assert.NotNil(t, copied.Classify)
}

func TestSetPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(threshold(1)), nil)
		open(t, g)
		next := steady(attempts(7), noDelay)
		next.Circuit.RecoveryTimeout = 5 * sec
		require.NoError(t, g.SetPolicy(next))
		assert.Equal(t, next, g.Policy())
		assert.Equal(t, 5*sec, time.Until(g.Circuit().Snapshot().Until), "R19: at once, also for a circuit that is open")
		time.Sleep(5 * sec)
		fn, calls := fails(6)
		_, err := resilient.Execute(t.Context(), g, get, fn)
		require.Error(t, err, "the probe fails")
		assert.EqualValues(t, 1, calls.Load())

		before := g.Circuit().Snapshot()
		invalid := next
		invalid.TotalTimeout = 0
		require.ErrorContains(t, g.SetPolicy(invalid), "TotalTimeout")
		assert.Equal(t, next, g.Policy(), "changes nothing")
		assert.Equal(t, before, g.Circuit().Snapshot())

		next.Circuit.Enabled = false
		require.NoError(t, g.SetPolicy(next))
		fn, calls = fails(6)
		_, err = resilient.Execute(t.Context(), g, get, fn)
		require.NoError(t, err)
		assert.EqualValues(t, 7, calls.Load())
	})
}

// A circuit that is switched off counts nothing; retries and limits go on.
func TestR17WithoutCircuit(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		p := steady(threshold(1))
		p.Circuit.Enabled = false
		g := newGuard(t, p, nil)
		for range 5 {
			fn, calls := fails(always)
			_, err := in.call(t.Context(), g, get, fn)
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, resilient.ReasonAttempts, exhausted.Reason)
			assert.EqualValues(t, 3, calls.Load())
		}
		assert.Equal(t, breaker.Disabled, g.Circuit().State())
	})
}

// What protects nothing repeats nothing either (A82).
func TestPassthroughProtectsNothing(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for _, policy := range []resilient.Policy{resilient.Passthrough().Policy(), steady(threshold(1), total(sec))} {
			g := resilient.Passthrough()
			require.NoError(t, g.SetPolicy(policy))
			g.Circuit().ForceOpen()
			for range 3 {
				fn, calls := fails(always)
				value, err := in.call(t.Context(), g, get.WithTotalTimeout(sec), func(ctx context.Context) (int, error) {
					_, limited := ctx.Deadline()
					assert.False(t, limited)
					assert.Zero(t, resilient.Attempt(ctx))
					time.Sleep(10 * time.Minute)
					return fn(ctx)
				})
				assert.Equal(t, errDown, err)
				assert.Equal(t, 1, value)
				assert.EqualValues(t, 1, calls.Load())
			}
			assert.NotEmpty(t, g.Name())
		}
		assert.NotSame(t, resilient.Passthrough(), resilient.Passthrough())
	})
}

// "No circuit … whatever policy is set" holds for a permit taken by hand, too.
func TestPassthroughAdmitsEveryPermit(t *testing.T) {
	g := resilient.Passthrough()
	require.NoError(t, g.SetPolicy(steady(threshold(1))))
	for range 3 {
		permit, err := g.Acquire(t.Context())
		require.NoError(t, err)
		permit.Settle(errDown)
	}
}

func TestGuardPanicsGoThroughPassthrough(t *testing.T) {
	assert.Equal(t, "boom", panics(func() {
		_ = resilient.Do(t.Context(), resilient.Passthrough(), get, func(context.Context) error { panic("boom") })
	}))
}

// An attempt ends with its own limit or with the call's, whichever is earlier.
func TestAttemptLimitOfAPolicy(t *testing.T) {
	p := resilient.DefaultPolicy()
	assert.Equal(t, 300*sec, p.AttemptLimit())
	p.AttemptTimeout = 10 * sec
	assert.Equal(t, 10*sec, p.AttemptLimit())
	p.TotalTimeout = 3 * sec
	assert.Equal(t, 3*sec, p.AttemptLimit())
}
