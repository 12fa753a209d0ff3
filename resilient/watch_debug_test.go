//go:build stoicdebug

package resilient_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

type lockedBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer close(b.written)
	return b.text.Write(p)
}

// TestForgottenPermitIsNamed is A27: a debug build names the place where a permit
// was acquired that nobody settles, and only that one.
func TestForgottenPermitIsNamed(t *testing.T) {
	log := &lockedBuffer{written: make(chan struct{})}
	g, err := resilient.NewGuard("orders", resilient.DefaultPolicy(), &resilient.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err)
	settled, err := g.Acquire(context.Background())
	require.NoError(t, err)
	settled.Settle(nil)
	_, err = g.Acquire(context.Background())
	require.NoError(t, err)
	for done := false; !done; {
		runtime.GC()
		select {
		case <-log.written:
			done = true
		default:
			runtime.Gosched()
		}
	}
	assert.Contains(t, log.text.String(), "permit forgotten")
	assert.Contains(t, log.text.String(), "watch_debug_test.go:")
}
