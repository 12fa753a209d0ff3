package policies_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
)

// sound checks what holds for every configuration, however bad: R20.
func sound(t *testing.T, c policies.Config) {
	t.Helper()
	options := &policies.Options{Options: quiet(), MaxLazyGuards: 2}
	reg, err := policies.Load(c, options)
	require.NoError(t, err, "bad input never stops a program")
	found, err := policies.Validate(c, options)
	require.NoError(t, err)
	assert.Equal(t, found, reg.Findings())
	for _, f := range found {
		assert.True(t, f.Service != "" || f.Key != "", "a finding names a place: %+v", f)
		assert.NotEmpty(t, f.Kind)
		assert.NotEmpty(t, f.Message)
		assert.NotContains(t, f.String(), "\n")
	}
	for _, name := range append(reg.Names(), "", "nobody", "no one", "none") {
		assert.NoError(t, reg.Guard(name).Policy().Validate(), name)
		assert.NoError(t, reg.Policy(name).Validate(), name)
		e := reg.Explain(name)
		assert.Len(t, e.Settings, len(policies.Keys()))
		for line := range strings.Lines(e.String()) {
			assert.NotContains(t, strings.Map(controls, strings.TrimSuffix(line, "\n")), "!", "one line for each")
		}
		_, err = json.Marshal(e)
		assert.NoError(t, err)
	}
	assert.Len(t, reg.ExplainChain(reg.Names()...).Links, len(reg.Names()))
}

// controls maps control characters to !, and drops all others.
func controls(r rune) rune {
	if unicode.IsControl(r) {
		return '!'
	}
	return -1
}

func FuzzOverrides(f *testing.F) {
	for _, doc := range []string{
		``, `{}`, `null`, `[]`, `{"x":{}}`, `{"x":3,"y":null,"":{}}`,
		`{"plan_service":{"retry":{"max_attempts":5,"base_delay":2.0},"circuit_breaker":{"failure_threshold":3}}}`,
		`{"x":{"retry":{"max_delay":0.05,"backoff_strategy":"linear"},"circuit_breaker":{"recovery_timeout":"24h","max_recovery_timeout":1}}}`,
		`{"x":{"retry":{"max_attempts":1e400,"base_delay":"-1s","max_retry_after":0,"retry_on_idempotent_only":false}}}`,
		`{"x":{"service_name":"y","retry":null,"total_timeout":1e-9,"attempt_timeout":300}}`,
		`{"x":{"circuit_breaker":{"cooldown":1,"cooldown_seconds":2,"half_open_max_successes":100,"enabled":false}},"x":{}}`,
		`{"(others)":{"circuit_breaker":{"recovery_multiplier":1e2,"probe_lease":86400}}}`,
		`{"\u0000\n":{"token=x":[[[[]]]]}}`, "{\"\xff\":{\"retry\":{\"\xfe\":1}}}", `{"a":1} `, nested(50),
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		c, err := policies.ParseEnv("P", &policies.Options{LookupEnv: lookupIn(map[string]string{"P_RETRY_SERVICE_OVERRIDES": doc})})
		require.NoError(t, err)
		sound(t, c)

		// What was accepted is written as a document that means the same.
		written, err := c.MarshalJSON()
		require.NoError(t, err)
		again := policies.ParseJSON(written)
		if len(written) < 10_000 && len(c.RetryServiceOverrides) > 0 {
			assert.Equal(t, c.RetryServiceOverrides, again.RetryServiceOverrides)
		}
		sound(t, policies.ParseJSON([]byte(doc)))
		sound(t, policies.ParseJSON([]byte(`{"retry_service_overrides":`+doc+`}`)))
	})
}

func FuzzEnv(f *testing.F) {
	f.Add("3", "1.0", "60.0", "true", "exponential", "5", "60.0", "30.0")
	f.Add("0", "-1", "0.05", "yes", "linear", "1e6", "1e-12", "0")
	f.Add("100", "1h", "24h", "off", "none", "+1", "86400", "1e400")
	f.Add("NaN", "Inf", "-Inf", "2", "expo", "0x1", "1_0", " ")
	f.Add("", "1.5s", "1.4s", "\x00", "jitter", "1.0", "\xff", "-0")
	f.Fuzz(func(t *testing.T, attempts, base, maxDelay, jitter, strategy, threshold, recovery, cooldown string) {
		c, err := policies.ParseEnv("P", &policies.Options{LookupEnv: lookupIn(map[string]string{
			"P_RETRY_MAX_ATTEMPTS": attempts, "P_RETRY_BASE_DELAY": base, "P_RETRY_MAX_DELAY": maxDelay,
			"P_RETRY_JITTER": jitter, "P_RETRY_BACKOFF_STRATEGY": strategy,
			"P_CB_FAILURE_THRESHOLD": threshold, "P_CB_RECOVERY_TIMEOUT": recovery, "P_CB_COOLDOWN": cooldown,
			"P_RETRY_SERVICE_OVERRIDES": `{"x":{"retry":{"base_delay":"100ms","max_delay":"5s"},"circuit_breaker":{"max_recovery_timeout":"1m"}}}`,
		})})
		require.NoError(t, err)
		sound(t, c)
		written, err := c.MarshalJSON()
		require.NoError(t, err)
		sound(t, policies.ParseJSON(written))
	})
}
