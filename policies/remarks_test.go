package policies_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// configured is a service x as it is configured, on top of resilient.DefaultPolicy.
type configured struct {
	override string
	env      map[string]string
	replicas int
	shared   bool // there is a store
}

func (c configured) explain(t *testing.T) policies.Explanation {
	t.Helper()
	env := map[string]string{"P_RETRY_SERVICE_OVERRIDES": `{"x":` + c.override + `}`}
	for name, value := range c.env {
		env[name] = value
	}
	options := &policies.Options{
		Options: quiet(), LookupEnv: lookupIn(env), Replicas: c.replicas,
		Defaults: &policies.Defaults{Fallback: &policies.Patch{}},
	}
	if c.shared {
		options.Store = breaker.NewMemoryStore(nil)
	}
	reg, err := policies.FromEnv("P", options)
	require.NoError(t, err)
	require.Empty(t, reg.Findings(), "the test's own configuration is right")
	return reg.Explain("x")
}

func with(override string) configured { return configured{override: override} }

func (c configured) in(replicas int) configured {
	c.replicas = replicas
	return c
}

func (c configured) withStore() configured {
	c.shared = true
	return c
}

func (c configured) set(name, value string) configured {
	c.env = map[string]string{name: value}
	return c
}

// Each remark, what provokes it, and what is nearly the same and does not.
func TestRemarks(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct {
		code, text string
		yes        []configured
		no         []configured
	}{
		{
			code: "attempts-never-made",
			text: "total_timeout 3s is over before attempt 3 can begin: at most 2 of 3 attempts are made",
			yes: []configured{
				with(`{"retry":{"jitter":false},"total_timeout":3}`), // the retries begin after 1 s and 3 s
				with(`{"retry":{"jitter":false,"max_attempts":100},"total_timeout":3}`),
			},
			no: []configured{
				with(`{"retry":{"jitter":false},"total_timeout":3.001}`),
				with(`{"retry":{"jitter":false,"max_attempts":2},"total_timeout":3}`),
				with(`{"total_timeout":3}`), // with luck it is made
			},
		},
		{
			code: "attempt-cut",
			text: "where the attempts before it take their 2s and the waits are the longest, attempt 3 is cut by total_timeout 8s",
			yes: []configured{
				with(`{"attempt_timeout":2,"total_timeout":8}`), // it would end after 9 s
				with(`{"attempt_timeout":2,"total_timeout":7}`),
				with(`{"attempt_timeout":2,"total_timeout":8.999}`),
			},
			no: []configured{
				with(`{"attempt_timeout":2,"total_timeout":9}`),
				with(`{"attempt_timeout":2,"total_timeout":8,"retry":{"max_attempts":2}}`),
				with(`{"total_timeout":8}`), // told in a note
			},
		},
		{
			code: "attempt-timeout-without-effect",
			text: "attempt_timeout 20s ends no attempt: total_timeout 20s is not longer",
			yes:  []configured{with(`{"attempt_timeout":20,"total_timeout":20}`), with(`{"attempt_timeout":21,"total_timeout":20}`)},
			no:   []configured{with(`{"attempt_timeout":19.9,"total_timeout":20}`), with(`{"total_timeout":20}`)},
		},
		{
			code: "no-jitter",
			text: "each wait is equally long in every process, so what has failed together returns together",
			yes: []configured{
				with(`{"retry":{"jitter":false}}`).in(2),
				with(`{"retry":{"jitter":false}}`).withStore(),
				with(`{"retry":{"jitter":true,"base_delay":0,"backoff_strategy":"fixed"}}`).in(2), // the floor takes it away
				with(`{"retry":{"base_delay":0.01,"backoff_strategy":"jitter"}}`).in(2),
			},
			no: []configured{
				with(`{"retry":{"jitter":false}}`),
				with(`{"retry":{"jitter":false}}`).in(1).withStore(),
				with(`{"retry":{"jitter":false},"store":"local"}`).withStore(),
				with(`{"retry":{"jitter":true}}`).in(2),
				with(`{"retry":{"jitter":false,"backoff_strategy":"jitter"}}`).in(2),
				with(`{"retry":{"jitter":false,"max_attempts":1}}`).in(2),
				with(`{"retry":{"jitter":false,"backoff_strategy":"none"}}`).in(2), // has a warning of its own
			},
		},
		{
			code: "retry-without-wait",
			text: "each retry follows at once, on a dependency that has had no time to recover; there is nothing for retry.jitter to spread",
			yes: []configured{
				with(`{"retry":{"backoff_strategy":"none"}}`),
				with(`{"retry":{"backoff_strategy":"none","jitter":false}}`),
				with(`{"retry":{"backoff_strategy":"linear_increasing","base_delay":0}}`),
			},
			no: []configured{
				with(`{"retry":{"backoff_strategy":"none","max_attempts":1}}`),
				with(`{"retry":{"backoff_strategy":"fixed","base_delay":0}}`), // there is a floor
				with(`{"retry":{"backoff_strategy":"linear_increasing","base_delay":0.001}}`),
			},
		},
		{
			code: "slow-to-open",
			text: "a dependency that fails nine attempts in ten passes: 23 failures in a row come about after 103 attempts on average",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_threshold":23}}`),
				with(`{"circuit_breaker":{"failure_threshold":1000000}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_threshold":22}}`),
				with(`{"circuit_breaker":{"failure_threshold":23,"enabled":false}}`),
			},
		},
		{
			code: "circuit-ends-retries",
			text: "failure 2 of a single call opens the circuit and so ends the call: attempt 3 is made only if others succeed meanwhile",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_threshold":2}}`),
				with(`{"circuit_breaker":{"failure_threshold":3},"retry":{"max_attempts":5}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_threshold":3}}`),
				with(`{"circuit_breaker":{"failure_threshold":2,"enabled":false}}`),
				with(`{"circuit_breaker":{"failure_threshold":2},"retry":{"max_attempts":1}}`),
				with(`{"circuit_breaker":{"failure_threshold":2},"retry":{"jitter":false},"total_timeout":3}`), // only two are made
			},
		},
		{
			code: "long-lease",
			text: "a probe that is lost keeps its place for 1h, and the circuit may reject everything meanwhile; an attempt needs no more than 11s",
			yes: []configured{
				with(`{"circuit_breaker":{"probe_lease":3600},"attempt_timeout":10}`),
				with(`{"circuit_breaker":{"probe_lease":110},"attempt_timeout":10}`), // ten times 11 s
			},
			no: []configured{
				with(`{"circuit_breaker":{"probe_lease":109.9},"attempt_timeout":10}`),
				with(`{"circuit_breaker":{"probe_lease":1800},"attempt_timeout":300}`),
				with(`{"circuit_breaker":{"probe_lease":60},"attempt_timeout":1}`), // no longer than it is open anyway
				with(`{"circuit_breaker":{"probe_lease":3600,"enabled":false},"attempt_timeout":10}`),
			},
		},
		{
			code: "hint-beyond-total",
			text: "max_retry_after 10s allows waits that do not fit into total_timeout 10s: a call that is asked for one ends",
			yes:  []configured{with(`{"retry":{"max_retry_after":10},"total_timeout":10}`), with(`{"retry":{"max_retry_after":11},"total_timeout":10}`)},
			no: []configured{
				with(`{"retry":{"max_retry_after":9},"total_timeout":10}`),
				with(`{"total_timeout":10}`), // it is 60 s, which nobody has asked for
				with(`{"retry":{"max_retry_after":10,"max_attempts":1},"total_timeout":10}`),
			},
		},
		{
			code: "circuit-off",
			text: "the circuit is off, so nothing comes of circuit_breaker.failure_threshold, circuit_breaker.cooldown",
			yes: []configured{
				with(`{"circuit_breaker":{"enabled":false,"cooldown":3,"failure_threshold":3}}`),
				with(`{"circuit_breaker":{"enabled":false,"probe_lease":3}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"enabled":false}}`),
				with(`{"circuit_breaker":{"enabled":true,"failure_threshold":3}}`),
				with(`{"circuit_breaker":{"enabled":false}}`).set("P_CB_FAILURE_THRESHOLD", "3"), // it is for others
			},
		},
		{
			code: "reporters-without-store",
			text: "the circuit is this process's own, so min_reporters 2 has no effect",
			yes: []configured{
				with(`{"circuit_breaker":{"min_reporters":2}}`),
				with(`{"circuit_breaker":{"min_reporters":2},"store":"local"}`).withStore(),
			},
			no: []configured{
				with(`{"circuit_breaker":{"min_reporters":2}}`).withStore(),
				with(`{"circuit_breaker":{"min_reporters":1}}`),
				with(`{"circuit_breaker":{"min_reporters":2,"enabled":false}}`),
			},
		},
		{
			code: "too-few-replicas",
			text: "min_reporters 4 is more than there are replicas (3): the circuit never opens for all",
			yes:  []configured{with(`{"circuit_breaker":{"min_reporters":4}}`).in(3).withStore()},
			no: []configured{
				with(`{"circuit_breaker":{"min_reporters":3}}`).in(3).withStore(),
				with(`{"circuit_breaker":{"min_reporters":4}}`).withStore(),
				with(`{"circuit_breaker":{"min_reporters":4}}`).in(3),
				with(`{"circuit_breaker":{"min_reporters":4,"enabled":false}}`).in(3).withStore(),
			},
		},

		{
			code: "hang-not-repeated",
			text: "an attempt that hangs takes all of total_timeout 5m and is not repeated, since there is no attempt_timeout",
			yes:  []configured{with(`{}`)},
			no:   []configured{with(`{"attempt_timeout":1}`), with(`{"retry":{"max_attempts":1}}`)},
		},
		{
			code: "repeats-writes",
			text: "every op is repeated, also those that are not declared idempotent",
			yes:  []configured{with(`{"retry":{"retry_on_idempotent_only":false}}`)},
			no:   []configured{with(`{}`), with(`{"retry":{"retry_on_idempotent_only":false,"max_attempts":1}}`)},
		},
		{
			code: "max-delay-never-reached",
			text: "max_delay 1m is never reached: the longest wait is 2s",
			yes:  []configured{with(`{}`), with(`{"retry":{"backoff_strategy":"fixed","max_delay":2}}`)},
			no: []configured{
				with(`{"retry":{"max_delay":2}}`),
				with(`{"retry":{"backoff_strategy":"fixed"}}`), // nobody thinks that it would be
				with(`{"retry":{"max_attempts":1}}`),
			},
		},
		{
			code: "floor-lifts-wait",
			text: "base_delay 50ms is below 100ms, the least that strategy exponential waits",
			yes: []configured{
				with(`{"retry":{"base_delay":0.05}}`),
				with(`{"retry":{"base_delay":1,"backoff_strategy":"linear"}}`),
			},
			no: []configured{
				with(`{"retry":{"base_delay":0.1}}`),
				with(`{"retry":{"base_delay":0.05,"max_attempts":1}}`),
				with(`{"retry":{"base_delay":0.05,"backoff_strategy":"linear_increasing"}}`),
			},
		},
		{
			code: "linear-is-constant",
			text: "strategy linear waits the same each time; what grows is linear_increasing",
			yes:  []configured{with(`{"retry":{"backoff_strategy":"linear"}}`)},
			no: []configured{
				with(`{"retry":{"backoff_strategy":"linear_increasing"}}`),
				with(`{"retry":{"backoff_strategy":"linear","max_attempts":2}}`), // of one wait nobody can tell
			},
		},
		{
			code: "jitter-flag-without-effect",
			text: "strategy jitter spreads the waits, also with retry.jitter false",
			yes:  []configured{with(`{"retry":{"backoff_strategy":"jitter","jitter":false}}`)},
			no: []configured{
				with(`{"retry":{"backoff_strategy":"jitter"}}`), with(`{"retry":{"jitter":false}}`),
				with(`{"retry":{"backoff_strategy":"jitter","jitter":false,"max_attempts":1}}`),
			},
		},
		{
			code: "hint-ends-call",
			text: "a server that asks for a wait ends the call, since max_retry_after is 0",
			yes:  []configured{with(`{"retry":{"max_retry_after":0}}`)},
			no:   []configured{with(`{"retry":{"max_retry_after":0.001}}`), with(`{"retry":{"max_retry_after":0,"max_attempts":1}}`)},
		},
		{
			code: "cooldown-never-binds",
			text: "cooldown 30s never binds: the circuit stays open for 1m at least",
			yes:  []configured{with(`{}`), with(`{"circuit_breaker":{"cooldown":60}}`)},
			no: []configured{
				with(`{"circuit_breaker":{"cooldown":60.001}}`), with(`{"circuit_breaker":{"cooldown":0}}`),
				with(`{"circuit_breaker":{"enabled":false}}`),
			},
		},
		{
			code: "max-recovery-never-reached",
			text: "max_recovery_timeout 2m is never reached: the open time does not grow",
			yes:  []configured{with(`{"circuit_breaker":{"max_recovery_timeout":120}}`)},
			no: []configured{
				with(`{}`),
				with(`{"circuit_breaker":{"max_recovery_timeout":60}}`),
				with(`{"circuit_breaker":{"max_recovery_timeout":120,"recovery_multiplier":1.5}}`),
				with(`{"circuit_breaker":{"max_recovery_timeout":120,"enabled":false}}`),
			},
		},
	} {
		t.Run(c.code, func(t *testing.T) {
			seen[c.code] = true
			for i, yes := range c.yes {
				found, ok := remark(yes.explain(t), c.code)
				require.True(t, ok, "%+v", yes)
				if i == 0 {
					assert.Equal(t, c.text, found.Text)
					assert.Equal(t, c.code+": "+c.text, found.String())
				}
				assert.Subset(t, policies.Keys(), found.Fields)
				assert.NotEmpty(t, found.Fields)
			}
			for _, no := range c.no {
				found, ok := remark(no.explain(t), c.code)
				assert.False(t, ok, "%+v: %v", no, found)
			}
		})
	}
	for _, code := range policies.Codes() {
		assert.True(t, seen[code], "nothing tests %s", code)
	}
	assert.Len(t, seen, len(policies.Codes()))
}

func remark(e policies.Explanation, code string) (policies.Remark, bool) {
	for _, w := range e.Warnings {
		if w.Code == code {
			return w, w.WayOut != "" // a warning without one helps nobody
		}
	}
	for _, n := range e.Notes {
		if n.Code == code {
			return n, n.WayOut == ""
		}
	}
	return policies.Remark{}, false
}

// A way out that is followed is one: the warning is gone.
func TestWaysOut(t *testing.T) {
	for _, c := range []struct {
		code, wayOut  string
		before, after configured
	}{
		{
			"attempts-never-made",
			"retry.max_attempts 2 says what happens; shorter waits leave room for more, and so does a total_timeout of more than 3s",
			with(`{"retry":{"jitter":false},"total_timeout":2}`), with(`{"retry":{"jitter":false},"total_timeout":3.001}`),
		},
		{
			"attempts-never-made",
			"retry.max_attempts 10 says what happens; shorter waits leave room for more", // no total timeout is long enough
			with(`{"retry":{"jitter":false,"max_attempts":12}}`), with(`{"retry":{"jitter":false,"max_attempts":10}}`),
		},
		{
			"attempt-cut", "a shorter attempt_timeout, or retry.max_attempts 1, or a total_timeout of 18s for all 3",
			with(`{"attempt_timeout":5,"total_timeout":9}`), with(`{"attempt_timeout":5,"total_timeout":18}`),
		},
		{
			"attempt-cut", "a shorter attempt_timeout, or retry.max_attempts 2",
			with(`{"attempt_timeout":120}`), with(`{"attempt_timeout":120,"retry":{"max_attempts":2}}`),
		},
		{
			"no-jitter", "a retry.base_delay above 100ms, the least that is waited anyway",
			with(`{"retry":{"base_delay":0.01,"backoff_strategy":"jitter"}}`).in(2), with(`{"retry":{"base_delay":0.11,"backoff_strategy":"jitter"}}`).in(2),
		},
		{
			"slow-to-open", "with a failure_threshold of 22 at most it is 100",
			with(`{"circuit_breaker":{"failure_threshold":5000}}`), with(`{"circuit_breaker":{"failure_threshold":22}}`),
		},
		{
			"circuit-ends-retries", "a failure_threshold of 5 or more, or retry.max_attempts 3",
			with(`{"retry":{"max_attempts":5},"circuit_breaker":{"failure_threshold":3}}`), with(`{"retry":{"max_attempts":3},"circuit_breaker":{"failure_threshold":3}}`),
		},
	} {
		found, ok := remark(c.before.explain(t), c.code)
		require.True(t, ok, c.code)
		assert.Equal(t, c.wayOut, found.WayOut)
		_, ok = remark(c.after.explain(t), c.code)
		assert.False(t, ok, c.code)
	}
}

// A policy that the program sets has remarks like any other.
func TestRemarksOnAPolicyOfTheProgram(t *testing.T) {
	reg := load(t, policies.Config{}, nil)
	_, ok := remark(reg.Explain("plan_service"), "hint-beyond-total")
	require.False(t, ok)
	p := reg.Policy("plan_service")
	p.TotalTimeout, p.Retry.MaxRetryAfter = time.Second, 2*time.Second
	require.NoError(t, reg.Guard("plan_service").SetPolicy(p))
	_, ok = remark(reg.Explain("plan_service"), "hint-beyond-total")
	assert.True(t, ok)
}

func TestReplicasOutOfRange(t *testing.T) {
	_, err := policies.Load(policies.Config{}, &policies.Options{Options: resilient.Options{}, Replicas: -1})
	assert.EqualError(t, err, "policies: Options.Replicas is -1, want 0 (unknown) or more")
}
