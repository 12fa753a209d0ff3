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

// R1: every service has a policy without any configuration.
func TestAgentPlatformTable(t *testing.T) {
	database := policies.Database()
	for service, want := range map[string]struct {
		attempts int
		backoff  resilient.Backoff
		jitter   bool
	}{
		"plan_service":              {3, resilient.BackoffJitter, true},
		"vector_store_service":      {5, resilient.BackoffExponential, true},
		"plan_lifecycle_service":    {3, resilient.BackoffFixed, false},
		"context_service":           {3, resilient.BackoffFixed, false},
		"session_service":           {3, resilient.BackoffFixed, false},
		"checkpoint_service":        {3, resilient.BackoffFixed, false},
		"trace_service":             {3, resilient.BackoffFixed, false},
		"actor_service":             {3, resilient.BackoffFixed, false},
		"resource_registry_service": {3, resilient.BackoffFixed, false},
		"decision_service":          {3, resilient.BackoffFixed, false},
		"error_recovery_service":    {3, resilient.BackoffFixed, false},
	} {
		t.Run(service, func(t *testing.T) {
			reg := fromEnv(t, nil)
			require.Empty(t, reg.Findings())
			require.Len(t, reg.Names(), 11)
			guard, ok := reg.Lookup(service)
			require.True(t, ok, "registered before its first use")
			p := guard.Policy()
			assert.Equal(t, want.attempts, p.Retry.MaxAttempts)
			assert.Equal(t, want.backoff, p.Retry.Backoff)
			assert.Equal(t, want.jitter, p.Retry.Jitter)

			rest := resilient.DefaultPolicy()
			rest.Retry.MaxAttempts, rest.Retry.Backoff, rest.Retry.Jitter = want.attempts, want.backoff, want.jitter
			assert.Equal(t, rest, p, "everything else is the library's default")
		})
	}
	assert.Equal(t, &database, policies.AgentPlatform().Fallback)
}

// R21, A83: nothing is shared, neither between services nor with the caller.
func TestDefaultsAreIsolated(t *testing.T) {
	t.Run("R21: two calls share nothing", func(t *testing.T) {
		one, two := policies.AgentPlatform(), policies.AgentPlatform()
		*one.Services["plan_service"].Retry.MaxAttempts = 99
		*one.Fallback.Retry.MaxAttempts = 98
		assert.Equal(t, policies.AgentPlatform(), two)
	})
	t.Run("A83: one service's patch in another's place", func(t *testing.T) {
		same := policies.Network()
		defaults := policies.Defaults{Services: map[string]policies.Patch{"a": same, "b": same}}
		reg := load(t, policies.Config{}, &defaults)
		p := reg.Policy("a")
		p.Retry.MaxAttempts = 9
		require.NoError(t, reg.Guard("a").SetPolicy(p))
		*same.Retry.MaxAttempts = 77 // after loading: must reach nobody
		defaults.Services["b"] = policies.Database()
		assert.Equal(t, 9, reg.Policy("a").Retry.MaxAttempts)
		assert.Equal(t, 5, reg.Policy("b").Retry.MaxAttempts)
		for _, s := range reg.Explain("b").Settings {
			if s.Key == "retry.max_attempts" {
				assert.Equal(t, policies.OriginService, s.Origin)
			}
		}
	})
	t.Run("P19: loading changes neither Config nor Defaults", func(t *testing.T) {
		config := func() policies.Config {
			return policies.Config{
				RetryMaxAttempts:      new(500), // refused, and still there
				RetryMaxDelay:         new(500 * time.Millisecond),
				RetryServiceOverrides: map[string]policies.Patch{"x": {Retry: policies.RetryPatch{BaseDelay: new(-time.Second)}}},
			}
		}
		c, d := config(), policies.AgentPlatform()
		reg := load(t, c, &d)
		assert.NotEmpty(t, reg.Findings())
		assert.Equal(t, config(), c)
		assert.Equal(t, policies.AgentPlatform(), d)
	})
	t.Run("R21: changing a running policy leaves the fallback", func(t *testing.T) {
		reg := fromEnv(t, nil)
		p := reg.Policy("first")
		p.Retry.MaxAttempts = 50
		require.NoError(t, reg.Guard("first").SetPolicy(p))
		assert.Equal(t, 3, reg.Guard("second").Policy().Retry.MaxAttempts)
	})
}

func TestFallback(t *testing.T) {
	assert.Equal(t, changed(nil), load(t, policies.Config{}, &policies.Defaults{}).Policy("any"), "database unless said otherwise")
	reg := load(t, policies.Config{}, &policies.Defaults{Fallback: new(policies.Patch{})})
	assert.Equal(t, resilient.DefaultPolicy(), reg.Policy("any"))
	assert.Equal(t, resilient.DefaultPolicy(), reg.Guard("any").Policy())
	assert.Equal(t, resilient.DefaultPolicy(), reg.Guard(policies.SharedGuard).Policy())
}

// Options that are not valid are the only error of loading, besides the prefix.
func TestWrongOptions(t *testing.T) {
	for name, o := range map[string]policies.Options{
		"negative bound": {MaxLazyGuards: -1},
		"out of range": {Defaults: &policies.Defaults{Services: map[string]policies.Patch{
			"db": {Retry: policies.RetryPatch{MaxAttempts: new(0)}}}}},
		"strategy": {Defaults: &policies.Defaults{Services: map[string]policies.Patch{
			"db": {Retry: policies.RetryPatch{Backoff: new(resilient.Backoff("expo"))}}}}},
		"conflict": {Defaults: &policies.Defaults{Services: map[string]policies.Patch{
			"db": {Retry: policies.RetryPatch{MaxDelay: new(time.Millisecond)}}}}},
		"fallback": {Defaults: &policies.Defaults{Fallback: &policies.Patch{TotalTimeout: new(time.Duration(0))}}},
		"no name":  {Defaults: &policies.Defaults{Services: map[string]policies.Patch{"": {}}}},
	} {
		t.Run(name, func(t *testing.T) {
			o.LookupEnv = lookupIn(nil)
			reg, err := policies.FromEnv("P", &o)
			assert.Nil(t, reg)
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), "policies: Options."), err.Error())
			_, err = policies.Load(policies.Config{}, &o)
			require.Error(t, err)
			_, err = policies.Validate(policies.Config{}, &o)
			require.Error(t, err)
		})
	}
}
