//go:build vetcorpus

package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpus is popular code that has nothing to do with this library: databases, queues, servers, object stores, and other
// libraries for retries and circuits. Pinned, so that a finding is ours.
var corpus = []string{
	"github.com/avast/retry-go/v4@v4.7.0",
	"github.com/failsafe-go/failsafe-go@v0.9.8",
	"github.com/go-chi/chi/v5@v5.5.0",
	"github.com/jackc/pgx/v5@v5.13.0",
	"github.com/minio/minio-go/v7@v7.4.1",
	"github.com/nats-io/nats.go@v1.55.0",
	"github.com/prometheus/client_golang@v1.25.0",
	"github.com/redis/go-redis/v9@v9.23.0",
	"github.com/spf13/cobra@v1.10.2",
	"go.uber.org/zap@v1.28.0",
	"google.golang.org/grpc@v1.85.0",
}

// No finding in code that does not use the library, tests not looked at: theirs need more than the module.
func TestCorpus(t *testing.T) {
	tool := build(t)
	for _, module := range corpus {
		t.Run(strings.NewReplacer("/", "_").Replace(module), func(t *testing.T) {
			dir := download(t, module)
			output, code := run(t, dir, tool, "-test=false", "./...")
			assert.Zero(t, code, output)
			output, code = run(t, dir, "go", "list", "./...")
			require.Zero(t, code, output)
			t.Logf("%d packages", strings.Count(output, "\n"))
		})
	}
}

// download makes a copy of a module that its own go command can work in.
func download(t *testing.T, module string) (dir string) {
	t.Helper()
	var stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	command.Env, command.Stderr = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"), &stderr
	command.Dir = t.TempDir() // outside of any module
	out, err := command.Output()
	require.NoError(t, err, "%s%s", out, &stderr)
	var downloaded struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &downloaded))
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(downloaded.Dir)))
	t.Setenv("GOFLAGS", "-mod=mod")
	return dir
}
