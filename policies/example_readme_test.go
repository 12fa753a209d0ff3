package policies_test

import (
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

func readmeBudget() (*policies.Registry, error) {
	// region budget
	gateway, err := resilient.NewBudget(resilient.DefaultCallRatio()) // 2 retries for 10 calls within 10 s, and 10 in any case
	if err != nil {
		return nil, err
	}
	services, err := policies.FromEnv("SHOP", &policies.Options{Options: resilient.Options{
		Budgets: map[string]*resilient.Budget{"gateway": gateway},
	}})
	// endregion
	return services, err
}

func readmeIncident(services *policies.Registry) {
	// region incident
	services.Switch().SetRetries(false)  // every call is made once, from now on
	services.Switch().SetCircuits(false) // every attempt is let through; what circuits know stays
	// endregion
	fmt.Println(services.Switch().Retries(), services.Switch().Circuits())
}

func readmeTrial(services *policies.Registry) {
	// region trial
	seen := services.Guard("search_service").Circuit().Snapshot()
	fmt.Println(seen.State, "would have refused", seen.WouldReject)
	// endregion
}

// Budgets, trials and incidents, as the README has them.
func Example_readme() {
	err := os.Setenv("SHOP_RETRY_SERVICE_OVERRIDES",
		`{"stock_service": {"retry": {"budget": "gateway"}}, "search_service": {"circuit_breaker": {"mode": "observe"}}}`)
	if err != nil {
		fmt.Println(err)
	}
	services, err := readmeBudget()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(services.Findings(), services.Policy("stock_service").Retry.Budget)
	readmeTrial(services)
	log := slog.Default()
	defer slog.SetDefault(log)
	slog.SetDefault(slog.New(slog.DiscardHandler)) // of the switch
	readmeIncident(services)
	// Output:
	// [] gateway
	// closed would have refused 0
	// false false
}
