package resilient_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient"
)

// What a guard remembers of its ops' names changes nothing in them, however many there are and whoever asks first.
func TestA86NamesOfOpsAreCleanEachTime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	told := map[string]int{}
	g := newGuard(t, resilient.DefaultPolicy(), &resilient.Options{Observers: []resilient.Observer{
		resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
			if done, ok := e.(resilient.CallDone); ok {
				mu.Lock()
				defer mu.Unlock()
				told[done.Operation]++
			}
		}),
	}})
	names := map[string]string{"": "", "get": "get", "get password=F4KE": "get password=***", "a\nb": "a b"}
	for i := range 100 {
		names[fmt.Sprint("list_", i)] = fmt.Sprint("list_", i)
	}
	long := strings.Repeat("word ", 60)
	names[long] = long[:200] + "..."

	const callers, rounds = 4, 3
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range rounds {
				for name := range names {
					_ = resilient.Do(context.Background(), g, resilient.Idempotent(name), func(context.Context) error { return nil })
				}
			}
		})
	}
	group.Wait()
	want := map[string]int{}
	for _, clean := range names {
		want[clean] = callers * rounds
	}
	assert.Equal(t, want, told)
}

// Not parallel: the counts are of the whole process. A name whose secret has to be taken out costs an event no more
// than any other.
func TestANameWithASecretIsCleanedOnce(t *testing.T) {
	g := newGuard(t, resilient.DefaultPolicy(), &resilient.Options{Observers: []resilient.Observer{&counting{}}})
	op := resilient.Idempotent("get password=F4KE")
	ctx := context.Background()
	assert.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		_ = resilient.Do(ctx, g, op, func(context.Context) error { return nil })
	}), 2.0, "the call's context, and the event")
}
