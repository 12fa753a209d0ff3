package breaker_test

import (
	"context"
	"fmt"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Two that share a circuit: what one of them reports, the other is told.
func ExampleMemoryStore() {
	store := breaker.NewMemoryStore(nil)
	store.Watch("search", func(n breaker.News) {
		fmt.Println("told:", n.Answer.Record.Beneath, n.Answer.Record.Failures)
	})
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = 2
	for id := range uint64(2) {
		answer, err := store.Do(context.Background(), "search", breaker.Command{
			Kind: breaker.Settle, ID: id + 1, Outcome: breaker.Failure, Cause: "no route to host", Settings: settings,
		})
		fmt.Println("reported:", answer.Counted, err)
	}
	// Output:
	// told: closed 0
	// told: closed 1
	// reported: true <nil>
	// told: open 2
	// reported: true <nil>
}
