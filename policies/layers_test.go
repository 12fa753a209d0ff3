package policies_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

func retryPatch(base, maxDelay time.Duration, backoff resilient.Backoff) policies.Patch {
	var p policies.Patch
	if base >= 0 {
		p.Retry.BaseDelay = &base
	}
	if maxDelay >= 0 {
		p.Retry.MaxDelay = &maxDelay
	}
	if backoff != "" {
		p.Retry.Backoff = &backoff
	}
	return p
}

// A75: later layers win field by field.
func TestLayersWinInOrder(t *testing.T) {
	defaults := policies.Defaults{Services: map[string]policies.Patch{"x": {
		Retry:        policies.RetryPatch{MaxAttempts: new(10), BaseDelay: new(10 * time.Second), Jitter: new(false)},
		TotalTimeout: new(10 * time.Second),
	}}}
	reg := load(t, policies.Config{
		RetryMaxAttempts: new(20),
		RetryBaseDelay:   new(20 * time.Second),
		RetryServiceOverrides: map[string]policies.Patch{
			"x": {Retry: policies.RetryPatch{MaxAttempts: new(30), Jitter: new(true)}},
		},
	}, &defaults)
	require.Empty(t, reg.Findings())
	want := resilient.DefaultPolicy()
	want.Retry.MaxAttempts = 30             // override
	want.Retry.BaseDelay = 20 * time.Second // all services
	want.Retry.Jitter = true                // override
	want.TotalTimeout = 10 * time.Second    // the service's default
	assert.Equal(t, want, reg.Policy("x"))
}

// max_retry_after is max_delay unless a layer says otherwise, also 0.
func TestMaxRetryAfterFollowsMaxDelay(t *testing.T) {
	for _, c := range []struct {
		config policies.Config
		want   time.Duration
	}{
		{policies.Config{}, 60 * time.Second},
		{policies.Config{RetryMaxDelay: new(5 * time.Second)}, 5 * time.Second},
		{policies.Config{RetryMaxDelay: new(24 * time.Hour)}, 24 * time.Hour},
		{policies.Config{RetryMaxDelay: new(5 * time.Second), RetryServiceOverrides: map[string]policies.Patch{
			"x": {Retry: policies.RetryPatch{MaxRetryAfter: new(time.Duration(0))}}}}, 0},
		{policies.Config{RetryMaxDelay: new(5 * time.Second), RetryServiceOverrides: map[string]policies.Patch{
			"x": {Retry: policies.RetryPatch{MaxDelay: new(7 * time.Second)}}}}, 7 * time.Second},
		// A conflict takes the cap away, and so what follows from it.
		{policies.Config{RetryMaxDelay: new(500 * time.Millisecond)}, 60 * time.Second},
	} {
		assert.Equal(t, c.want, load(t, c.config, nil).Policy("x").Retry.MaxRetryAfter)
	}
}

// What spans fields is checked after layering; the latest layer that touched one of
// them is skipped for all of them.
func TestConflicts(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for name, c := range map[string]struct {
		service, override policies.Patch
		all               policies.Config
		want              []brief // about x
		retry             policies.Patch
	}{
		"override's cap below the default's base": {
			override: retryPatch(-1, 500*ms, ""),
			want:     []brief{{"x", "retry.max_delay", policies.KindConflict}},
		},
		"override's base above its own cap, and its strategy goes too": {
			override: retryPatch(5*s, 2*s, resilient.BackoffNone),
			want:     []brief{{"x", "retry.base_delay, retry.max_delay, retry.backoff_strategy", policies.KindConflict}},
		},
		"strategy's floor above the cap": {
			service:  retryPatch(0, 1*s, resilient.BackoffNone),
			override: retryPatch(-1, -1, resilient.BackoffLinear),
			want:     []brief{{"x", "retry.backoff_strategy", policies.KindConflict}},
			retry:    retryPatch(0, 1*s, resilient.BackoffNone),
		},
		"a later layer mends it": {
			all:      policies.Config{RetryMaxDelay: new(500 * ms)},
			override: retryPatch(200*ms, -1, ""),
			retry:    retryPatch(200*ms, 500*ms, ""),
		},
		"the latest goes first, then the one before": {
			all:      policies.Config{RetryMaxDelay: new(500 * ms)},
			override: retryPatch(700*ms, -1, ""),
			want: []brief{
				{"x", "retry.base_delay", policies.KindConflict},
				{"", "retry_max_delay", policies.KindConflict}, // it fits no other service either
			},
		},
		"for all services, against one service's default": {
			service: retryPatch(10*s, 60*s, ""),
			all:     policies.Config{RetryMaxDelay: new(5 * s)},
			want:    []brief{{"x", "retry_max_delay", policies.KindConflict}},
			retry:   retryPatch(10*s, 60*s, ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.all.RetryServiceOverrides = map[string]policies.Patch{"x": c.override}
			c.override.TotalTimeout = new(9 * s) // not part of it: holds in any case
			c.all.RetryServiceOverrides["x"] = c.override
			reg := load(t, c.all, &policies.Defaults{
				Services: map[string]policies.Patch{"x": c.service}, Fallback: new(policies.Patch{}),
			})
			var got []brief
			for _, f := range reg.Findings() {
				if f.Service == "x" || strings.HasSuffix(f.Message, ", and 1 more") {
					got = append(got, brief{f.Service, f.Key, f.Kind})
					assert.Contains(t, f.Message, "; this part of the ")
					assert.True(t, f.Skipped())
				}
			}
			assert.Equal(t, c.want, got)
			want := c.retry.Apply(resilient.DefaultPolicy())
			want.TotalTimeout = 9 * s
			want.Retry.MaxRetryAfter = want.Retry.MaxDelay
			assert.Equal(t, want, reg.Policy("x"))
			assert.NoError(t, reg.Policy("x").Validate())
		})
	}
}

// A conflict of recovery times leaves the delays alone, and the other way round.
func TestConflictsAreIndependent(t *testing.T) {
	reg := fromOverrides(t, `{"trace_service":{"retry":{"max_delay":5},"circuit_breaker":{"max_recovery_timeout":10,"cooldown":3}}}`)
	require.Equal(t, []brief{{"trace_service", "circuit_breaker.max_recovery_timeout", policies.KindConflict}}, briefs(reg.Findings()))
	assert.Equal(t, changed(func(p *resilient.Policy) {
		p.Retry.MaxDelay, p.Retry.MaxRetryAfter, p.Circuit.Cooldown = 5*time.Second, 5*time.Second, 3*time.Second
	}), reg.Policy("trace_service"))
}

// A slow rule has both its parts, and a circuit has a rule: the layer that leaves it
// without is skipped, never the protection (P66).
func TestConflictsOfTripRules(t *testing.T) {
	for override, want := range map[string]struct {
		key    string
		change func(*resilient.Policy)
	}{
		`{"slow_call_rate":0.5,"cooldown":3}`:       {"circuit_breaker.slow_call_rate", nil},
		`{"slow_call_duration":2,"cooldown":3}`:     {"circuit_breaker.slow_call_duration", nil},
		`{"failure_threshold":"off","cooldown":3}`:  {"circuit_breaker.failure_threshold", nil},
		`{"slow_call_duration":"off","cooldown":3}`: {"", nil},
		`{"failure_threshold":"off","failure_rate":"off","cooldown":3}`: {
			"circuit_breaker.failure_threshold, circuit_breaker.failure_rate", nil,
		},
		`{"failure_rate":0.5,"slow_call_rate":0.5,"cooldown":3}`: {
			"circuit_breaker.slow_call_rate", func(p *resilient.Policy) { p.Circuit.FailureRate = 0.5 },
		},
	} {
		t.Run(override, func(t *testing.T) {
			reg := fromOverrides(t, `{"trace_service":{"circuit_breaker":`+override+`}}`)
			if want.key == "" {
				assert.Empty(t, reg.Findings())
			} else {
				assert.Equal(t, []brief{{"trace_service", want.key, policies.KindConflict}}, briefs(reg.Findings()))
			}
			assert.Equal(t, changed(func(p *resilient.Policy) {
				p.Circuit.Cooldown = 3 * time.Second
				if want.change != nil {
					want.change(p)
				}
			}), reg.Policy("trace_service"))
			assert.NoError(t, reg.Policy("trace_service").Validate())
		})
	}

	reg := fromOverrides(t, `{"trace_service":{"circuit_breaker":{"failure_threshold":"off","slow_call_rate":0.5}}}`)
	assert.Equal(t, []brief{
		{"trace_service", "circuit_breaker.slow_call_rate", policies.KindConflict},
		{"trace_service", "circuit_breaker.failure_threshold", policies.KindConflict},
	}, briefs(reg.Findings()), "the one leaves nothing to the other")
	assert.Equal(t, changed(nil), reg.Policy("trace_service"))
}

// A rule that is on for all of a service's kind can be switched off for the service, and
// one for all services where another is on.
func TestARuleIsSwitchedOff(t *testing.T) {
	defaults := policies.Defaults{Fallback: &policies.Patch{Circuit: policies.CircuitPatch{FailureRate: new(0.5)}}}
	reg := load(t, policies.Config{RetryServiceOverrides: map[string]policies.Patch{
		"x": {Circuit: policies.CircuitPatch{FailureRate: new(0.0)}},
		"y": {Circuit: policies.CircuitPatch{FailureThreshold: new(0)}},
	}}, &defaults)
	assert.Empty(t, reg.Findings())
	assert.Zero(t, reg.Policy("x").Circuit.FailureRate)
	assert.Equal(t, 0.5, reg.Policy("y").Circuit.FailureRate)
	assert.Zero(t, reg.Policy("y").Circuit.FailureThreshold)
	for _, s := range reg.Explain("y").Settings {
		if s.Key == "circuit_breaker.failure_threshold" {
			assert.Equal(t, "off", s.Value)
		}
	}

	written, err := json.Marshal(policies.Config{RetryServiceOverrides: map[string]policies.Patch{
		"y": {Circuit: policies.CircuitPatch{FailureThreshold: new(0), FailureRate: new(0.5)}},
	}})
	require.NoError(t, err)
	assert.JSONEq(t, `{"retry_service_overrides":{"y":{"circuit_breaker":{"failure_threshold":"off","failure_rate":0.5}}}}`, string(written))

	env := fromEnv(t, map[string]string{"P_CB_FAILURE_THRESHOLD": "off"})
	require.Len(t, env.Findings(), 1, "nothing else is on")
	assert.Equal(t, policies.KindConflict, env.Findings()[0].Kind)
	assert.Equal(t, changed(nil), env.Policy("trace_service"))
}

// A variable that fits no service is one mistake, and reported once.
func TestConflictOfAVariable(t *testing.T) {
	reg := fromEnv(t, map[string]string{"P_RETRY_MAX_DELAY": "0.5"})
	require.Len(t, reg.Findings(), 1)
	assert.Equal(t, "P_RETRY_MAX_DELAY: max_delay 500ms is below base_delay 1s; this part of the setting for all services is skipped "+
		"for services that nothing names, and 11 more", reg.Findings()[0].String())
	assert.Equal(t, changed(nil), reg.Policy("trace_service"))
	assert.Equal(t, changed(nil), reg.Policy("unnamed"))

	both := fromEnv(t, map[string]string{"P_RETRY_MAX_DELAY": "0.5", "P_RETRY_BASE_DELAY": "0.5"})
	assert.Empty(t, both.Findings())
	assert.Equal(t, 500*time.Millisecond, both.Policy("x").Retry.MaxDelay)
}
