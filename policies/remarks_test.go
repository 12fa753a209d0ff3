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
	shared   bool                 // there is a store
	budget   resilient.BudgetRule // of the one that is named "pot"
	cap      *resilient.Cap
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
	if c.budget != nil {
		pot, err := resilient.NewBudget(c.budget)
		require.NoError(t, err)
		options.Budgets = map[string]*resilient.Budget{"pot": pot}
	}
	options.Cap = c.cap
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

func (c configured) from(rule resilient.BudgetRule) configured {
	c.budget = rule
	return c
}

func (c configured) under(limit resilient.Cap) configured {
	c.cap = &limit
	return c
}

func (c configured) set(name, value string) configured {
	c.env = map[string]string{name: value}
	return c
}

// inPot is an override that names a budget.
const inPot = `{"retry":{"budget":"pot"}}`

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
				with(`{"circuit_breaker":{"failure_threshold":23,"failure_rate":0.91}}`), // which nine in ten do not reach
				with(`{"circuit_breaker":{"failure_threshold":23,"slow_call_rate":0.5,"slow_call_duration":1}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_threshold":22}}`),
				with(`{"circuit_breaker":{"failure_threshold":23,"failure_rate":0.9}}`),
				with(`{"circuit_breaker":{"failure_threshold":23,"enabled":false}}`),
			},
		},
		{
			code: "circuit-ends-retries",
			text: "failure 2 of a single call opens the circuit and so ends the call: attempt 3 is made only if others succeed meanwhile",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_threshold":2}}`),
				with(`{"circuit_breaker":{"failure_threshold":3},"retry":{"max_attempts":5}}`),
				with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":2}}`),
				with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":2,"failure_threshold":"off","window":1,"window_buckets":2},"retry":{"base_delay":0.1}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_threshold":3}}`),
				with(`{"circuit_breaker":{"failure_threshold":2,"enabled":false}}`),
				with(`{"circuit_breaker":{"failure_threshold":2},"retry":{"max_attempts":1}}`),
				with(`{"circuit_breaker":{"failure_threshold":2},"retry":{"jitter":false},"total_timeout":3}`), // only two are made
				with(`{"circuit_breaker":{"failure_threshold":2,"mode":"observe"}}`),
				with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":3}}`),
				with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":2,"window":1},"retry":{"jitter":false}}`), // forgotten by then
				with(`{"circuit_breaker":{"slow_call_rate":0.9,"slow_call_duration":1,"minimum_calls":2}}`),            // not by those that fail at once
			},
		},
		{
			code: "lease-without-effect", // A7
			text: "probe_lease 1s shortens nothing: an attempt may take 2s, so a probe keeps its place for 3s",
			yes: []configured{
				with(`{"circuit_breaker":{"probe_lease":1},"attempt_timeout":2}`),
				with(`{"circuit_breaker":{"probe_lease":2.999},"attempt_timeout":2}`),
				with(`{"circuit_breaker":{"probe_lease":60}}`), // an attempt may take 5 minutes
			},
			no: []configured{
				with(`{"circuit_breaker":{"probe_lease":3},"attempt_timeout":2}`),
				with(`{"circuit_breaker":{"probe_lease":0},"attempt_timeout":2}`),
				with(`{"attempt_timeout":2}`),
				with(`{"circuit_breaker":{"probe_lease":1,"enabled":false},"attempt_timeout":2}`),
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
			code: "failures-pass",
			text: "no rule looks at failures: a dependency that refuses everything at once never opens the circuit",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_threshold":"off","slow_call_rate":0.5,"slow_call_duration":1}}`),
				with(`{"circuit_breaker":{"failure_threshold":"off","failure_rate":0.91}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":1}}`),
				with(`{"circuit_breaker":{"failure_threshold":"off","failure_rate":0.9}}`),
				with(`{"circuit_breaker":{"failure_rate":0.91}}`),
				with(`{"circuit_breaker":{"failure_threshold":"off","slow_call_rate":0.5,"slow_call_duration":1,"enabled":false}}`),
			},
		},
		{
			code: "one-failure-opens",
			text: "a single failure opens the circuit: one of minimum_calls 20 reaches failure_rate 0.05",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_rate":0.05}}`),
				with(`{"circuit_breaker":{"failure_rate":0.5,"minimum_calls":2}}`),
				with(`{"circuit_breaker":{"failure_rate":1,"minimum_calls":1}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_rate":0.051}}`),
				with(`{"circuit_breaker":{"failure_rate":0.05,"minimum_calls":21}}`),
				with(`{"circuit_breaker":{"failure_rate":0.05,"failure_threshold":1}}`), // which says so
				with(`{"circuit_breaker":{"slow_call_rate":0.05,"slow_call_duration":1}}`),
				with(`{"circuit_breaker":{"failure_rate":0.05,"enabled":false}}`),
			},
		},
		{
			code: "slow-rule-without-effect",
			text: "slow_call_duration 11s is longer than an attempt may take (10s): none is ever slow",
			yes: []configured{
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":11},"attempt_timeout":10}`),
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":10},"attempt_timeout":10}`),
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":20},"total_timeout":20}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":9.9},"attempt_timeout":10}`),
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":11,"enabled":false},"attempt_timeout":10}`),
				with(`{"attempt_timeout":10}`),
			},
		},
		{
			code: "window-shorter-than-attempt",
			text: "an attempt that hangs counts after 5m, longer than window 1m: unless they begin together, it takes 100 callers at a time for minimum_calls 20 of them in it",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_rate":0.5}}`),
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":1,"window":9.9},"attempt_timeout":10}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"failure_rate":0.5},"attempt_timeout":60}`),
				with(`{"circuit_breaker":{"failure_rate":0.5,"window":300}}`),
				with(`{"circuit_breaker":{"failure_rate":0.5,"minimum_calls":1}}`), // the one that is judged
				with(`{"circuit_breaker":{"failure_rate":0.5,"enabled":false}}`),
				with(`{"circuit_breaker":{"window":10}}`),
			},
		},
		{
			code: "no-rule-for-window",
			text: "no rule looks at a window, so nothing comes of circuit_breaker.minimum_calls, circuit_breaker.window",
			yes: []configured{
				with(`{"circuit_breaker":{"window":10,"minimum_calls":5,"failure_threshold":3}}`),
				with(`{"circuit_breaker":{"window_buckets":10}}`),
			},
			no: []configured{
				with(`{"circuit_breaker":{"window":10,"failure_rate":0.5}}`),
				with(`{"circuit_breaker":{"window":10,"slow_call_rate":0.5,"slow_call_duration":1}}`),
				with(`{"circuit_breaker":{"window":10,"enabled":false}}`), // told in another warning
				with(`{"circuit_breaker":{"failure_threshold":3}}`),
			},
		},
		{
			code: "budget-pays-nothing",
			text: "budget pot never pays for a retry: its ratio is 0 and it has no floor",
			yes: []configured{
				with(inPot).from(resilient.CallRatio{Window: time.Second}),
				with(inPot).from(resilient.CallRatio{Ratio: 0.0000004, Window: time.Second}), // less than half a millionth
			},
			no: []configured{
				with(inPot).from(resilient.CallRatio{Window: time.Second, Floor: 1}),
				with(inPot).from(resilient.CallRatio{Ratio: 0.000001, Window: time.Second}),
				with(`{}`).from(resilient.CallRatio{Window: time.Second}), // nobody draws on it
				with(`{"retry":{"budget":"pot","max_attempts":1}}`).from(resilient.CallRatio{Window: time.Second}),
				with(inPot).from(resilient.DefaultTokenBucket()),
			},
		},
		{
			code: "budget-never-refills",
			text: "budget pot is never refilled: once 4 retries have failed there are no more, for as long as the process lives",
			yes:  []configured{with(inPot).from(resilient.TokenBucket{Capacity: 9, RetryCost: 2, ThrottledCost: 1})},
			no: []configured{
				with(inPot).from(resilient.TokenBucket{Capacity: 9, RetryCost: 2, ThrottledCost: 1, Refill: 1}),
				with(`{"retry":{"budget":"pot","max_attempts":1}}`).from(resilient.TokenBucket{Capacity: 9, RetryCost: 2, ThrottledCost: 1}),
				with(inPot).from(resilient.DefaultCallRatio()),
			},
		},
		{
			code: "budget-below-one-call",
			text: "budget pot has no more than 1 retry when it is full, and a single call may want 2",
			yes: []configured{
				with(inPot).from(resilient.TokenBucket{Capacity: 27, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
				with(`{"retry":{"budget":"pot","max_attempts":100,"base_delay":0.1,"backoff_strategy":"fixed"}}`).from(resilient.DefaultTokenBucket()),
			},
			no: []configured{
				with(inPot).from(resilient.TokenBucket{Capacity: 28, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
				with(`{"retry":{"budget":"pot","max_attempts":1}}`).from(resilient.TokenBucket{Capacity: 27, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
				with(`{"retry":{"budget":"pot","jitter":false},"total_timeout":3}`).from(resilient.TokenBucket{Capacity: 27, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
				with(inPot).from(resilient.DefaultCallRatio()),
			},
		},
		{
			code: "capped",
			text: "Options.Cap, which is for tests, holds attempts to 2 and waits to 0s: what is said here goes by the policy alone",
			yes:  []configured{with(`{}`).under(resilient.Cap{Attempts: 2}), with(`{}`).under(resilient.Cap{Delay: time.Second})},
			no:   []configured{with(`{}`), with(`{"retry":{"max_attempts":1}}`).under(resilient.Cap{Attempts: 2})},
		},

		{
			code: "share-needs-calls",
			text: "shares are judged once there are minimum_calls 20 within window 1m: that takes an attempt every 3s",
			yes: []configured{
				with(`{"circuit_breaker":{"failure_rate":0.5}}`),
				with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":1}}`),
			},
			no: []configured{with(`{}`), with(`{"circuit_breaker":{"failure_rate":0.5,"enabled":false}}`)},
		},
		{
			code: "only-observes",
			text: "the circuit refuses nothing, since mode is observe",
			yes:  []configured{with(`{"circuit_breaker":{"mode":"observe"}}`), with(`{"circuit_breaker":{"mode":"observe"}}`).withStore()},
			no:   []configured{with(`{"circuit_breaker":{"mode":"enforce"}}`), with(`{"circuit_breaker":{"mode":"observe","enabled":false}}`)},
		},
		{
			code: "retry-budget",
			text: "retries draw on budget pot, with all that name it: when full it pays for 35, or 100 of throttled calls; when empty for one after every 14 calls that succeed at once",
			yes:  []configured{with(inPot).from(resilient.DefaultTokenBucket()), with(inPot).from(resilient.DefaultCallRatio())},
			no: []configured{
				with(`{}`).from(resilient.DefaultTokenBucket()),
				with(`{"retry":{"budget":"pot","max_attempts":1}}`).from(resilient.DefaultTokenBucket()),
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
			require.NotEmpty(t, c.yes)
			require.NotEmpty(t, c.no)
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
			"slow-to-open", "with a failure_threshold of 22 at most it is 100; or a failure_rate of 0.9 at most",
			with(`{"circuit_breaker":{"failure_threshold":5000}}`), with(`{"circuit_breaker":{"failure_threshold":22}}`),
		},
		{
			"circuit-ends-retries", "a failure_threshold of 5 or more, or retry.max_attempts 3",
			with(`{"retry":{"max_attempts":5},"circuit_breaker":{"failure_threshold":3}}`), with(`{"retry":{"max_attempts":3},"circuit_breaker":{"failure_threshold":3}}`),
		},
		{
			"circuit-ends-retries", "a minimum_calls of 3 or more, or retry.max_attempts 2",
			with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":2}}`), with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":3}}`),
		},
		{
			"circuit-ends-retries", "a failure_threshold and a minimum_calls of 3 or more, or retry.max_attempts 1",
			with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":2,"failure_threshold":1}}`),
			with(`{"circuit_breaker":{"failure_rate":0.9,"minimum_calls":3,"failure_threshold":3}}`),
		},
		{
			"failures-pass", "a failure_rate of 0.9 at most, or a failure_threshold beside it",
			with(`{"circuit_breaker":{"failure_threshold":"off","failure_rate":0.95}}`), with(`{"circuit_breaker":{"failure_threshold":5,"failure_rate":0.95}}`),
		},
		{
			"one-failure-opens", "a minimum_calls that the rate is several failures of, such as 100",
			with(`{"circuit_breaker":{"failure_rate":0.05}}`), with(`{"circuit_breaker":{"failure_rate":0.05,"minimum_calls":100}}`),
		},
		{
			"one-failure-opens", "a failure_rate that is several of minimum_calls, such as 5e-06",
			with(`{"circuit_breaker":{"failure_rate":1e-6,"minimum_calls":1000000}}`), with(`{"circuit_breaker":{"failure_rate":5e-6,"minimum_calls":1000000}}`),
		},
		{
			"slow-rule-without-effect", "a slow_call_duration below 10s",
			with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":10},"attempt_timeout":10}`),
			with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":9.999},"attempt_timeout":10}`),
		},
		{
			"window-shorter-than-attempt", "an attempt_timeout of 1m at most, or a window of 5m",
			with(`{"circuit_breaker":{"failure_rate":0.5}}`), with(`{"circuit_breaker":{"failure_rate":0.5,"window":"5m"}}`),
		},
		{
			"lease-without-effect", "no probe_lease: it follows the time limits by itself",
			with(`{"circuit_breaker":{"probe_lease":5},"attempt_timeout":10}`), with(`{"attempt_timeout":10}`),
		},
		{
			"budget-below-one-call", "a capacity of 28 or more, or retry.max_attempts 2",
			with(inPot).from(resilient.TokenBucket{Capacity: 27, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
			with(`{"retry":{"budget":"pot","max_attempts":2}}`).from(resilient.TokenBucket{Capacity: 27, RetryCost: 14, ThrottledCost: 5, Refill: 1}),
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

// The figures of a budget are those of its rule, and who counts is said.
func TestRemarksInOtherWords(t *testing.T) {
	for _, c := range []struct {
		code, text string
		is         configured
	}{
		{"retry-budget", "retries draw on budget pot, with all that name it: 10 within 10s in any case, or 0.2 for each call", with(inPot).from(resilient.DefaultCallRatio())},
		{"retry-budget", "retries draw on budget pot, with all that name it: 3 within 1m in any case", with(inPot).from(resilient.CallRatio{Window: time.Minute, Floor: 3})},
		{"retry-budget", "retries draw on budget pot, with all that name it: when full it pays for 2, or 4 of throttled calls", with(inPot).from(resilient.TokenBucket{Capacity: 4, RetryCost: 2, ThrottledCost: 1})},
		{"share-needs-calls", "shares are judged once there are minimum_calls 20 within window 1m: that takes an attempt every 3s in each process", with(`{"circuit_breaker":{"failure_rate":0.5}}`).in(2)},
		{"only-observes", "the circuit refuses nothing, since mode is observe; it keeps to its process meanwhile, whatever the store", with(`{"circuit_breaker":{"mode":"observe"}}`).withStore()},
		{"slow-rule-without-effect", "slow_call_duration 10s is all that an attempt may take: only those that are cut are slow, and they are failures already", with(`{"circuit_breaker":{"slow_call_rate":0.5,"slow_call_duration":10},"attempt_timeout":10}`)},
		{"failures-pass", "a dependency that fails nine attempts in ten passes: failure_rate 0.91 is more than that, and failure_threshold is off", with(`{"circuit_breaker":{"failure_threshold":"off","failure_rate":0.91}}`)},
		{"capped", "Options.Cap, which is for tests, holds waits to 1s: what is said here goes by the policy alone", with(`{}`).under(resilient.Cap{Delay: time.Second})},
		{"reporters-without-store", "the circuit is this process's own, so min_reporters 2 has no effect", with(`{"circuit_breaker":{"min_reporters":2,"mode":"observe"}}`).withStore()},
		{"no-jitter", "each wait is equally long in every process, so what has failed together returns together", with(`{"retry":{"jitter":false},"circuit_breaker":{"mode":"observe"}}`).withStore()},
	} {
		found, ok := remark(c.is.explain(t), c.code)
		assert.True(t, ok, c.code)
		assert.Equal(t, c.text, found.Text)
	}
}
