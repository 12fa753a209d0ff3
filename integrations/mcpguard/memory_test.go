package mcpguard_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
)

// A guard does not keep the servers that it protects: programs make one for each session.
func TestServersAreNotKept(t *testing.T) {
	g := newGuard(t, watchAll())
	collected := make(chan struct{})
	protect(g, collected)
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-collected:
			return true
		default:
			return false
		}
	}, 10*time.Second, time.Millisecond)
	g.Protect(newServer(newBackend(works), nil))
}

func protect(g *mcpguard.Guard, collected chan struct{}) {
	server := newServer(newBackend(works), nil)
	g.Protect(server)
	runtime.AddCleanup(server, func(c chan struct{}) { close(c) }, collected)
}
