package policies_test

import (
	"slices"
	"strings"
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
	for _, s := range reg.Explain("plan_service").Settings {
		at[s.Key] = s
	}
	assert.Len(t, at, len(policies.Keys()))
	for _, want := range []policies.Setting{
		{Key: "retry.max_attempts", Value: "5", Origin: policies.OriginOverride, Where: "retry.max_attempts"},
		{Key: "retry.base_delay", Value: "2s", Origin: policies.OriginAll, Where: "P_RETRY_BASE_DELAY"},
		{Key: "retry.max_delay", Value: "1m", Origin: policies.OriginLibrary},
		{Key: "retry.max_retry_after", Value: "1m", Origin: policies.OriginLibrary, Where: "as retry.max_delay"},
		{Key: "retry.backoff_strategy", Value: "jitter", Origin: policies.OriginService, Where: "retry.backoff_strategy"},
		{Key: "retry.retry_on_idempotent_only", Value: "true", Origin: policies.OriginLibrary},
		{Key: "circuit_breaker.cooldown", Value: "1s", Origin: policies.OriginOverride, Where: "circuit_breaker.cooldown"},
		{Key: "circuit_breaker.half_open_max_successes", Value: "1", Origin: policies.OriginLibrary},
		{Key: "circuit_breaker.recovery_multiplier", Value: "1", Origin: policies.OriginLibrary},
		{Key: "total_timeout", Value: "5m", Origin: policies.OriginLibrary},
		{Key: "attempt_timeout", Value: "9s", Origin: policies.OriginOverride, Where: "attempt_timeout"},
	} {
		assert.Equal(t, want, at[want.Key])
	}

	for _, s := range reg.Explain("new").Settings {
		switch s.Key {
		case "circuit_breaker.max_recovery_timeout": // what was skipped did not win
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "24h", Origin: policies.OriginLibrary}, s)
		case "retry.backoff_strategy":
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "fixed", Origin: policies.OriginFallback, Where: s.Key}, s)
		}
	}
	assert.Equal(t, reg.Explain("nobody").Settings, reg.Explain("nobody else").Settings)

	p := reg.Policy("plan_service")
	p.Circuit.MaxProbes, p.TotalTimeout = 3, seconds(7)
	require.NoError(t, reg.Guard("plan_service").SetPolicy(p))
	for _, s := range reg.Explain("plan_service").Settings {
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

// Whose guard a name's calls go through, and what is said of it, is what the call gets;
// asking makes none.
func TestExplainWhoServes(t *testing.T) {
	options := quiet()
	reg, err := policies.FromEnv("P", &policies.Options{Options: options, MaxLazyGuards: 1, LookupEnv: lookupIn(map[string]string{
		"P_RETRY_SERVICE_OVERRIDES": `{"(others)":{"total_timeout":9}}`,
	})})
	require.NoError(t, err)
	explained := func(name, guard string, fallback bool, total string) {
		t.Helper()
		e := reg.Explain(name)
		assert.Equal(t, guard, e.Guard, name)
		assert.Equal(t, fallback, e.Fallback, name)
		at := slices.IndexFunc(e.Settings, func(s policies.Setting) bool { return s.Key == "total_timeout" })
		assert.Equal(t, total, e.Settings[at].Value, name)
		before := reg.Names()
		assert.Equal(t, e, reg.Explain(name))
		assert.Equal(t, before, reg.Names())
	}
	explained("plan_service", "plan_service", false, "5m")
	explained("first", "first", true, "5m")
	explained("second", "second", true, "5m") // there is room for one of the two
	explained("", policies.SharedGuard, true, "9s")
	explained(policies.SharedGuard, policies.SharedGuard, false, "9s")
	reg.Guard("first")
	explained("first", "first", true, "5m")
	explained("second", policies.SharedGuard, true, "9s")
	assert.Equal(t, seconds(9), reg.Policy("second").TotalTimeout)
	assert.Equal(t, seconds(9), reg.Policy("").TotalTimeout)
	assert.Equal(t, reg.Guard("second").Policy(), reg.Policy("second"))
	assert.Contains(t, reg.Explain("second").String(), "second\nnothing names it: it has the fallback policy\nits calls go through the guard (others)\n")
}

// Names and what stands in variables leave without secrets, in one line.
func TestExplainIsSanitised(t *testing.T) {
	reg := fromEnv(t, nil)
	e := reg.Explain("a\nb token=hunter2 \x1b[31m")
	assert.Equal(t, "a b token=***  [31m", e.Service)
	assert.Equal(t, e.Service, e.Guard)
	assert.NotContains(t, e.String(), "hunter2")
	assert.NotContains(t, e.String(), "\x1b")
}

// What cannot be written is reported.
func TestExplainToAWriterThatFails(t *testing.T) {
	reg := fromEnv(t, nil)
	assert.ErrorIs(t, reg.Explain("x").WriteText(failing{}), errDown)
	assert.ErrorIs(t, reg.ExplainChain("x").WriteText(failing{}), errDown)
	var out strings.Builder
	require.NoError(t, reg.Explain("x").WriteText(&out))
	assert.Equal(t, reg.Explain("x").String(), out.String())
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDown }
