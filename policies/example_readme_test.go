package policies_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// The code of the README, which a test keeps the same as this.

func readme() error {
	// region registry
	services, err := policies.FromEnv("SHOP", &policies.Options{
		Options: resilient.Options{Classify: resilient.NotFound}, // and Observers, Logger; for every guard
	})
	if err != nil {
		return err // of the prefix or the options; a bad variable never stops a program
	}
	for _, finding := range services.Findings() {
		fmt.Println(finding)
	}
	stock := services.Guard("stock_service")
	// endregion
	fmt.Println(stock.Policy().Retry.MaxAttempts, stock.Policy().Circuit.FailureThreshold)
	return nil
}

func readmeExplain(services *policies.Registry) {
	// region explain
	explained := services.Explain("stock_service")
	for _, warning := range explained.Warnings {
		fmt.Println(warning)
	}
	fmt.Println("at most", explained.Schedule.Longest, "in all")
	fmt.Print(services.ExplainChain("order_service", "stock_service", "price_service"))
	// endregion
}

// What a policy really does.
func ExampleRegistry_ExplainChain() {
	services, err := policies.Load(policies.ParseJSON([]byte(`{"retry_max_attempts": 5,
		"retry_service_overrides": {"stock_service": {"attempt_timeout": 10, "circuit_breaker": {"failure_threshold": 3}}}}`)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	readmeExplain(services)
	// Output:
	// circuit-ends-retries: failure 3 of a single call opens the circuit and so ends the call: attempts 4 to 5 are made only if others succeed meanwhile
	// at most 54s in all
	//   service         attempts   calls below   if each retried
	//   order_service   5          5             5
	//   stock_service   5          5             25
	//   price_service   5          5             125
}

type completion func(context.Context) (string, error)

func readmeMore(ctx context.Context, large, small completion) error {
	// region more
	gateway, err := resilient.NewBudget(resilient.DefaultTokenBucket()) // 500 tokens, and a retry takes 14 of them
	if err != nil {
		return err
	}
	services, err := policies.FromEnv("SHOP", &policies.Options{Options: resilient.Options{
		Budgets: map[string]*resilient.Budget{"gateway": gateway}, // for policies that name it
	}})
	if err != nil {
		return err
	}
	answer, err := resilient.FirstOf(ctx, resilient.Idempotent("complete"),
		resilient.Alternative[string]{Guard: services.Guard("large_model"), Call: large},
		resilient.Alternative[string]{Guard: services.Guard("small_model"), Call: small})
	fmt.Println(answer.Value, "from", answer.Service, err)

	services.Switch().SetRetries(false) // in an incident; SetCircuits likewise
	// endregion
	fmt.Println(gateway.Snapshot().Left, services.Findings())
	circuit := services.Guard("large_model").Policy().Circuit
	fmt.Println(circuit.FailureRate, circuit.SlowCallDuration, circuit.FailureThreshold, circuit.Observe)
	return nil
}

// What else a policy can say.
func ExampleRegistry_more() {
	err := os.Setenv("SHOP_RETRY_SERVICE_OVERRIDES", `{"large_model": {
	  "retry": {"budget": "gateway", "backoff_strategy": "none"},
	  "circuit_breaker": {"failure_rate": 0.5, "slow_call_rate": 0.8, "slow_call_duration": "2s",
	    "minimum_calls": 20, "window": "30s", "failure_threshold": "off", "mode": "observe"}}}`)
	if err != nil {
		fmt.Println(err)
	}
	logger := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	defer slog.SetDefault(logger)
	err = readmeMore(context.Background(),
		func(context.Context) (string, error) { return "", errors.New("overloaded") },
		func(context.Context) (string, error) { return "forty-two", nil })
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// forty-two from small_model <nil>
	// 472 []
	// 0.5 2s 0 true
}

func Example() {
	for name, value := range map[string]string{
		"SHOP_RETRY_MAX_ATTEMPTS":      "5",
		"SHOP_RETRY_SERVICE_OVERRIDES": `{"stock_service": {"circuit_breaker": {"failure_threshold": 3}}}`,
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Println(err)
		}
	}
	if err := readme(); err != nil {
		fmt.Println(err)
	}
	// Output: 5 3
}
