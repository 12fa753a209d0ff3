package policies_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// One switch reaches every guard, those included that are made later, and is logged once.
func TestTheSwitchReachesEveryGuard(t *testing.T) {
	for name, own := range map[string]*resilient.Switch{"the registry's": nil, "the application's": {Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			options := &policies.Options{
				Options: resilient.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Switch: own},
				Defaults: &policies.Defaults{
					Services: map[string]policies.Patch{"a": {Retry: policies.RetryPatch{Backoff: new(resilient.BackoffNone)}}},
					Fallback: &policies.Patch{Retry: policies.RetryPatch{Backoff: new(resilient.BackoffNone)}},
				},
				MaxLazyGuards: 2,
			}
			reg, err := policies.Load(policies.Config{}, options)
			require.NoError(t, err)
			if own != nil {
				assert.Same(t, own, reg.Switch())
			}
			lazy := reg.Guard("lazy")
			assert.Equal(t, 2, retriesOf(lazy))
			log.Reset()

			reg.Switch().SetRetries(false)
			reg.Switch().SetRetries(false)
			if own == nil {
				assert.Equal(t, 1, strings.Count(log.String(), "resilience switched off"))
			}
			guards := map[string]*resilient.Guard{"registered": reg.Guard("a"), "lazy": lazy, "later": reg.Guard("later"), "shared": reg.Guard("one too many")}
			require.Equal(t, policies.SharedGuard, guards["shared"].Name())
			for name, g := range guards {
				assert.Zero(t, retriesOf(g), name)
			}
			reg.Switch().SetCircuits(false)
			for name, g := range guards {
				g.Circuit().ForceOpen()
				assert.NoError(t, resilient.Do(context.Background(), g, resilient.Idempotent("get"), func(context.Context) error { return nil }), name)
			}
			reg.Switch().SetRetries(true)
			reg.Switch().SetCircuits(true)
			for name, g := range guards {
				assert.Error(t, resilient.Do(context.Background(), g, resilient.Idempotent("get"), func(context.Context) error { return nil }), name)
				g.Circuit().Reset()
				assert.Equal(t, 2, retriesOf(g), name)
			}
		})
	}
}

// A82: a test caps all services at once, and raises none.
func TestA82TheCapHoldsForEveryService(t *testing.T) {
	options := &policies.Options{Options: quiet()}
	options.Cap = &resilient.Cap{Attempts: 4}
	reg, err := policies.Load(policies.Config{}, options)
	require.NoError(t, err)
	assert.Equal(t, 2, retriesOf(reg.Guard("plan_service")), "min(4, 3) attempts")
	assert.Equal(t, 3, retriesOf(reg.Guard("vector_store_service")), "min(4, 5) attempts")
	options.Cap.Attempts = -1
	_, err = policies.Load(policies.Config{}, options)
	require.ErrorContains(t, err, "Options.Cap")
}
