package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
)

// A73, A74: every setting in force is listed with the layer that won.
func TestExplain(t *testing.T) {
	reg := fromEnv(t, map[string]string{
		"P_RETRY_BASE_DELAY": "2", "P_RETRY_MAX_ATTEMPTS": "4",
		"P_RETRY_SERVICE_OVERRIDES": `{"plan_service":{"retry":{"max_attempts":5},"circuit_breaker":{"cooldown_seconds":1},"attempt_timeout":9},
			"new":{"circuit_breaker":{"max_recovery_timeout":1}}}`,
	})
	at := map[string]policies.Setting{}
	for _, s := range reg.Explain("plan_service") {
		at[s.Key] = s
	}
	assert.Len(t, at, 27)
	for _, want := range []policies.Setting{
		{Key: "retry.max_attempts", Value: "5", Origin: policies.OriginOverride, Where: "retry.max_attempts"},
		{Key: "retry.base_delay", Value: "2s", Origin: policies.OriginAll, Where: "P_RETRY_BASE_DELAY"},
		{Key: "retry.max_delay", Value: "1m0s", Origin: policies.OriginLibrary},
		{Key: "retry.max_retry_after", Value: "1m0s", Origin: policies.OriginLibrary, Where: "as retry.max_delay"},
		{Key: "retry.backoff_strategy", Value: "jitter", Origin: policies.OriginService, Where: "retry.backoff_strategy"},
		{Key: "retry.retry_on_idempotent_only", Value: "true", Origin: policies.OriginLibrary},
		{Key: "circuit_breaker.cooldown", Value: "1s", Origin: policies.OriginOverride, Where: "circuit_breaker.cooldown"},
		{Key: "circuit_breaker.half_open_max_successes", Value: "1", Origin: policies.OriginLibrary},
		{Key: "circuit_breaker.recovery_multiplier", Value: "1", Origin: policies.OriginLibrary},
		{Key: "total_timeout", Value: "5m0s", Origin: policies.OriginLibrary},
		{Key: "attempt_timeout", Value: "9s", Origin: policies.OriginOverride, Where: "attempt_timeout"},
	} {
		assert.Equal(t, want, at[want.Key])
	}

	for _, s := range reg.Explain("new") {
		switch s.Key {
		case "circuit_breaker.max_recovery_timeout": // what was skipped did not win
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "24h0m0s", Origin: policies.OriginLibrary}, s)
		case "retry.backoff_strategy":
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "fixed", Origin: policies.OriginFallback, Where: s.Key}, s)
		}
	}
	assert.Equal(t, reg.Explain("nobody"), reg.Explain("nobody else"))

	p := reg.Policy("plan_service")
	p.Circuit.MaxProbes, p.TotalTimeout = 3, seconds(7)
	require.NoError(t, reg.Guard("plan_service").SetPolicy(p))
	for _, s := range reg.Explain("plan_service") {
		switch s.Key {
		case "circuit_breaker.half_open_max_successes":
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "3 and 1", Origin: policies.OriginRunTime}, s)
		case "total_timeout":
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "7s", Origin: policies.OriginRunTime}, s)
		default:
			assert.Equal(t, at[s.Key], s)
		}
	}
}
