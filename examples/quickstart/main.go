// Command quickstart is the program at the top of the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// region program

func main() {
	services, err := policies.FromEnv("SHOP", nil) // SHOP_RETRY_MAX_ATTEMPTS=5 and so on
	if err != nil {
		log.Fatal(err)
	}
	stock := services.Guard("stock_service") // same name, same guard, same circuit
	n, err := resilient.Execute(context.Background(), stock, resilient.Idempotent("count"),
		func(ctx context.Context) (int, error) { return count(ctx, "apples") })
	fmt.Println(n, err)
}

// endregion

var asked int

// count asks a service that is down at first.
func count(context.Context, string) (int, error) {
	if asked++; asked < 3 {
		return 0, errors.New("connect to stock:password=hunter2@10.0.0.7: connection refused")
	}
	return 42, nil
}
