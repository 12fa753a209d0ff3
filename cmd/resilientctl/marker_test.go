package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	circuit, cause, author, service, key, budget, url, env, text, flag string
}

// A86, A91: a secret goes into every input of the command, one at a time, and is in nothing that it prints. (A name that is
// asked for is the operator's own, and is found as it is.)
func TestNoSecretIsPrinted(t *testing.T) {
	sinks := marker.New(t, "cmd/resilientctl")
	for input, p := range map[string]poison{
		"circuit's name":    {circuit: " " + marker.Pair},
		"cause":             {cause: marker.Text},
		"author and reason": {author: marker.Pair},
		"service":           {service: " " + marker.Pair},
		"document":          {key: marker.Pair, budget: marker.Pair},
		"text to redact":    {text: marker.Text},
		"URL":               {url: "redis://app:" + marker.Secret + "@host:port/x"},
		"environment":       {env: marker.Text},
		"flag":              {flag: marker.Pair},
	} {
		t.Run(input, func(t *testing.T) { p.spread(t, startRedis(t), sinks.Seed(t, input)) })
	}
}

func (p poison) spread(t *testing.T, s *server, out *marker.Seed) {
	quoted := func(text string) string { encoded, _ := json.Marshal(text); return string(encoded) }
	run := func(sink, stdin string, args ...string) {
		t.Helper()
		c := s.ctl()
		c.stdin = stdin
		c.env = append(c.env, "APP_RETRY_MAX_ATTEMPTS=4"+p.env, "APP_RETRY_SERVICE_OVERRIDES="+p.env)
		got := c.run(t, args...)
		out.Put(sink, got.out)
		out.Put("errors", got.err)
	}
	p.orders(t, s, run)
	overrides := `{` + quoted("search"+p.service) + `:{` + quoted(p.key) + `:1,"retry":{"max_attempts":6,"budget":` + quoted("b "+p.budget) + `}}}`
	service := "search" + p.service
	run("explain", overrides, "explain", service, "--file", "-")
	run("explain as JSON", overrides, "explain", service, "--file", "-", "--json")
	run("explain", overrides, "explain", "--file", "-")
	run("explain", overrides, "explain", "--chain", service+",plan_service", "--file", "-")
	run("explain", "", "explain", "--prefix", "APP")
	run("validate", overrides, "validate", "-")
	run("validate", overrides, "validate", "-", "--json", "--budgets", "some "+p.budget)
	run("validate", `{"x":`+p.text, "validate", "-")
	run("plot", overrides, "plot", service, "--file", "-")
	run("plot", overrides, "plot", service, "--file", "-", "--svg", "-")
	run("plot", overrides, "plot", service, "--file", "-", "--json")
	run("redact", p.text+"\nclean\n", "redact")
	run("redact", p.text+"\n", "redact", "--check", "--stats")
	run("errors", "", "explain", "--"+"x"+p.flag)
	run("errors", "", "exp "+p.flag)
	run("errors", "", "validate", "no/"+p.flag)
	run("errors", "", "redact", "no/"+p.flag)
	run("errors", "", "explain", "--prefix", "app"+p.flag)
}

// orders is what there is to see and to steer in Redis.
func (p poison) orders(t *testing.T, s *server, run func(sink, stdin string, args ...string)) {
	name := "payments" + p.circuit
	settings := breaker.DefaultSettings()
	for id := range settings.FailureThreshold {
		_, err := s.store.Do(context.Background(), name, breaker.Command{
			Kind: breaker.Settle, ID: uint64(1000 + id), Settings: settings, Outcome: breaker.Failure, Cause: "down " + p.cause,
		})
		require.NoError(t, err)
	}
	run("circuits", "", "circuits", "show", name)
	run("circuits", "", "circuits", "force-open", name, "--author", "ann "+p.author, "--reason", "drill "+p.author, "--for", "10m")
	// And by whoever writes to Redis without taking secrets out.
	_, err := s.store.Do(context.Background(), name, breaker.Command{Kind: breaker.Operate, ID: 7, Settings: settings, Order: breaker.Order{
		Force: breaker.ForceOpen, For: settings.RecoveryTimeout, Author: "ann " + p.author, Reason: "drill " + p.author,
	}})
	require.NoError(t, err)
	for _, line := range []string{"circuits list", "circuits list --json"} {
		sink := "circuits"
		if strings.HasSuffix(line, "--json") {
			sink += " as JSON"
		}
		run(sink, "", strings.Fields(line)...)
	}
	run("circuits as JSON", "", "circuits", "show", name, "--json")
	run("circuits", "", "circuits", "show", "nobody"+p.circuit)
	run("circuits", "", "__complete", "circuits", "reset", "pay")
	run("circuits", "", "circuits", "reset", name, "--reason", "repaired "+p.author)
	url := p.url
	if url == "" {
		url = "redis://app@host:port/x"
	}
	run("errors", "", "circuits", "list", "--redis", url)
}
