package policies_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	doc, env, asked, budget, file string
}

// A91: a secret goes into every input of the registry, one at a time, and comes out of none of the sinks.
func TestNoSecretLeavesTheRegistry(t *testing.T) {
	sinks := marker.New(t, "policies")
	quoted := func(text string) string { out, _ := json.Marshal(text); return string(out) }
	secret := quoted(marker.Text)
	for input, p := range map[string]poison{
		"name of a service":  {doc: `{"retry_service_overrides":{` + secret + `:{"retry":{"max_attempts":4}},` + quoted(marker.Pair) + `:3}}`},
		"key of a document":  {doc: `{` + secret + `:1,"retry_service_overrides":{"plan_service":{` + secret + `:1}}}`},
		"value":              {doc: `{"retry_max_attempts":` + secret + `,"retry_service_overrides":{"plan_service":{"retry":{"base_delay":` + secret + `}}}}`},
		"malformed document": {doc: `{"retry_max_attempts":` + marker.Text},
		"budget name":        {doc: `{"retry_budget":` + quoted(marker.Pair) + `,"retry_service_overrides":{"plan_service":{"retry":{"budget":` + quoted(marker.Pair) + `}}}}`},
		"known budget name":  {doc: `{"retry_budget":` + quoted(marker.Pair) + `}`, budget: marker.Pair},
		"environment":        {env: marker.Text},
		"name that is asked": {asked: marker.Text},
		"file name":          {file: marker.Pair},
	} {
		t.Run(input, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) })
	}
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	doc := p.doc
	if doc == "" {
		doc = `{"retry_service_overrides":{"plan_service":{"retry":{"max_attempts":0}}}}`
	}
	log := &journal{}
	options := &policies.Options{Options: resilient.Options{Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))}}
	budget, err := resilient.NewBudget(resilient.DefaultTokenBucket())
	require.NoError(t, err)
	options.Budgets = map[string]*resilient.Budget{"shared": budget}
	if p.budget != "" {
		options.Budgets[p.budget] = budget
	}
	config := policies.ParseJSON([]byte(doc))
	found, err := policies.Validate(config, options)
	require.NoError(t, err)
	reg, err := policies.Load(config, options)
	require.NoError(t, err)
	env := map[string]string{"P_RETRY_MAX_ATTEMPTS": "x" + p.env, "P_RETRY_BACKOFF_STRATEGY": p.env, "P_RETRY_SERVICE_OVERRIDES": p.env}
	fromEnv, err := policies.FromEnv("P", &policies.Options{Options: options.Options, LookupEnv: lookupIn(env), Environ: func() []string {
		return []string{"P_RETRY_MAX_ATEMPTS=" + p.env, "P_" + p.env + "=1"}
	}})
	require.NoError(t, err)
	for _, f := range append(append(found, reg.Findings()...), fromEnv.Findings()...) {
		out.Put("finding", f, f.String())
	}
	for _, name := range append(reg.Names(), "plan_service", "other", p.asked) {
		e := reg.Explain(name)
		encoded, err := json.Marshal(e)
		require.NoError(t, err)
		out.Put("Explain as text", e.String())
		out.Put("Explain as JSON", string(encoded))
		out.Put("explanation", e)
		chain := reg.ExplainChain(name, "plan_service")
		encoded, err = json.Marshal(chain)
		require.NoError(t, err)
		out.Put("chain", chain, chain.String(), string(encoded))
		out.Put("guard's name", reg.Guard(name).Name())
	}
	plain, err := policies.Load(policies.Config{}, options)
	require.NoError(t, err)
	for _, c := range []policies.Config{config, policies.ParseJSON([]byte(`{"retry_max_attempts":9}`)), config, {}} {
		changes, err := plain.Reload(c)
		for _, change := range changes {
			out.Put("change", change, change.String())
		}
		out.Put("ReloadError", err)
	}
	err = plain.Watch(t.Context(), filepath.Join(t.TempDir(), p.file, "missing.json"))
	out.Put("Watch's error", err)
	patch := policies.Patch{Retry: policies.RetryPatch{MaxAttempts: new(-1), Budget: new(p.budget + "x")}}
	bad := &policies.Defaults{Services: map[string]policies.Patch{"svc " + p.asked: patch}}
	_, err = policies.Load(policies.Config{}, &policies.Options{Options: options.Options, Defaults: bad})
	out.Put("error of defaults", err)
	_, err = policies.FromEnv(fmt.Sprint(p.env, "-"), options)
	out.Put("error of a prefix", err)
	out.Put("log at debug", log.take())
}
