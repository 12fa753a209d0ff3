package policies_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// A service's policy comes from its default, the variables and its override.
func ExampleFromEnv() {
	env := map[string]string{
		"CLEVERAGENTS_RETRY_BASE_DELAY":        "0.5",
		"CLEVERAGENTS_RETRY_SERVICE_OVERRIDES": `{"plan_service": {"retry": {"max_attempts": 5}}}`,
	}
	reg, err := policies.FromEnv("CLEVERAGENTS", &policies.Options{
		LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, // without it: the process's own
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	retry := reg.Guard("plan_service").Policy().Retry
	fmt.Println(retry.MaxAttempts, retry.BaseDelay, retry.Backoff)
	// Output: 5 500ms jitter
}

// An application with services of its own, configured by a file.
func ExampleLoad() {
	file := []byte(`{"circuit_breaker_failure_threshold": 10,
		"retry_service_overrides": {"search": {"circuit_breaker": {"enabled": false}}}}`)
	reg, err := policies.Load(policies.ParseJSON(file), &policies.Options{
		Defaults: &policies.Defaults{
			Services: map[string]policies.Patch{
				"search":  policies.Network(),
				"billing": {Retry: policies.RetryPatch{MaxAttempts: new(2)}, TotalTimeout: new(10 * time.Second)},
			},
			Fallback: new(policies.Database()),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range reg.Names() {
		p := reg.Policy(name)
		fmt.Println(name, p.Retry.MaxAttempts, p.TotalTimeout, p.Circuit.Enabled, p.Circuit.FailureThreshold)
	}
	// Output:
	// billing 2 10s true 10
	// search 5 5m0s false 10
}

// A Config can be filled in code.
func ExampleConfig() {
	reg, err := policies.Load(policies.Config{
		RetryMaxAttempts: new(4),
		RetryServiceOverrides: map[string]policies.Patch{
			"plan_service": {AttemptTimeout: new(20 * time.Second)},
		},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := reg.Policy("plan_service")
	fmt.Println(p.Retry.MaxAttempts, p.AttemptTimeout)
	// Output: 4 20s
}

// A CI job fails on what would be skipped when the program starts.
func ExampleValidate() {
	file := []byte(`{"retry_max_delay": 60, "retry_service_overrides": {
		"plan_service":  {"retry": {"max_retries": 3}},
		"trace_service": {"retry": {"max_attempts": 0}}}}`)
	findings, err := policies.Validate(policies.ParseJSON(file), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range findings {
		fmt.Println(f.Skipped(), f)
	}
	// Output:
	// false plan_service: retry.max_retries: there is no such setting (did you mean "max_attempts"?); it is ignored
	// true trace_service: retry.max_attempts: is 0, want 1 … 100; the override of the service is skipped
}

// The environment of a deployment can be checked as well.
func ExampleParseEnv() {
	deployment := map[string]string{"CLEVERAGENTS_RETRY_MAX_ATTEMPTS": "many"}
	config, err := policies.ParseEnv("CLEVERAGENTS", &policies.Options{
		LookupEnv: func(name string) (string, bool) { v, ok := deployment[name]; return v, ok },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	findings, err := policies.Validate(config, nil)
	fmt.Println(findings, err)
	// Output: [CLEVERAGENTS_RETRY_MAX_ATTEMPTS: cannot be read, want a whole number; it is skipped] <nil>
}

// Absent fields leave what is beneath; 0 and false are values.
func ExamplePatch() {
	patch := policies.Patch{Retry: policies.RetryPatch{MaxAttempts: new(5), Jitter: new(false)}}
	before := resilient.DefaultPolicy()
	after := patch.Apply(before)
	fmt.Println(before.Retry.MaxAttempts, before.Retry.Jitter, before.Retry.BaseDelay)
	fmt.Println(after.Retry.MaxAttempts, after.Retry.Jitter, after.Retry.BaseDelay)
	// Output:
	// 3 true 1s
	// 5 false 1s
}

func ExampleAgentPlatform() {
	defaults := policies.AgentPlatform()
	defaults.Services["plan_service"] = policies.Network() // a copy: nobody else sees it
	reg, err := policies.Load(policies.Config{}, &policies.Options{Defaults: &defaults})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reg.Policy("plan_service").Retry.MaxAttempts)
	// Output: 5
}

func ExampleReadOnlyPlan() {
	fmt.Println(policies.ReadOnlyPlan("Planning"), policies.ReadOnlyPlan("apply"), policies.ReadOnlyPlan(true))
	// Output: true false false
}

// Another set of phases, for every guard of a registry.
func ExampleReadOnlyPlanIn() {
	phases := append(policies.ReadOnlyPhases(), "dry_run")
	readOnly := policies.ReadOnlyPlanIn(phases...)
	_, err := policies.Load(policies.Config{}, &policies.Options{Options: resilient.Options{ReadOnlyPlan: readOnly}})
	fmt.Println(readOnly("dry_run"), err)
	// Output: true <nil>
}

// What an operators' page shows: which layer set what.
func ExampleRegistry_Explain() {
	reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_base_delay": 2,
		"retry_service_overrides": {"plan_service": {"retry": {"max_attempts": 5}}}}`)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range reg.Explain("plan_service").Settings[:5] {
		fmt.Printf("%s = %s (%s)\n", s.Key, s.Value, s.Origin)
	}
	// Output:
	// retry.max_attempts = 5 (override of the service)
	// retry.base_delay = 2s (setting for all services)
	// retry.max_delay = 1m (library default)
	// retry.jitter = true (default of the service)
	// retry.backoff_strategy = jitter (default of the service)
}

// New values while the program runs; a document with a bad one changes nothing.
func ExampleRegistry_Reload() {
	reg, err := policies.Load(policies.Config{}, &policies.Options{
		Options: resilient.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	plans := reg.Guard("plan_service")
	changes, err := reg.Reload(policies.ParseJSON([]byte(`{"retry_max_attempts": 5}`)))
	fmt.Println(len(changes), "settings changed", err)
	_, err = reg.Reload(policies.ParseJSON([]byte(`{"retry_max_attempts": 9, "retry_jitter": 7}`)))
	fmt.Println(err)
	fmt.Println(plans.Policy().Retry.MaxAttempts)
	// Output:
	// 11 settings changed <nil>
	// policies: the configuration is not put in force, since a part of it would be skipped: retry_jitter: is a number, want true or false; it is skipped
	// 5
}

// A file that is followed for as long as the program runs.
func ExampleRegistry_Watch() {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("policies-%d.json", os.Getpid()))
	if err := os.WriteFile(file, []byte(`{"retry_max_attempts": 5}`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.Remove(file) }()
	changed := make(chan bool, 100)
	reg, err := policies.Load(policies.Config{}, &policies.Options{
		Options: resilient.Options{Logger: slog.New(slog.NewTextHandler(signal(changed), nil))}, // in a program: your own
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- reg.Watch(ctx, file) }()
	<-changed
	stop()
	fmt.Println(<-ended)
	fmt.Println(reg.Guard("plan_service").Policy().Retry.MaxAttempts)
	// Output:
	// context canceled
	// 5
}

// signal says of each record that it was written.
type signal chan bool

func (s signal) Write(p []byte) (int, error) {
	s <- true
	return len(p), nil
}

// Bad values are logged and kept; the program starts.
func ExampleRegistry_Findings() {
	reg, err := policies.Load(policies.ParseJSON([]byte(`{"retry_jitter": "sometimes"}`)), &policies.Options{
		Options: resilient.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))},
	})
	fmt.Println(err, reg.Findings())
	// Output: <nil> [retry_jitter: is a string, want true or false; it is skipped]
}

// An operator's page asks for guards by names that people type: it makes none.
func ExampleRegistry_Lookup() {
	reg, err := policies.Load(policies.Config{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, known := reg.Lookup("plan_service")
	fmt.Println(known)
	_, known = reg.Lookup("paln_service")
	fmt.Println(known)
	fmt.Println(reg.Policy("paln_service").Retry.MaxAttempts, "attempts, if it were used")
	// Output:
	// true
	// false
	// 3 attempts, if it were used
}

// In an incident, all retries of the program are turned off and on again.
func ExampleRegistry_Switch() {
	reg, err := policies.Load(policies.Config{}, &policies.Options{Options: resilient.Options{
		Logger: slog.New(slog.DiscardHandler),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	reg.Switch().SetRetries(false)
	fmt.Println(reg.Switch().Retries(), reg.Switch().Circuits())
	// Output: false true
}

// A CI job says where in a file the mistakes are.
func ExampleForm() {
	file := []byte(`{
  "plan_service":  {"retry": {"max_retries": 3}},
  "trace_service": {"retry": {"max_attempts": 0}}
}`)
	findings, err := policies.Validate(policies.FormOverrides.Parse(file), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, place := range policies.FormOverrides.Places(file, findings) {
		fmt.Printf("%d:%d %s\n", place.Line, place.Column, findings[i].Key)
	}
	// Output:
	// 2:31 retry.max_retries
	// 3:31 retry.max_attempts
}

// An editor that knows the schema says it while they are made.
func ExampleForm_Schema() {
	var schema struct{ Title string }
	if err := json.Unmarshal(policies.FormConfig.Schema(false), &schema); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.Title)
	// Output: Resilience policies
}
