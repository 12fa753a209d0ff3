package resilient_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// leisurelyStore takes its time.
type leisurelyStore struct {
	*breaker.MemoryStore
	pause time.Duration
}

func (s *leisurelyStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	time.Sleep(s.pause)
	return s.MemoryStore.Do(ctx, circuit, c)
}

// A call under a probe of its own is let through where the circuit refuses; it does not
// begin when the store took longer to say so than the caller has.
func TestNoAttemptUnderAnOwnProbeBeginsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &leisurelyStore{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
		g := newGuard(t, steady(threshold(1)), &resilient.Options{Store: store})
		require.Error(t, resilient.Do(t.Context(), g, apply, func(context.Context) error { return errDown }))
		time.Sleep(2 * time.Minute)
		begun := 0
		inner := func(ctx context.Context) error {
			begun++
			return nil
		}
		require.NoError(t, resilient.Do(t.Context(), g, get, func(ctx context.Context) error {
			require.NoError(t, resilient.Do(ctx, g, get, inner))
			require.Equal(t, 1, begun)
			time.Sleep(2 * time.Second) // what is known of the circuit has aged
			store.pause = 40 * time.Millisecond
			hasty, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, resilient.Do(hasty, g, get, inner), context.DeadlineExceeded)
			return nil
		}))
		assert.Equal(t, 1, begun)
	})
}
