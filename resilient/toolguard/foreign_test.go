package toolguard_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// Observers may use the guard: no lock is held, also while a circuit is made that finds
// out in the store that it is open.
func TestObserversMayUseTheGuard(t *testing.T) {
	for name, options := range stores {
		t.Run(name, func(t *testing.T) {
			store := newSpy(options)
			first := onStore(t, store, 1)[0]
			open(t, first, "search")
			var g *toolguard.Guard
			told := 0
			mine := watchAll()
			mine.Store = store
			mine.Observers = []resilient.Observer{resilient.ObserverFunc(func(ctx context.Context, _ resilient.Event) {
				told++
				turn := g.Turn(ctx, []string{"search", "calc"})
				_, err := turn.Begin(ctx, "search")
				requireRefused(t, err)
				turn.Close()
				assert.NotEmpty(t, g.Tools())
			})}
			g = newGuard(t, mine)
			assert.Equal(t, []string{"calc"}, g.Turn(t.Context(), []string{"search", "calc"}).Allowed())
			assert.Equal(t, 1, told)
		})
	}
}

// One that ends its goroutine ends nothing else.
func TestObserverThatEndsItsGoroutine(t *testing.T) {
	options := watchAll()
	options.Observers = []resilient.Observer{resilient.ObserverFunc(func(context.Context, resilient.Event) { runtime.Goexit() })}
	options.Store = newSpy(nil)
	open(t, onStore(t, options.Store, 1)[0], "search")
	g := newGuard(t, options)
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.Turn(t.Context(), []string{"search"}) // finds it open
	}()
	<-done
	_, err := g.Begin(t.Context(), "search")
	requireRefused(t, err)
}

// A context that ends while the store is asked: nothing runs, and the probe is free.
func TestContextThatEndsWhileThePermitIsHad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		options := watchAll()
		options.Observers = []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
			if e.(toolguard.ToolChanged).To == breaker.HalfOpen {
				cancel()
			}
		})}
		g := newGuard(t, options)
		open(t, g, "search")
		time.Sleep(time.Minute)
		_, err := g.Begin(ctx, "search")
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, g.Circuit("", "search").Snapshot().Probes)
	})
}

// A guarded call that retries leaves a refusal at that, whatever its reason; and a
// Session that panics is no session.
func TestRefusalsAreNotRetried(t *testing.T) {
	options := budget(1)
	ok := options.Session
	options.Session = func(ctx context.Context) string {
		if id := ok(ctx); id != "panic" {
			return id
		}
		panic("session")
	}
	g := newGuard(t, options)
	ctx := inSession(t.Context(), "ann")
	require.NoError(t, call(ctx, g, "search", toolguard.Error))
	require.NoError(t, call(inSession(ctx, "panic"), g, "search", toolguard.Error))
	retry, err := resilient.NewGuard("retry", resilient.DefaultPolicy(), &resilient.Options{Logger: silent})
	require.NoError(t, err)
	ran := 0
	_, err = resilient.Execute(ctx, retry, resilient.Idempotent("a"), func(ctx context.Context) (int, error) {
		ran++
		return toolguard.Call(ctx, g, "search", 0, func(context.Context, int) (int, error) { return 0, nil })
	})
	assert.Equal(t, toolguard.ReasonBudget, refusedBy(t, err).Reason)
	assert.Equal(t, 1, ran)
	assert.Zero(t, retry.Circuit().Snapshot().Failures)
}

// What an operator has switched off stays listed last, since nobody knows its end.
func TestForcedToolsComeLast(t *testing.T) {
	options := watchAll()
	options.MaxWithheldShare = 0.5
	g := newGuard(t, options)
	for _, name := range []string{"a", "b", "c", "d"} {
		require.NoError(t, call(t.Context(), g, name, toolguard.Error))
	}
	g.Circuit("", "a").ForceOpen()
	g.Circuit("", "c").ForceOpen()
	open := func(name string) {
		for call(t.Context(), g, name, toolguard.Error) == nil {
		}
	}
	open("b")
	open("d")
	assert.Equal(t, []string{"b", "d"}, g.Turn(t.Context(), []string{"a", "b", "c", "d"}).Allowed())
}

func TestNilContext(t *testing.T) {
	g := newGuard(t, watchAll())
	var none context.Context
	turn := g.Turn(none, []string{"search"})
	assert.Empty(t, turn.Withheld())
	_, err := g.Begin(none, "search")
	require.ErrorIs(t, err, resilient.ErrNilContext)
	_, err = turn.Begin(none, "search")
	require.ErrorIs(t, err, resilient.ErrNilContext)
	assert.Nil(t, turn.Context(none))
}
