package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
)

// The whole test of a store. What only the store's own test can do with it, as to
// forget or to set its clock back, is left nil here, so that it is not checked; the log
// says so.
func ExampleRun() {
	_ = func(t *testing.T) { // that is TestStore, in the store's package
		storetest.Run(t, func(*testing.T) storetest.Harness {
			store := breaker.NewMemoryStore(nil)
			return storetest.Harness{
				Open: func() breaker.Store { return store }, // another client each time, if they are over a network
				News: true,
			}
		})
	}
}

// deaf is a store in which successes do not end a run of failures.
type deaf struct{ *breaker.MemoryStore }

func (d deaf) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if c.Kind == breaker.Settle && c.Token == 0 && c.Outcome == breaker.Success {
		c.Outcome = breaker.Neutral
	}
	return d.MemoryStore.Do(ctx, circuit, c)
}

// What is wrong with a store, by the names of the checks.
func ExampleFindings() {
	store := deaf{breaker.NewMemoryStore(nil)}
	findings := storetest.Findings(storetest.Harness{Open: func() breaker.Store { return store }, News: true})
	fmt.Println(findings[0])
	// Output:
	// a success clears the count: settle success of round 0 with token 0: Failures is 2, want 0
}
