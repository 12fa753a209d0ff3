package chaos_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/redisstore/chaos/internal/servers"
)

// What is spread over the masters of a cluster is listed as one.
func TestListOnACluster(t *testing.T) {
	t.Parallel()
	cluster := servers.StartCluster(t)
	store, err := redisstore.Open(cluster.URL(), &redisstore.Options{Timeout: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	var want []string
	for i := range 50 {
		name := fmt.Sprintf("list%02d", i)
		_, err := store.Do(context.Background(), name, breaker.Command{
			Kind: breaker.Settle, ID: 1, Settings: breaker.DefaultSettings(), Outcome: breaker.Failure,
		})
		require.NoError(t, err)
		want = append(want, name)
	}
	names, err := store.List(context.Background())
	require.NoError(t, err)
	assert.Equal(t, want, names)
}
