package policies_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

func allSet() policies.Config {
	return policies.Config{
		RetryMaxAttempts:               new(4),
		RetryBaseDelay:                 new(1500 * time.Millisecond),
		RetryMaxDelay:                  new(30 * time.Second),
		RetryJitter:                    new(false),
		RetryBackoffStrategy:           new(resilient.BackoffLinear),
		CircuitBreakerFailureThreshold: new(9),
		CircuitBreakerRecoveryTimeout:  new(10 * time.Second),
		CircuitBreakerCooldown:         new(time.Duration(0)),
		RetryServiceOverrides:          map[string]policies.Patch{"x": full(), "y": {}},
	}
}

// R1, R33: the nine keys as a document, and what is written is read again.
func TestConfigDocument(t *testing.T) {
	doc := `{"retry_max_attempts":4,"retry_base_delay":1.5,"retry_max_delay":"30s","retry_jitter":false,
		"retry_backoff_strategy":"linear","circuit_breaker_failure_threshold":9,"circuit_breaker_recovery_timeout":10,
		"circuit_breaker_cooldown":0,"retry_service_overrides":{"y":{},"x":{
			"retry":{"max_attempts":7,"base_delay":2,"max_delay":20,"jitter":false,"backoff_strategy":"linear_increasing",
				"retry_on_idempotent_only":false,"max_retry_after":33,"budget":"shared"},
			"circuit_breaker":{"enabled":false,"failure_threshold":8,"recovery_timeout":9,"cooldown":0,"half_open_max_successes":4,
				"recovery_multiplier":2.5,"max_recovery_timeout":90,"probe_lease":420,"min_reporters":2,
				"failure_rate":0.57,"slow_call_rate":0.5,"slow_call_duration":3,"minimum_calls":30,"window":40,"window_buckets":8,
				"recovery_jitter":0.25,"mode":"observe"},
			"store":"local",
			"total_timeout":100,"attempt_timeout":1.5}}}`
	assert.Equal(t, allSet(), policies.ParseJSON([]byte(doc)))

	written, err := json.Marshal(allSet())
	require.NoError(t, err)
	assert.JSONEq(t, strings.ReplaceAll(doc, `"30s"`, "30"), string(written))

	var outer struct{ Resilience policies.Config }
	require.NoError(t, json.Unmarshal([]byte(`{"Resilience":`+doc+`}`), &outer))
	assert.Equal(t, allSet(), outer.Resilience)
	require.NoError(t, json.Unmarshal([]byte(`{"Resilience":null}`), &outer))
	assert.Equal(t, allSet(), outer.Resilience, "null leaves it")

	findings, err := policies.Validate(outer.Resilience, &policies.Options{Options: withBudgets(t, "shared")})
	require.NoError(t, err)
	assert.Empty(t, findings)
}

// The overrides of a document may be a string, as they are in the environment.
func TestOverridesAsAString(t *testing.T) {
	reg := load(t, policies.ParseJSON([]byte(`{"retry_service_overrides":"{\"x\":{\"total_timeout\":9}}"}`)), nil)
	assert.Empty(t, reg.Findings())
	assert.Equal(t, 9*time.Second, reg.Policy("x").TotalTimeout)
}

// R20, in a Config's document: one by one, and the rest stands.
func TestBadConfigDocument(t *testing.T) {
	for doc, want := range map[string]brief{
		`[]`:                           {"", "(document)", policies.KindDocument},
		``:                             {"", "(document)", policies.KindDocument},
		`{"retry_jitter":true} x`:      {"", "(document)", policies.KindDocument},
		nested(20_000):                 {"", "(document)", policies.KindDocument},
		strings.Repeat("[", 1_000_000): {"", "(document)", policies.KindDocument},
		`{"retry_max_attempts":0,"retry_jitter":true}`:            {"", "retry_max_attempts", policies.KindOutOfRange},
		`{"retry_max_attempts":"4","retry_jitter":true}`:          {"", "retry_max_attempts", policies.KindWrongType},
		`{"retry_max_attempts":null,"retry_jitter":true}`:         {"", "retry_max_attempts", policies.KindEmpty},
		`{"retry_max_attempts":4,"retry_max_attempts":4}`:         {"", "retry_max_attempts", policies.KindDuplicate},
		`{"retry_max_retries":4,"retry_jitter":true}`:             {"", "retry_max_retries", policies.KindUnknownKey},
		`{"":4,"retry_jitter":true}`:                              {"", `""`, policies.KindUnknownKey},
		`{"retry_service_overrides":[],"retry_jitter":true}`:      {"", "retry_service_overrides", policies.KindDocument},
		`{"retry_service_overrides":"","retry_jitter":true}`:      {"", "retry_service_overrides", policies.KindDocument},
		`{"retry_service_overrides":3,"retry_jitter":true}`:       {"", "retry_service_overrides", policies.KindDocument},
		`{"retry_service_overrides":null,"retry_jitter":true}`:    {"", "retry_service_overrides", policies.KindEmpty},
		`{"retry_service_overrides":{"x":1},"retry_jitter":true}`: {"x", "", policies.KindWrongType},
		`{"retry_service_overrides":{` + strings.Repeat(" ", 10_000) + `}}`: {
			"", "retry_service_overrides", policies.KindDocument},
	} {
		t.Run(doc[:min(len(doc), 60)], func(t *testing.T) {
			c := policies.ParseJSON([]byte(doc))
			found, err := policies.Validate(c, nil)
			require.NoError(t, err)
			assert.Equal(t, []brief{want}, briefs(found))
			reg := load(t, c, nil)
			assert.Equal(t, found, reg.Findings())
			assert.Equal(t, 3, reg.Policy("x").Retry.MaxAttempts)
			assert.Equal(t, strings.Contains(doc, `"retry_jitter":true,`) || strings.HasSuffix(doc, `"retry_jitter":true}`), reg.Policy("x").Retry.Jitter)
		})
	}
}

func TestConfigGuesses(t *testing.T) {
	for key, guess := range map[string]string{
		"retry_max_retries": "retry_max_attempts", "retry_max_attempt": "retry_max_attempts", "max_attempts": "retry_max_attempts",
		"cb_cooldown": "circuit_breaker_cooldown", "circuit_breaker_cooldown_seconds": "circuit_breaker_cooldown",
		"RETRY_JITTER": "retry_jitter", "retry_service_override": "retry_service_overrides", "failure_threshold": "circuit_breaker_failure_threshold",
	} {
		found, err := policies.Validate(policies.ParseJSON([]byte(`{"retry_max_delay":9,"`+key+`":1}`)), nil)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Contains(t, found[0].Message, `did you mean "`+guess+`"?`, key)
	}
}

// The document of overrides is not the whole configuration: whoever mixes them up is told where overrides stand.
func TestOverridesWithoutAConfig(t *testing.T) {
	found, err := policies.Validate(policies.ParseJSON([]byte(`{"stock_service":{"retry":{"max_attempts":5}}}`)), nil)
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, `stock_service: there is no such setting (the overrides of services stand under "retry_service_overrides"); it is ignored`, found[0].String())
	assert.Equal(t, `(document): the document has no setting that is known (the overrides of services stand under "retry_service_overrides"); it is skipped whole`,
		found[1].String())
}

// P66, A55: values set in code go through the same ranges.
func TestBadConfigInCode(t *testing.T) {
	c := policies.Config{
		RetryMaxAttempts:       new(-1),
		RetryBaseDelay:         new(time.Duration(math.MinInt64)),
		RetryBackoffStrategy:   new(resilient.Backoff("expo")),
		CircuitBreakerCooldown: new(time.Second),
		RetryServiceOverrides: map[string]policies.Patch{
			"":  {},
			"a": {TotalTimeout: new(5 * time.Second), Circuit: policies.CircuitPatch{RecoveryMultiplier: new(math.NaN())}},
			"b": {TotalTimeout: new(5 * time.Second)},
		},
	}
	reg := load(t, c, nil)
	assert.Equal(t, []brief{
		{"", "retry_max_attempts", policies.KindOutOfRange},
		{"", "retry_base_delay", policies.KindOutOfRange},
		{"", "retry_backoff_strategy", policies.KindOutOfRange},
		{"", "retry_service_overrides", policies.KindIgnored},
		{"a", "circuit_breaker.recovery_multiplier", policies.KindOutOfRange},
	}, briefs(reg.Findings()))
	want := changed(func(p *resilient.Policy) { p.Circuit.Cooldown = time.Second })
	assert.Equal(t, want, reg.Policy("a"))
	want.TotalTimeout = 5 * time.Second
	assert.Equal(t, want, reg.Policy("b"))
}

// R21: what a Config points to is copied; a change of it afterwards changes nothing.
func TestAConfigIsCopied(t *testing.T) {
	attempts := 7
	reg, err := policies.Load(policies.Config{RetryServiceOverrides: map[string]policies.Patch{
		"x": {Retry: policies.RetryPatch{MaxAttempts: &attempts}},
	}}, nil)
	require.NoError(t, err)
	attempts = 9
	for _, setting := range reg.Explain("x").Settings {
		if setting.Key == "retry.max_attempts" {
			assert.Equal(t, "7", setting.Value)
			assert.Equal(t, policies.OriginOverride, setting.Origin)
		}
	}
	assert.Equal(t, 7, reg.Policy("x").Retry.MaxAttempts)
}

// Seconds are rounded to what was written: 1.001 s is 1001 ms.
func TestSecondsAreRounded(t *testing.T) {
	c := policies.ParseJSON([]byte(`{"retry_base_delay": 1.001, "retry_max_delay": 4.035}`))
	assert.Equal(t, 1001*time.Millisecond, *c.RetryBaseDelay)
	assert.Equal(t, 4035*time.Millisecond, *c.RetryMaxDelay)
}

// A document that is not meant for us fills no log, and hides nothing that is.
func TestADocumentOfSomethingElse(t *testing.T) {
	var doc strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&doc, "%q: 1, ", fmt.Sprint("k", i))
	}
	findings, err := policies.Validate(policies.ParseJSON([]byte("{"+doc.String()+`"retry_max_attempts": 0}`)), nil)
	require.NoError(t, err)
	require.Len(t, findings, 102)
	assert.Equal(t, "(document)", findings[100].Key)
	assert.Equal(t, "retry_max_attempts", findings[101].Key)
}
