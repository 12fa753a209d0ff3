package servers

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
)

var binary, missing = exec.LookPath("redis-server")

var (
	leftOut   []string
	leftOutMu sync.Mutex
)

// Need is for tests that cannot do without a redis-server. Where there is none, a test
// that is to be believed fails, and elsewhere it is noted as one that did not run.
func Need(t testing.TB) {
	t.Helper()
	if missing == nil {
		return
	}
	if os.Getenv("CI") != "" || os.Getenv("STOIC_REDIS") == "required" {
		t.Fatalf("there is no redis-server (make redis installs one): %v", missing)
	}
	leftOutMu.Lock()
	leftOut = append(leftOut, t.Name())
	leftOutMu.Unlock()
	t.Skip("NOT RUN: there is no redis-server")
}

// LeftOut are the tests that did not run.
func LeftOut() []string {
	leftOutMu.Lock()
	defer leftOutMu.Unlock()
	return slices.Clone(leftOut)
}
