package policies_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func overrides(doc string) policies.Config {
	return policies.ParseJSON([]byte(`{"retry_service_overrides":` + doc + `}`))
}

// New values reach the guards that run; what their circuits know stays.
func TestReloadReachesRunningGuards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options, out := logged()
		reg, err := policies.Load(overrides(`{"x":{"circuit_breaker":{"failure_threshold":1}}}`), &policies.Options{Options: options})
		require.NoError(t, err)
		g := reg.Guard("x")
		_ = resilient.Do(t.Context(), g, resilient.NonIdempotent("write"), func(context.Context) error { return errDown })
		snap := g.Circuit().Snapshot()
		require.Equal(t, breaker.Open, snap.State)
		require.Equal(t, time.Minute, time.Until(snap.Until))
		out.Reset()

		changes, err := reg.Reload(overrides(`{"x":{"circuit_breaker":{"failure_threshold":2,"recovery_timeout":90},"retry":{"max_attemps":7}},
			"token=hunter2":{"total_timeout":9}}`))
		require.NoError(t, err)
		assert.Equal(t, []policies.Change{
			{Service: "token=***", Key: "total_timeout", From: "5m", To: "9s"},
			{Service: "x", Key: "circuit_breaker.failure_threshold", From: "1", To: "2"},
			{Service: "x", Key: "circuit_breaker.recovery_timeout", From: "1m", To: "1m30s"},
		}, changes)
		assert.Equal(t, "level=WARN msg=\"bad resilience setting\" service=x key=retry.max_attemps kind=unknown_key problem=\"there is no such setting (did you mean \\\"max_attempts\\\"?); it is ignored\"\n"+
			"level=INFO msg=\"resilience settings changed\" service=\"token=***\" changes=\"total_timeout 5m → 9s\"\n"+
			"level=INFO msg=\"resilience settings changed\" service=x changes=\"circuit_breaker.failure_threshold 1 → 2, circuit_breaker.recovery_timeout 1m → 1m30s\"\n", out.String())
		assert.Equal(t, []brief{{"x", "retry.max_attemps", policies.KindUnknownKey}}, briefs(reg.Findings()))

		assert.Same(t, g, reg.Guard("x"))
		after := g.Circuit().Snapshot()
		assert.Equal(t, breaker.Open, after.State, "the circuit is as it was")
		assert.Equal(t, snap.Round, after.Round)
		assert.Equal(t, 90*time.Second, time.Until(after.Until), "and follows the new times")
		for _, s := range reg.Explain("x").Settings {
			if s.Key == "circuit_breaker.recovery_timeout" {
				assert.Equal(t, policies.Setting{Key: s.Key, Value: "1m30s", Origin: policies.OriginOverride, Where: s.Key}, s)
			}
		}
	})
}

// All or nothing: where Load would skip a setting, nothing changes.
func TestReloadOfBadInputChangesNothing(t *testing.T) {
	for _, doc := range []string{
		``, `{`, `[]`, `{"retry_max_attempts":0}`, `{"retry_max_attempts":"3"}`, `{"retry_max_attempts":3,"retry_max_attempts":4}`,
		`{"retry_max_attempts":7,"retry_service_overrides":{"x":{"total_timeout":301}}}`,
		`{"retry_max_attempts":7,"retry_service_overrides":{"x":{"retry":{"max_delay":1,"base_delay":2}}}}`,
		`{"retry_max_attempts":7,"retry_service_overrides":[]}`, `{"retry_max_delay":0.05}`,
		`{"stock_service":{"retry":{"max_attempts":5}}}`, // the overrides alone, where the whole belongs
	} {
		options, out := logged()
		reg, err := policies.Load(overrides(`{"x":{"total_timeout":9}}`), &policies.Options{Options: options})
		require.NoError(t, err)
		lazy := reg.Guard("lazy")
		type whole struct {
			names    []string
			findings []policies.Finding
			x, lazy  resilient.Policy
			text     string
		}
		look := func() whole {
			return whole{reg.Names(), reg.Findings(), reg.Policy("x"), lazy.Policy(), reg.Explain("plan_service").String()}
		}
		before := look()
		changes, err := reg.Reload(policies.ParseJSON([]byte(doc)))
		var refused *policies.ReloadError
		require.ErrorAs(t, err, &refused, doc)
		assert.NotEmpty(t, refused.Findings)
		assert.Contains(t, err.Error(), refused.Findings[0].String())
		assert.Empty(t, changes)
		assert.Equal(t, before, look(), doc)
		assert.Empty(t, out.String())
	}
}

func TestReloadErrorNamesTheFirst(t *testing.T) {
	reg := fromEnv(t, nil)
	_, err := reg.Reload(overrides(`{"x":{"total_timeout":0},"y":3}`))
	assert.EqualError(t, err, "policies: the configuration is not put in force, since a part of it would be skipped: x: total_timeout: is 0s, want more than 0 and at most 5m0s; the override of the service is skipped; and 1 more")
	_, err = reg.Reload(overrides(`{"x":3}`))
	assert.EqualError(t, err, "policies: the configuration is not put in force, since a part of it would be skipped: x: is a number, want an object; the override of the service is skipped")
	assert.EqualError(t, &policies.ReloadError{}, "policies: the configuration is not put in force")
}

// Services come and go: the guard is always the same one.
func TestReloadNamesServices(t *testing.T) {
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: quiet(), MaxLazyGuards: 1})
	require.NoError(t, err)
	lazy, others := reg.Guard("lazy"), reg.Guard("no room")
	require.Equal(t, policies.SharedGuard, others.Name())

	_, err = reg.Reload(overrides(`{"lazy":{"total_timeout":1},"new":{"total_timeout":2},"no room":{"total_timeout":3},"(others)":{"total_timeout":4}}`))
	require.NoError(t, err)
	assert.Same(t, lazy, reg.Guard("lazy"), "named since, and the same one")
	assert.Same(t, others, reg.Guard(policies.SharedGuard))
	assert.Same(t, others, reg.Guard("still no room"))
	assert.Equal(t, "new", reg.Guard("new").Name())
	assert.Equal(t, "no room", reg.Guard("no room").Name(), "what is named has a guard of its own")
	for name, total := range map[string]float64{"lazy": 1, "new": 2, "no room": 3, policies.SharedGuard: 4, "": 4, "plan_service": 300} {
		assert.Equal(t, seconds(total), reg.Guard(name).Policy().TotalTimeout, name)
		assert.Equal(t, name == "", reg.Explain(name).Fallback, name)
	}
	names := []string{"(others)", "actor_service", "lazy", "new", "no room", "plan_service"}
	assert.Subset(t, reg.Names(), names)
	assert.Len(t, reg.Names(), 11+4)
	guards := map[string]*resilient.Guard{}
	for _, name := range names {
		guards[name] = reg.Guard(name)
	}

	// What is no longer there falls back to what is beneath.
	changes, err := reg.Reload(policies.Config{RetryMaxAttempts: new(8)})
	require.NoError(t, err)
	assert.Contains(t, changes, policies.Change{Service: "", Key: "retry.max_attempts", From: "3", To: "8"})
	assert.Contains(t, changes, policies.Change{Service: "new", Key: "total_timeout", From: "2s", To: "5m"})
	for _, name := range names {
		assert.Same(t, guards[name], reg.Guard(name))
		assert.Equal(t, seconds(300), guards[name].Policy().TotalTimeout, name)
		assert.Equal(t, 8, guards[name].Policy().Retry.MaxAttempts, name)
	}
	assert.True(t, reg.Explain("new").Fallback)
	assert.Equal(t, 8, reg.Policy("never seen").Retry.MaxAttempts)
}

// What the program has set itself stays until the configuration says something else.
func TestReloadAndPoliciesOfTheProgram(t *testing.T) {
	reg := fromOverrides(t, `{"x":{"total_timeout":9},"y":{"total_timeout":9}}`)
	for _, name := range []string{"x", "y"} {
		p := reg.Policy(name)
		p.TotalTimeout = seconds(4)
		require.NoError(t, reg.Guard(name).SetPolicy(p))
	}
	changes, err := reg.Reload(overrides(`{"x":{"total_timeout":9},"y":{"total_timeout":8}}`))
	require.NoError(t, err)
	assert.Equal(t, []policies.Change{{Service: "y", Key: "total_timeout", From: "9s", To: "8s"}}, changes)
	assert.Equal(t, seconds(4), reg.Policy("x").TotalTimeout)
	assert.Equal(t, seconds(8), reg.Policy("y").TotalTimeout)

	changes, err = reg.Reload(overrides(`{"x":{"total_timeout":9},"y":{"total_timeout":8}}`))
	require.NoError(t, err)
	assert.Empty(t, changes, "nothing is new")
}

// What nothing names follows what is set for all: lazy guards, and the shared one.
func TestReloadReachesUnnamedServices(t *testing.T) {
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: quiet(), MaxLazyGuards: 1})
	require.NoError(t, err)
	lazy, shared := reg.Guard("lazy"), reg.Guard("no room")
	changes, err := reg.Reload(policies.Config{CircuitBreakerFailureThreshold: new(8)})
	require.NoError(t, err)
	assert.Len(t, changes, 1+11)
	assert.Equal(t, 8, lazy.Policy().Circuit.FailureThreshold)
	assert.Equal(t, 8, shared.Policy().Circuit.FailureThreshold)
	assert.Same(t, shared, reg.Guard("no room"))
}

// An observer that is told of a circuit which a Reload has switched off may reload as
// well, in the middle of it: then what it has put in force holds for every guard.
func TestReloadFromAnObserver(t *testing.T) {
	options := quiet()
	var reg *policies.Registry
	events := 0
	options.Observers = []resilient.Observer{resilient.ObserverFunc(func(context.Context, resilient.Event) {
		if events++; events == 1 {
			_, err := reg.Reload(overrides(`{"x":{"total_timeout":7},"y":{"total_timeout":7},"z":{"total_timeout":7}}`))
			assert.NoError(t, err)
		}
	})}
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: options})
	require.NoError(t, err)
	const off = `{"circuit_breaker":{"enabled":false}}`
	_, err = reg.Reload(overrides(`{"x":` + off + `,"y":` + off + `,"z":` + off + `}`))
	require.NoError(t, err)
	assert.NotZero(t, events)
	for _, name := range []string{"x", "y", "z"} {
		assert.Equal(t, seconds(7), reg.Guard(name).Policy().TotalTimeout, name)
		assert.True(t, reg.Guard(name).Policy().Circuit.Enabled, name)
		assert.Equal(t, breaker.Closed, reg.Guard(name).Circuit().State(), name)
	}
}

// A name has one guard, and that the policy in force, whoever reloads and asks at the
// same time.
func TestConcurrentReloads(t *testing.T) {
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: quiet()})
	require.NoError(t, err)
	const reloaders, callers, rounds = 3, 3, 30
	name := func(i int) string { return fmt.Sprint("service ", i%20) }
	var mu sync.Mutex
	seen := map[string]*resilient.Guard{}
	var wg sync.WaitGroup
	for i := range reloaders {
		wg.Go(func() {
			for j := range rounds {
				doc := fmt.Sprintf(`{%q:{"total_timeout":%d},%q:{"retry":{"max_attempts":%d}}}`, name(i*7+j), j+1, name(i*5+j+1), i+2)
				_, err := reg.Reload(overrides(doc))
				assert.NoError(t, err)
			}
		})
	}
	for i := range callers {
		wg.Go(func() {
			for j := range rounds {
				at := name(i + j)
				g := reg.Guard(at)
				reg.Explain(at)
				reg.Names()
				mu.Lock()
				if before, ok := seen[at]; ok {
					assert.Same(t, before, g)
				}
				seen[at] = g
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	want := overrides(`{"service 3":{"total_timeout":1}}`)
	_, err = reg.Reload(want)
	require.NoError(t, err)
	fresh := load(t, want, nil)
	for at, g := range seen {
		assert.Same(t, g, reg.Guard(at))
		assert.Equal(t, fresh.Policy(at), g.Policy(), at)
	}
}
