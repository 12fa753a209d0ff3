package policies_test

import (
	"fmt"
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
