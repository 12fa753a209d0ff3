package breaker_test

import (
	"testing"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/breaker/storetest"
)

func memoryHarness(options *breaker.MemoryOptions) func(*testing.T) storetest.Harness {
	return func(*testing.T) storetest.Harness {
		store := breaker.NewMemoryStore(options)
		return storetest.Harness{
			Open: func() breaker.Store { return store },
			News: options == nil || !options.Silent,
			Now:  store.Now, Skew: store.Skew, Forget: store.Forget,
		}
	}
}

// The kit, where no time is lost and where time is real.
func TestMemoryStoreKeepsTheRules(t *testing.T) {
	t.Run("in a bubble", func(t *testing.T) { storetest.RunInBubble(t, memoryHarness(nil)) })
	t.Run("in real time", func(t *testing.T) { storetest.Run(t, memoryHarness(nil)) })
	t.Run("silent", func(t *testing.T) {
		storetest.RunInBubble(t, memoryHarness(&breaker.MemoryOptions{Silent: true}))
	})
}
