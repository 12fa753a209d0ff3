package policies_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// R1: each variable reaches the policy of every service, registered or not.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		name, value string
		change      func(*resilient.Policy)
	}{
		{"P_RETRY_MAX_ATTEMPTS", "1", func(p *resilient.Policy) { p.Retry.MaxAttempts = 1 }},
		{"P_RETRY_MAX_ATTEMPTS", " 7 ", func(p *resilient.Policy) { p.Retry.MaxAttempts = 7 }},
		{"P_RETRY_MAX_ATTEMPTS", "5.0", func(p *resilient.Policy) { p.Retry.MaxAttempts = 5 }},
		{"P_RETRY_BASE_DELAY", "0", func(p *resilient.Policy) { p.Retry.BaseDelay = 0 }},
		{"P_RETRY_BASE_DELAY", "2.5", func(p *resilient.Policy) { p.Retry.BaseDelay = 2500 * time.Millisecond }},
		{"P_RETRY_BASE_DELAY", "1m", func(p *resilient.Policy) { p.Retry.BaseDelay = time.Minute }},
		{"P_RETRY_MAX_DELAY", "1.5s", func(p *resilient.Policy) {
			p.Retry.MaxDelay, p.Retry.MaxRetryAfter = 1500*time.Millisecond, 1500*time.Millisecond
		}},
		{"P_RETRY_JITTER", "true", func(p *resilient.Policy) { p.Retry.Jitter = true }},
		{"P_RETRY_JITTER", "Yes", func(p *resilient.Policy) { p.Retry.Jitter = true }},
		{"P_RETRY_JITTER", "ON", func(p *resilient.Policy) { p.Retry.Jitter = true }},
		{"P_RETRY_JITTER", "0", nil},
		{"P_RETRY_JITTER", "off", nil},
		{"P_RETRY_BACKOFF_STRATEGY", "linear", func(p *resilient.Policy) { p.Retry.Backoff = resilient.BackoffLinear }},
		{"P_CB_FAILURE_THRESHOLD", "1000000", func(p *resilient.Policy) { p.Circuit.FailureThreshold = 1_000_000 }},
		{"P_CB_RECOVERY_TIMEOUT", "0.5", func(p *resilient.Policy) { p.Circuit.RecoveryTimeout = 500 * time.Millisecond }},
		{"P_CB_COOLDOWN", "0", func(p *resilient.Policy) { p.Circuit.Cooldown = 0 }},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			reg := fromEnv(t, map[string]string{c.name: c.value})
			assert.Empty(t, reg.Findings())
			assert.Equal(t, changed(c.change), reg.Policy("trace_service"))
			assert.Equal(t, changed(c.change), reg.Policy("nobody named"))
			assert.Equal(t, changed(c.change), reg.Guard("nobody named").Policy())
		})
	}
}

// R20, P3, P13, P66, A55: a variable that cannot be used is reported by its name
// and passed over; the others hold. 0 and −1 never mean "off" by accident.
func TestBadVariables(t *testing.T) {
	for name, values := range map[string][]string{
		"P_RETRY_MAX_ATTEMPTS":     {"0", "-1", "101", "3.5", "three", "NaN", "1e400", "99999999999999999999", "0x3", "1_0", "--3"},
		"P_RETRY_BASE_DELAY":       {"-1", "-1s", "3601", "NaN", "Inf", "-Inf", "1e400", "1e300", "1 s", "1,5", "9999999h", "true"},
		"P_RETRY_MAX_DELAY":        {"-1", "86401", "x"},
		"P_RETRY_JITTER":           {"-1", "2", "maybe", "0.5", "nul"},
		"P_RETRY_BACKOFF_STRATEGY": {"expo", "Exponential", "0", "null"},
		"P_CB_FAILURE_THRESHOLD":   {"0", "-1", "1000001"},
		"P_CB_RECOVERY_TIMEOUT":    {"0", "-1", "86401", "1e-12", "0s"},
		"P_CB_COOLDOWN":            {"-1", "86401"},
	} {
		for _, value := range values {
			t.Run(name+"="+value, func(t *testing.T) {
				reg := fromEnv(t, map[string]string{name: value, "P_RETRY_SERVICE_OVERRIDES": `{"x":{"total_timeout":9}}`})
				require.Len(t, reg.Findings(), 1)
				f := reg.Findings()[0]
				assert.Equal(t, name, f.Key)
				assert.Contains(t, []policies.Kind{policies.KindWrongType, policies.KindOutOfRange}, f.Kind)
				assert.True(t, f.Skipped())
				assert.Contains(t, f.Message, "it is skipped")
				assert.Equal(t, changed(nil), reg.Policy("trace_service"))
				assert.Equal(t, 9*time.Second, reg.Policy("x").TotalTimeout, "the rest stands")
			})
		}
	}
}

func TestEmptyVariableIsNotSet(t *testing.T) {
	reg := fromEnv(t, map[string]string{"P_RETRY_MAX_ATTEMPTS": "", "P_RETRY_SERVICE_OVERRIDES": "  "})
	assert.Equal(t, []brief{
		{"", "P_RETRY_MAX_ATTEMPTS", policies.KindEmpty},
		{"", "P_RETRY_SERVICE_OVERRIDES", policies.KindEmpty},
	}, briefs(reg.Findings()))
	assert.Equal(t, changed(nil), reg.Policy("trace_service"))
}

// A78, in the environment: the wrong word is not passed over in silence.
func TestStrayVariables(t *testing.T) {
	for name, hint := range map[string]string{
		"P_RETRY_MAX_RETRIES":                 `did you mean "P_RETRY_MAX_ATTEMPTS"?`,
		"P_CB_COOLDOWN_SECONDS":               `did you mean "P_CB_COOLDOWN"?`,
		"P_CIRCUIT_BREAKER_FAILURE_THRESHOLD": `did you mean "P_CB_FAILURE_THRESHOLD"?`,
		"P_CB_ENABLED":                        "in P_RETRY_SERVICE_OVERRIDES",
		"P_CB_HALF_OPEN_MAX_SUCCESSES":        "in P_RETRY_SERVICE_OVERRIDES",
	} {
		reg := fromEnv(t, map[string]string{name: "1"})
		require.Equal(t, []brief{{"", name, policies.KindUnknownKey}}, briefs(reg.Findings()))
		assert.Contains(t, reg.Findings()[0].Message, hint)
		assert.False(t, reg.Findings()[0].Skipped())
		assert.Equal(t, changed(nil), reg.Policy("trace_service"))
	}
	assert.Empty(t, fromEnv(t, map[string]string{"P_TOTAL_TIMEOUT": "1", "P_OTHER": "x"}).Findings(), "the application's own")
}

func TestPrefix(t *testing.T) {
	for _, wrong := range []string{"", "p", "1P", "_P", "P_", "P-Q", "P Q", "Pq", "É", "P\x00", "P="} {
		reg, err := policies.FromEnv(wrong, nil)
		assert.Nil(t, reg)
		require.Error(t, err, wrong)
		_, err = policies.ParseEnv(wrong, nil)
		require.Error(t, err, wrong)
	}
	for _, right := range []string{"P", "CLEVERAGENTS", "MY_APP2"} {
		reg, err := policies.FromEnv(right, &policies.Options{LookupEnv: lookupIn(map[string]string{right + "_RETRY_MAX_ATTEMPTS": "9"})})
		require.NoError(t, err)
		assert.Equal(t, 9, reg.Policy("x").Retry.MaxAttempts)
	}
}

// R33: without options the process's own environment is read.
func TestProcessEnvironment(t *testing.T) {
	t.Setenv("POLICIES_TEST_RETRY_MAX_ATTEMPTS", "11")
	reg, err := policies.FromEnv("POLICIES_TEST", nil)
	require.NoError(t, err)
	assert.Equal(t, 11, reg.Policy("plan_service").Retry.MaxAttempts)
}

// A misspelt variable does not pass in silence, where the variables can be listed.
func TestMisspeltVariables(t *testing.T) {
	environ := []string{
		"P_RETRY_MAX_ATEMPTS=5", "P_CB_COOL=1", "P_RETRY_OVERRIDES={}", "P_RETRY_BASE_DELAY=2", "P_RETRY_MAX_RETRIES=4",
		"P_PORT=80", "PP_RETRY_X=1", "OTHER_RETRY_MAX_ATEMPTS=1", "P_CB_=", "odd",
		"P_CB_STORE=redis://localhost", "P_CB_STROE=redis://localhost",
	}
	lookup := func(name string) (string, bool) {
		for _, entry := range environ {
			if key, value, _ := strings.Cut(entry, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
	reg, err := policies.FromEnv("P", &policies.Options{
		LookupEnv: lookup, Environ: func() []string { return environ },
	})
	require.NoError(t, err)
	var texts []string
	for _, f := range reg.Findings() {
		texts = append(texts, f.String())
	}
	assert.Equal(t, []string{
		`P_RETRY_MAX_RETRIES: no such variable is read (did you mean "P_RETRY_MAX_ATTEMPTS"?); it is ignored`,
		`P_RETRY_OVERRIDES: no such variable is read (did you mean "P_RETRY_SERVICE_OVERRIDES"?); it is ignored`,
		`P_CB_: no such variable is read; it is ignored`,
		`P_CB_COOL: no such variable is read (did you mean "P_CB_COOLDOWN"?); it is ignored`,
		`P_CB_STROE: no such variable is read (did you mean "P_CB_STORE"?); it is ignored`,
		`P_RETRY_MAX_ATEMPTS: no such variable is read (did you mean "P_RETRY_MAX_ATTEMPTS"?); it is ignored`,
	}, texts)
	assert.Equal(t, 2*time.Second, reg.Policy("plan_service").Retry.BaseDelay)
}

// The process's own environment is listed when nothing else is said.
func TestMisspeltVariablesOfTheProcess(t *testing.T) {
	t.Setenv("STOIC_TEST_RETRY_MAX_ATEMPTS", "5")
	findings, err := policies.Validate(parsed(t, "STOIC_TEST"), nil)
	require.NoError(t, err)
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].String(), "STOIC_TEST_RETRY_MAX_ATTEMPTS")
}

func parsed(t *testing.T, prefix string) policies.Config {
	t.Helper()
	c, err := policies.ParseEnv(prefix, nil)
	require.NoError(t, err)
	return c
}
