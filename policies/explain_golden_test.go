package policies_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

var update = flag.Bool("update", false, "write the golden files in testdata/explain anew")

// golden compares with a file in testdata/explain. To write them anew:
//
//	go test ./policies -run Explain -update
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "explain", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// A73, A74: each default service explained, and nothing to warn of.
func TestExplainGolden(t *testing.T) {
	reg := fromEnv(t, nil)
	names := append(reg.Names(), "nobody")
	require.Len(t, names, 12)
	for _, name := range names {
		e := reg.Explain(name)
		assert.Empty(t, e.Warnings, name)
		golden(t, name+".txt", e.String())
	}
	assert.Len(t, reg.Names(), 11, "explaining makes no guard")
}

// What all of it looks like: a growing open time, attempts that are never made, notes,
// warnings, every origin.
func TestExplainGoldenMisconfigured(t *testing.T) {
	reg := misconfigured(t)
	golden(t, "misconfigured.txt", reg.Explain("search").String())
	golden(t, "chain.txt", reg.ExplainChain("plan_service", "search", "database").String())

	data, err := json.MarshalIndent(reg.Explain("search"), "", "\t")
	require.NoError(t, err)
	golden(t, "misconfigured.json", string(data)+"\n")
	data, err = json.MarshalIndent(reg.ExplainChain("plan_service", "search"), "", "\t")
	require.NoError(t, err)
	golden(t, "chain.json", string(data)+"\n")
}

// What the rules look like that look at a window, a circuit that only observes, a budget.
func TestExplainGoldenShares(t *testing.T) {
	pot, err := resilient.NewBudget(resilient.DefaultTokenBucket())
	require.NoError(t, err)
	options := &policies.Options{Options: quiet(), Replicas: 3}
	options.Budgets = map[string]*resilient.Budget{"gateway": pot}
	reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_service_overrides":{"search":{
		"retry":{"jitter":true,"budget":"gateway"},
		"circuit_breaker":{"failure_rate":0.5,"slow_call_rate":0.8,"slow_call_duration":2,"window":30,"failure_threshold":50,
			"recovery_timeout":10,"recovery_multiplier":2,"max_recovery_timeout":60,"recovery_jitter":0.5,"mode":"observe"},
		"attempt_timeout":5}}}`)), options)
	require.NoError(t, err)
	require.Empty(t, reg.Findings())
	assert.Empty(t, reg.Explain("search").Warnings)
	reg.Switch().SetRetries(false)
	reg.Switch().SetCircuits(false)
	golden(t, "shares.txt", reg.Explain("search").String())
}

// What is switched off is said for as long as it is.
func TestExplainSwitchedOff(t *testing.T) {
	reg := fromEnv(t, nil)
	says := func(retriesOff, circuitsOff bool) {
		t.Helper()
		e := reg.Explain("plan_service")
		assert.Equal(t, retriesOff, e.RetriesOff)
		assert.Equal(t, circuitsOff, e.CircuitsOff)
		assert.Equal(t, retriesOff, strings.Contains(e.String(), "\nretries are switched off at the moment: each call is made once\n"))
		assert.Equal(t, circuitsOff, strings.Contains(e.String(), "\ncircuits are switched off at the moment: every attempt is let through\n"))
	}
	says(false, false)
	reg.Switch().SetRetries(false)
	says(true, false)
	reg.Switch().SetCircuits(false)
	says(true, true)
	reg.Switch().SetRetries(true)
	reg.Switch().SetCircuits(true)
	says(false, false)
}

func misconfigured(t *testing.T) *policies.Registry {
	t.Helper()
	reg, err := policies.FromEnv("SHOP", &policies.Options{
		Options: quiet(), Replicas: 3,
		LookupEnv: lookupIn(map[string]string{
			"SHOP_RETRY_BASE_DELAY": "5",
			"SHOP_RETRY_SERVICE_OVERRIDES": `{"search":{"retry":{"max_attempts":6,"backoff_strategy":"exponential","max_retry_after":60},
				"circuit_breaker":{"failure_threshold":3,"recovery_timeout":10,"recovery_multiplier":2,"max_recovery_timeout":90},
				"total_timeout":60,"attempt_timeout":20}}`,
		}),
	})
	require.NoError(t, err)
	require.Empty(t, reg.Findings())
	return reg
}
