package resilienttest_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

func newGuard(t *testing.T, policy resilient.Policy, options *resilient.Options) *resilient.Guard {
	t.Helper()
	g, err := resilient.NewGuard("orders", policy, options)
	require.NoError(t, err)
	return g
}

// reports takes what a test would be told.
type reports struct {
	mu   sync.Mutex
	text []string
}

func (r *reports) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, fmt.Sprintf(format, args...))
}

func (r *reports) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text
}
