package policies_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// R1, R33: the document from the package comment.
func TestOverrides(t *testing.T) {
	reg := fromOverrides(t, `{"plan_service": {"retry": {"max_attempts": 5, "base_delay": 2.0}, "circuit_breaker": {"failure_threshold": 3}},
		"vector_store_service": {"retry": {"max_attempts": 7, "backoff_strategy": "jitter"}}}`)
	require.Empty(t, reg.Findings())

	plan := policies.Provider().Apply(resilient.DefaultPolicy())
	plan.Retry.MaxAttempts, plan.Retry.BaseDelay, plan.Circuit.FailureThreshold = 5, 2*time.Second, 3
	assert.Equal(t, plan, reg.Policy("plan_service"))

	vectors := policies.Network().Apply(resilient.DefaultPolicy())
	vectors.Retry.MaxAttempts, vectors.Retry.Backoff = 7, resilient.BackoffJitter
	assert.Equal(t, vectors, reg.Policy("vector_store_service"))
	assert.Equal(t, changed(nil), reg.Policy("trace_service"), "R21: nobody else")
}

// A75: every key of an override arrives; an explicit false or 0 is a value.
func TestEveryOverrideKey(t *testing.T) {
	for member, change := range map[string]func(*resilient.Policy){
		`"retry":{"max_attempts":1}`:                func(p *resilient.Policy) { p.Retry.MaxAttempts = 1 },
		`"retry":{"base_delay":0}`:                  func(p *resilient.Policy) { p.Retry.BaseDelay = 0 },
		`"retry":{"base_delay":"1.5s"}`:             func(p *resilient.Policy) { p.Retry.BaseDelay = seconds(1.5) },
		`"retry":{"max_delay":5}`:                   func(p *resilient.Policy) { p.Retry.MaxDelay, p.Retry.MaxRetryAfter = seconds(5), seconds(5) },
		`"retry":{"jitter":true}`:                   func(p *resilient.Policy) { p.Retry.Jitter = true },
		`"retry":{"jitter":false}`:                  nil,
		`"retry":{"backoff_strategy":"none"}`:       func(p *resilient.Policy) { p.Retry.Backoff = resilient.BackoffNone },
		`"retry":{"max_retry_after":0}`:             func(p *resilient.Policy) { p.Retry.MaxRetryAfter = 0 },
		`"retry":{"retry_on_idempotent_only":true}`: nil,
		// R2: switched off for one service, knowingly.
		`"retry":{"retry_on_idempotent_only":false}`: func(p *resilient.Policy) { p.Retry.IdempotentOnly = false },
		// R17: off, and still registered.
		`"circuit_breaker":{"enabled":false}`: func(p *resilient.Policy) { p.Circuit.Enabled = false },
		// R19
		`"circuit_breaker":{"cooldown":0}`:                 func(p *resilient.Policy) { p.Circuit.Cooldown = 0 },
		`"circuit_breaker":{"cooldown_seconds":7}`:         func(p *resilient.Policy) { p.Circuit.Cooldown = seconds(7) },
		`"circuit_breaker":{"half_open_max_successes":3}`:  func(p *resilient.Policy) { p.Circuit.MaxProbes, p.Circuit.SuccessesToClose = 3, 3 },
		`"circuit_breaker":{"failure_threshold":1}`:        func(p *resilient.Policy) { p.Circuit.FailureThreshold = 1 },
		`"circuit_breaker":{"recovery_timeout":"250ms"}`:   func(p *resilient.Policy) { p.Circuit.RecoveryTimeout = seconds(0.25) },
		`"circuit_breaker":{"recovery_multiplier":1.5}`:    func(p *resilient.Policy) { p.Circuit.RecoveryMultiplier = 1.5 },
		`"circuit_breaker":{"max_recovery_timeout":"10m"}`: func(p *resilient.Policy) { p.Circuit.MaxRecoveryTimeout = 10 * time.Minute },
		`"circuit_breaker":{"probe_lease":400}`:            func(p *resilient.Policy) { p.Circuit.ProbeLease = 400 * time.Second },
		`"circuit_breaker":{"min_reporters":2}`:            func(p *resilient.Policy) { p.Circuit.MinReporters = 2 },
		`"circuit_breaker":{"failure_rate":0.57}`:          func(p *resilient.Policy) { p.Circuit.FailureRate = 0.57 },
		`"circuit_breaker":{"failure_rate":1}`:             func(p *resilient.Policy) { p.Circuit.FailureRate = 1 },
		`"circuit_breaker":{"failure_rate":"off"}`:         nil,
		`"circuit_breaker":{"failure_rate":0.5,"failure_threshold":"off"}`: func(p *resilient.Policy) {
			p.Circuit.FailureRate, p.Circuit.FailureThreshold = 0.5, 0
		},
		`"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":"2s"}`: func(p *resilient.Policy) {
			p.Circuit.SlowCallRate, p.Circuit.SlowCallDuration = 0.5, 2*time.Second
		},
		`"circuit_breaker":{"slow_call_rate":"off","slow_call_duration":"off"}`: nil,
		`"circuit_breaker":{"minimum_calls":7}`:                                 func(p *resilient.Policy) { p.Circuit.MinimumCalls = 7 },
		`"circuit_breaker":{"window":30}`:                                       func(p *resilient.Policy) { p.Circuit.Window = 30 * time.Second },
		`"circuit_breaker":{"window_buckets":6}`:                                func(p *resilient.Policy) { p.Circuit.WindowBuckets = 6 },
		`"circuit_breaker":{"recovery_jitter":0.25}`:                            func(p *resilient.Policy) { p.Circuit.RecoveryJitter = 0.25 },
		`"circuit_breaker":{"mode":"observe"}`:                                  func(p *resilient.Policy) { p.Circuit.Observe = true },
		`"circuit_breaker":{"mode":"enforce"}`:                                  nil,
		`"store":"local"`:                                                       func(p *resilient.Policy) { p.Circuit.Local = true },
		`"store":"shared"`:                                                      nil,
		`"total_timeout":300`:                                                   nil,
		`"total_timeout":0.001`:                                                 func(p *resilient.Policy) { p.TotalTimeout = time.Millisecond },
		`"attempt_timeout":10`:                                                  func(p *resilient.Policy) { p.AttemptTimeout = seconds(10) },
		`"retry":{},"circuit_breaker":{}`:                                       nil,
		`"retry":{"jitter":false,"max_attempts":5}`:                             func(p *resilient.Policy) { p.Retry.MaxAttempts = 5 },
		`"retry":{"max_attempts":5.0,"base_delay":1e0}`:                         func(p *resilient.Policy) { p.Retry.MaxAttempts = 5 },
		`"service_name":"trace_service","total_timeout":30`:                     func(p *resilient.Policy) { p.TotalTimeout = 30 * time.Second },
	} {
		t.Run(member, func(t *testing.T) {
			reg := fromOverrides(t, `{"trace_service":{`+member+`},"new_service":{`+strings.ReplaceAll(member, "trace_service", "new_service")+`}}`)
			assert.Empty(t, reg.Findings())
			assert.Equal(t, changed(change), reg.Policy("trace_service"))
			guard, registered := reg.Lookup("new_service")
			require.True(t, registered, "an override registers")
			assert.Equal(t, changed(change), guard.Policy(), "on top of the fallback")
			assert.Equal(t, changed(nil), reg.Policy("context_service"))
		})
	}
}

// R19: what an override says is what the circuit runs with.
func TestOverridesReachTheCircuit(t *testing.T) {
	reg := fromOverrides(t, `{"x":{"circuit_breaker":{"cooldown":1,"half_open_max_successes":4,"enabled":false}}}`)
	settings := reg.Guard("x").Policy().Circuit
	assert.Equal(t, time.Second, settings.Cooldown)
	assert.Equal(t, 4, settings.MaxProbes)
	assert.Equal(t, 4, settings.SuccessesToClose)
	assert.False(t, settings.Enabled) // R17
	assert.Contains(t, reg.Names(), "x")
}

// R20, A77, A78, A79, P13, P66, A55: one bad value, and that service's override is
// skipped; its neighbours stand.
func TestSkippedOverrides(t *testing.T) {
	type row struct {
		override, key string
		kind          policies.Kind
	}
	rows := []row{
		{`3`, "", policies.KindWrongType},
		{`"text"`, "", policies.KindWrongType},
		{`true`, "", policies.KindWrongType},
		{`[]`, "", policies.KindWrongType},
		{`[{}]`, "", policies.KindWrongType},
		{`{"retry":[]}`, "retry", policies.KindWrongType},
		{`{"retry":3}`, "retry", policies.KindWrongType},
		{`{"circuit_breaker":"off"}`, "circuit_breaker", policies.KindWrongType},
		{`{"circuit_breaker":false}`, "circuit_breaker", policies.KindWrongType},
		{`{"total_timeout":{}}`, "total_timeout", policies.KindWrongType},
		{`{"retry":{"max_attempts":"3"}}`, "retry.max_attempts", policies.KindWrongType},
		{`{"retry":{"max_attempts":2.5}}`, "retry.max_attempts", policies.KindWrongType},
		{`{"retry":{"max_attempts":[3]}}`, "retry.max_attempts", policies.KindWrongType},
		{`{"retry":{"max_attempts":true}}`, "retry.max_attempts", policies.KindWrongType},
		{`{"retry":{"base_delay":"1"}}`, "retry.base_delay", policies.KindWrongType},
		{`{"retry":{"base_delay":""}}`, "retry.base_delay", policies.KindWrongType},
		{`{"retry":{"base_delay":false}}`, "retry.base_delay", policies.KindWrongType},
		{`{"retry":{"jitter":0}}`, "retry.jitter", policies.KindWrongType},
		{`{"retry":{"jitter":"true"}}`, "retry.jitter", policies.KindWrongType},
		{`{"retry":{"jitter":-1}}`, "retry.jitter", policies.KindWrongType}, // P3
		{`{"retry":{"backoff_strategy":1}}`, "retry.backoff_strategy", policies.KindWrongType},
		{`{"retry":{"backoff_strategy":"expo"}}`, "retry.backoff_strategy", policies.KindOutOfRange}, // A77
		{`{"retry":{"backoff_strategy":""}}`, "retry.backoff_strategy", policies.KindOutOfRange},
		{`{"retry":{"max_attempts":1e400}}`, "retry.max_attempts", policies.KindOutOfRange},
		{`{"retry":{"base_delay":-1e400}}`, "retry.base_delay", policies.KindOutOfRange},
		{`{"retry":{"base_delay":1e300}}`, "retry.base_delay", policies.KindOutOfRange},
		{`{"retry":{"base_delay":9223372036.854775807}}`, "retry.base_delay", policies.KindOutOfRange},
		{`{"retry":{"max_attempts":` + strings.Repeat("9", 4000) + `}}`, "retry.max_attempts", policies.KindOutOfRange},
		{`{"circuit_breaker":{"recovery_multiplier":0.99}}`, "circuit_breaker.recovery_multiplier", policies.KindOutOfRange},
		{`{"circuit_breaker":{"recovery_multiplier":1e999}}`, "circuit_breaker.recovery_multiplier", policies.KindOutOfRange},
		{`{"total_timeout":301}`, "total_timeout", policies.KindOutOfRange}, // R10: at most 300 s
		{`{"attempt_timeout":0}`, "attempt_timeout", policies.KindOutOfRange},
		{`{"retry":{"max_attempts":3,"max_attempts":4}}`, "retry.max_attempts", policies.KindDuplicate},
		{`{"retry":{"max_attempts":3},"retry":{"max_attempts":4}}`, "retry", policies.KindDuplicate},
		{`{"circuit_breaker":{"failure_rate":57}}`, "circuit_breaker.failure_rate", policies.KindOutOfRange}, // per cent
		{`{"circuit_breaker":{"failure_rate":"on"}}`, "circuit_breaker.failure_rate", policies.KindWrongType},
		{`{"circuit_breaker":{"failure_threshold":"Off"}}`, "circuit_breaker.failure_threshold", policies.KindWrongType},
		{`{"circuit_breaker":{"failure_threshold":false}}`, "circuit_breaker.failure_threshold", policies.KindWrongType},
		{`{"circuit_breaker":{"minimum_calls":"off"}}`, "circuit_breaker.minimum_calls", policies.KindWrongType},
		{`{"circuit_breaker":{"window":3601}}`, "circuit_breaker.window", policies.KindOutOfRange},
		{`{"circuit_breaker":{"window_buckets":1}}`, "circuit_breaker.window_buckets", policies.KindOutOfRange},
		{`{"circuit_breaker":{"recovery_jitter":1.5}}`, "circuit_breaker.recovery_jitter", policies.KindOutOfRange},
		{`{"circuit_breaker":{"mode":"shadow"}}`, "circuit_breaker.mode", policies.KindOutOfRange},
		{`{"circuit_breaker":{"mode":true}}`, "circuit_breaker.mode", policies.KindWrongType},
		{`{"store":"redis"}`, "store", policies.KindOutOfRange},
		{`{"store":true}`, "store", policies.KindWrongType},
		{`{"circuit_breaker":{"cooldown":1,"cooldown_seconds":1}}`, "circuit_breaker.cooldown", policies.KindDuplicate},
	}
	// P66: what 0 and −1 do, for every numeric key.
	for key, zeroAllowed := range map[string]bool{
		"retry.max_attempts": false, "retry.base_delay": true, "retry.max_retry_after": true,
		"circuit_breaker.failure_threshold": false, "circuit_breaker.recovery_timeout": false, "circuit_breaker.cooldown": true,
		"circuit_breaker.half_open_max_successes": false, "circuit_breaker.recovery_multiplier": false,
		"circuit_breaker.max_recovery_timeout": false, "circuit_breaker.probe_lease": true, "circuit_breaker.min_reporters": false, "total_timeout": false, "attempt_timeout": false,
		"circuit_breaker.failure_rate": false, "circuit_breaker.slow_call_rate": false, "circuit_breaker.slow_call_duration": false,
		"circuit_breaker.minimum_calls": false, "circuit_breaker.window": false, "circuit_breaker.window_buckets": false,
		"circuit_breaker.recovery_jitter": true,
	} {
		format := `{%q:%d}`
		name := key
		if section, rest, ok := strings.Cut(key, "."); ok {
			format, name = `{"`+section+`":{%q:%d}}`, rest
		}
		rows = append(rows, row{fmt.Sprintf(format, name, -1), key, policies.KindOutOfRange})
		if !zeroAllowed {
			rows = append(rows, row{fmt.Sprintf(format, name, 0), key, policies.KindOutOfRange})
		}
	}
	for _, r := range rows {
		t.Run(r.override[:min(60, len(r.override))], func(t *testing.T) {
			reg := fromOverrides(t, `{"before":{"total_timeout":8},"trace_service":`+r.override+`,"new":`+r.override+`,"after":{"total_timeout":9}}`)
			assert.Equal(t, []brief{{"trace_service", r.key, r.kind}, {"new", r.key, r.kind}}, briefs(reg.Findings()))
			for _, f := range reg.Findings() {
				assert.True(t, f.Skipped())
				assert.Contains(t, f.Message, "the override of the service is skipped")
			}
			assert.Equal(t, changed(nil), reg.Policy("trace_service"), "it keeps its default")
			_, registered := reg.Lookup("new")
			assert.False(t, registered)
			assert.Equal(t, 8*time.Second, reg.Policy("before").TotalTimeout)
			assert.Equal(t, 9*time.Second, reg.Policy("after").TotalTimeout)
		})
	}
}

// All faults of an override are reported at once, and none of it is in force.
func TestSkippedAsAWhole(t *testing.T) {
	reg := fromOverrides(t, `{"x":{"retry":{"max_attempts":0,"base_delay":3},"circuit_breaker":{"cooldown":-1},"total_timeout":5}}`)
	assert.Equal(t, []brief{
		{"x", "retry.max_attempts", policies.KindOutOfRange},
		{"x", "circuit_breaker.cooldown", policies.KindOutOfRange},
	}, briefs(reg.Findings()))
	assert.Equal(t, changed(nil), reg.Policy("x"))
}

// R20, A78: an unknown key warns and is ignored, the rest of the override stands.
func TestUnknownKeys(t *testing.T) {
	for _, c := range []struct{ override, key, guess string }{
		{`{"retry":{"max_retries":3,"max_attempts":9}}`, "retry.max_retries", "max_attempts"},
		{`{"retry":{"max_attempt":3,"max_attempts":9}}`, "retry.max_attempt", "max_attempts"},
		{`{"retry":{"Max-Attempts":3,"max_attempts":9}}`, "retry.Max-Attempts", "max_attempts"},
		{`{"retry":{"max_attempts":9,"backoff":"none"}}`, "retry.backoff", "backoff_strategy"},
		{`{"retry":{"max_attempts":9,"cooldown":1}}`, "retry.cooldown", "circuit_breaker.cooldown"},
		{`{"retry":{"max_attempts":9},"max_attempts":3}`, "max_attempts", "retry.max_attempts"},
		{`{"retry":{"max_attempts":9},"circuit_breaker":{"cooldown_secs":3}}`, "circuit_breaker.cooldown_secs", "cooldown"},
		{`{"retry":{"max_attempts":9},"circuit_breaker":{"half_open_max_succeses":3}}`, "circuit_breaker.half_open_max_succeses", "half_open_max_successes"},
		{`{"retry":{"max_attempts":9},"circuit-breaker":{"cooldown":3}}`, "circuit-breaker", "circuit_breaker"},
		{`{"retry":{"max_attempts":9},"breaker":null}`, "breaker", "circuit_breaker"},
		{`{"retry":{"max_attempts":9},"circuit_breaker":{"treshold":3}}`, "circuit_breaker.treshold", "failure_threshold"},
		{`{"retry":{"max_attempts":9,"treshold":3}}`, "retry.treshold", "circuit_breaker.failure_threshold"},
		{`{"retry":{"max_attempts":9,"max_retrys":3}}`, "retry.max_retrys", "max_attempts"},
		{`{"retry":{"max_attempts":9},"circuit_breaker":{"ab":3}}`, "circuit_breaker.ab", ""},
		{`{"retry":{"max_attempts":9},"timeout":3}`, "timeout", "total_timeout"},
		{`{"retry":{"max_attempts":9},"retry.max_attempts":3}`, "retry.max_attempts", ""},
		{`{"retry":{"max_attempts":9},"banana":{"a":[{}]}}`, "banana", ""},
		{`{"retry":{"max_attempts":9},"":1}`, "", ""},
		{`{"retry":{"max_attempts":9,"` + strings.Repeat("x", 150) + `":1}}`, "retry." + strings.Repeat("x", 150), ""},
	} {
		t.Run(c.key, func(t *testing.T) {
			reg := fromOverrides(t, `{"trace_service":`+c.override+`}`)
			require.Equal(t, []brief{{"trace_service", c.key, policies.KindUnknownKey}}, briefs(reg.Findings()))
			message := reg.Findings()[0].Message
			if c.guess == "" {
				assert.NotContains(t, message, "did you mean")
			} else {
				assert.Contains(t, message, `did you mean "`+c.guess+`"?`)
			}
			assert.Equal(t, changed(func(p *resilient.Policy) { p.Retry.MaxAttempts = 9 }), reg.Policy("trace_service"))
		})
	}
}

// A77: the guess for a strategy.
func TestStrategyGuess(t *testing.T) {
	reg := fromOverrides(t, `{"x":{"retry":{"backoff_strategy":"expo"}}}`)
	require.Len(t, reg.Findings(), 1)
	assert.Contains(t, reg.Findings()[0].Message, `did you mean "exponential"?`)
	assert.Contains(t, reg.Findings()[0].Message, "exponential, linear, fixed, jitter, none, linear_increasing")
}

// A79: null is the same as absent, and is reported.
func TestNulls(t *testing.T) {
	reg := fromOverrides(t, `{"a":null,"trace_service":{"retry":null,"circuit_breaker":{"cooldown":null},"total_timeout":9,"attempt_timeout":null}}`)
	assert.Equal(t, []brief{
		{"a", "", policies.KindEmpty},
		{"trace_service", "retry", policies.KindEmpty},
		{"trace_service", "circuit_breaker.cooldown", policies.KindEmpty},
		{"trace_service", "attempt_timeout", policies.KindEmpty},
	}, briefs(reg.Findings()))
	assert.Equal(t, changed(func(p *resilient.Policy) { p.TotalTimeout = 9 * time.Second }), reg.Policy("trace_service"))
	_, registered := reg.Lookup("a")
	assert.False(t, registered)
}

// R20, A79: service_name is ignored, whatever it is; a word is lost about it only
// where it says something else than the key.
func TestServiceNameIsIgnored(t *testing.T) {
	for value, found := range map[string]int{`"x"`: 0, `"other"`: 1, `3`: 1, `null`: 1, `{"a":[]}`: 1} {
		reg := fromOverrides(t, `{"x":{"service_name":`+value+`,"total_timeout":9}}`)
		require.Len(t, reg.Findings(), found, value)
		for _, f := range reg.Findings() {
			assert.Equal(t, brief{"x", "service_name", policies.KindIgnored}, brief{f.Service, f.Key, f.Kind})
			assert.False(t, f.Skipped())
		}
		assert.Equal(t, 9*time.Second, reg.Policy("x").TotalTimeout)
		_, registered := reg.Lookup("other")
		assert.False(t, registered)
	}
}

// A79: the same service twice; nobody can tell which is meant, so neither is.
func TestDuplicateServices(t *testing.T) {
	reg := fromOverrides(t, `{"x":{"total_timeout":1},"y":{"total_timeout":2},"x":{"total_timeout":3},"\u0078":{}}`)
	assert.Equal(t, []brief{{"x", "", policies.KindDuplicate}}, briefs(reg.Findings()))
	assert.Equal(t, changed(nil), reg.Policy("x"))
	assert.Equal(t, 2*time.Second, reg.Policy("y").TotalTimeout)
}

// R20, A79: a document that is none is skipped whole, and one finding says so.
func TestSkippedDocuments(t *testing.T) {
	for name, doc := range map[string]string{
		"array": `[]`, "number": `3`, "string": `"{}"`, "null": `null`, "true": `true`, "text": `plan_service=5`,
		"cut off":          `{"trace_service":{"total_timeout":9}`,
		"trailing":         `{"trace_service":{"total_timeout":9}} x`,
		"two documents":    `{"trace_service":{"total_timeout":9}}{}`,
		"trailing comma":   `{"trace_service":{"total_timeout":9},}`,
		"single quotes":    `{'trace_service':{}}`,
		"NaN":              `{"trace_service":{"total_timeout":NaN}}`,
		"byte order mark":  "\ufeff{}",
		"10 001 runes":     `{"trace_service":{"total_timeout":9}}` + strings.Repeat(" ", 10_001-len(`{"trace_service":{"total_timeout":9}}`)-2) + "{}",
		"too long":         `{"trace_service":{"total_timeout":9},"` + strings.Repeat("é", 10_000) + `":{}}`,
		"deep and too big": nested(100_000),
	} {
		t.Run(name, func(t *testing.T) {
			reg := fromOverrides(t, doc)
			require.Equal(t, []brief{{"", "P_RETRY_SERVICE_OVERRIDES", policies.KindDocument}}, briefs(reg.Findings()))
			assert.Contains(t, reg.Findings()[0].Message, "it is skipped whole")
			assert.Equal(t, changed(nil), reg.Policy("trace_service"))
			assert.Len(t, reg.Names(), 11)
		})
	}
}

// R20: the limit is of characters, not of bytes, and 10 000 of them are fine.
func TestLongestDocument(t *testing.T) {
	head, tail := `{"trace_service":{"total_timeout":9},"`, `":{"total_timeout":9}}`
	name := strings.Repeat("é", 10_000-len(head)-len(tail))
	reg := fromOverrides(t, head+name+tail)
	assert.Empty(t, reg.Findings())
	assert.Equal(t, 9*time.Second, reg.Policy(name).TotalTimeout)
	reg = fromOverrides(t, head+name+"x"+tail)
	require.Len(t, reg.Findings(), 1)
	assert.Contains(t, reg.Findings()[0].Message, "has 10001 characters, at most 10000")
}

// A79: deep nesting in a place where it means nothing.
func TestDeepNesting(t *testing.T) {
	deep := strings.Repeat("[", 4000) + strings.Repeat("]", 4000)
	reg := fromOverrides(t, `{"x":{"retry":{"max_attempts":`+deep+`}},"y":{"total_timeout":9}}`)
	assert.Equal(t, []brief{{"x", "retry.max_attempts", policies.KindWrongType}}, briefs(reg.Findings()))
	assert.Equal(t, 9*time.Second, reg.Policy("y").TotalTimeout)
	reg = fromOverrides(t, nested(1500))
	assert.Equal(t, []brief{{"a", "a", policies.KindUnknownKey}}, briefs(reg.Findings()))
}

func TestNamelessService(t *testing.T) {
	reg := fromOverrides(t, `{"":{"total_timeout":1},"x":{"total_timeout":9}}`)
	assert.Equal(t, []brief{{"", "P_RETRY_SERVICE_OVERRIDES", policies.KindIgnored}}, briefs(reg.Findings()))
	assert.Equal(t, 9*time.Second, reg.Policy("x").TotalTimeout)
}
