package policies_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// withBudgets are options with budgets of those names, with one token each.
func withBudgets(t *testing.T, names ...string) resilient.Options {
	t.Helper()
	o := quiet()
	o.Budgets = map[string]*resilient.Budget{}
	for _, name := range names {
		b, err := resilient.NewBudget(resilient.TokenBucket{Capacity: 1, RetryCost: 1, ThrottledCost: 1})
		require.NoError(t, err)
		o.Budgets[name] = b
	}
	return o
}

// retriesOf calls what always fails and returns how often it was repeated.
func retriesOf(g *resilient.Guard) int {
	calls := 0
	_ = resilient.Do(context.Background(), g, resilient.Idempotent("get"), func(context.Context) error {
		calls++
		return errors.New("down")
	})
	return calls - 1
}

// Services that name the same budget share it; a service that nothing says it of has none.
func TestServicesShareABudget(t *testing.T) {
	reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_service_overrides":{
		"a":{"retry":{"budget":"llm","backoff_strategy":"none"}},
		"b":{"retry":{"budget":"llm","backoff_strategy":"none"}},
		"c":{"retry":{"budget":"","backoff_strategy":"none"}}}}`)), &policies.Options{Options: withBudgets(t, "llm")})
	require.NoError(t, err)
	assert.Empty(t, reg.Findings())
	assert.Equal(t, "llm", reg.Policy("b").Retry.Budget)
	assert.Empty(t, reg.Policy("nobody").Retry.Budget)
	assert.Equal(t, []int{1, 0, 2}, []int{retriesOf(reg.Guard("a")), retriesOf(reg.Guard("b")), retriesOf(reg.Guard("c"))})
	for _, s := range reg.Explain("a").Settings {
		if s.Key == "retry.budget" {
			assert.Equal(t, policies.Setting{Key: s.Key, Value: "llm", Origin: policies.OriginOverride, Where: s.Key}, s)
		}
	}
}

// An unknown budget is a finding, and that service's override is skipped.
func TestAnUnknownBudgetIsAFinding(t *testing.T) {
	doc := `{"a":{"retry":{"budget":"lmm","max_attempts":9}},"b":{"retry":{"budget":7}},"c":{"retry":{"budget":"` +
		strings.Repeat("ü", 101) + `"}},"d":{"retry":{"budget":"llm"}}}`
	config := policies.ParseJSON([]byte(`{"retry_service_overrides":` + doc + `}`))
	reg, err := policies.Load(config, &policies.Options{Options: withBudgets(t, "llm", "other")})
	require.NoError(t, err)
	assert.Equal(t, []brief{
		{"b", "retry.budget", policies.KindWrongType},
		{"c", "retry.budget", policies.KindOutOfRange},
		{"a", "retry.budget", policies.KindOutOfRange},
	}, briefs(reg.Findings()))
	assert.Equal(t, `a: retry.budget: names no budget (did you mean "llm"?), want one of llm, other; the override of the service is skipped`,
		reg.Findings()[2].String())
	assert.Equal(t, 3, reg.Policy("a").Retry.MaxAttempts)
	assert.NotContains(t, reg.Names(), "a")

	found, err := policies.Validate(policies.Config{RetryServiceOverrides: map[string]policies.Patch{
		"a": {Retry: policies.RetryPatch{Budget: new("llm")}},
	}}, nil)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Contains(t, found[0].Message, "Options.Budgets has none")

	_, err = policies.Load(policies.Config{}, &policies.Options{Options: withBudgets(t, "llm"), Defaults: &policies.Defaults{
		Services: map[string]policies.Patch{"a": {Retry: policies.RetryPatch{Budget: new("lmm")}}},
	}})
	require.ErrorContains(t, err, "default of a: retry.budget names no budget", "defaults are code")
}

// The options are copied: what happens to the map later reaches no guard.
func TestBudgetsAreCopied(t *testing.T) {
	options := &policies.Options{Options: withBudgets(t, "llm"), Defaults: &policies.Defaults{
		Fallback: &policies.Patch{Retry: policies.RetryPatch{Budget: new("llm")}},
	}}
	reg, err := policies.Load(policies.Config{}, options)
	require.NoError(t, err)
	clear(options.Budgets)
	assert.Equal(t, "llm", reg.Guard("anybody").Policy().Retry.Budget)
	assert.NotSame(t, reg.Guard("(others)"), reg.Guard("anybody"))
}

// So is the cap: a guard that is made later has the one that the others have.
func TestTheCapIsCopied(t *testing.T) {
	options := &policies.Options{Options: quiet()}
	options.Cap = &resilient.Cap{Attempts: 2}
	reg, err := policies.Load(policies.Config{}, options)
	require.NoError(t, err)
	options.Cap.Attempts = -1 // with which no guard could be made
	for _, name := range []string{"plan_service", "later"} {
		assert.Equal(t, name, reg.Guard(name).Name())
		assert.Equal(t, 1, retriesOf(reg.Guard(name)))
	}
}

// What is no budget is refused at once, and not when somebody names it: by then a program runs, and a reload that
// named it would be in force in part.
func TestWhatIsNoBudgetIsRefused(t *testing.T) {
	for _, none := range []*resilient.Budget{nil, {}} {
		options := &policies.Options{Options: quiet()}
		options.Budgets = map[string]*resilient.Budget{"llm": none}
		_, err := policies.Load(policies.Config{}, options)
		require.ErrorContains(t, err, `Options.Budgets["llm"]`)
	}
}
