package gen_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen"
	"github.com/seed42274fcc/stoic/internal/testmodule"
)

// TestStale (A94): when the interface has changed and go generate has not run, the
// compiler's first message says to run it.
func TestStale(t *testing.T) {
	for name, head := range map[string]string{"plain": "type Svc interface", "generic": "type Svc[T any] interface"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, testmodule.Write(dir, "example.com/stale"))
			source := func(methods string) {
				write(t, filepath.Join(dir, "svc.go"), []byte("package stale\n\n//resilient:service s\n"+head+" {\n"+methods+"}\n"))
			}
			source("Get() error\nOld() error\n")
			for _, f := range run(t, gen.Config{Dir: dir}).Files {
				require.NoError(t, f.Write())
			}
			for change, methods := range map[string]string{
				"missing method More":              "Get() error\nOld() error\nMore() error\n",
				"wrong type for method Old":        "Get() error\nOld(id string) error\n",
				"staleRunGoGenerate.Old undefined": "Get() error\n",
				"staleRunGoGenerate.Get undefined": "Old() error\n",
			} {
				source(methods)
				first := firstOf(t, dir)
				assert.Contains(t, first, "staleRunGoGenerate")
				assert.Contains(t, first, change)
			}
		})
	}
}

// TestHandshake: where the library is another than the one that a wrapper was written for, the compiler stops at a line
// below one that says what to run.
func TestHandshake(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, testmodule.Write(dir, "example.com/handshake"))
	write(t, filepath.Join(dir, "svc.go"), []byte("package handshake\n\n//resilient:service s\ntype Svc interface{ Do() error }\n"))
	files := run(t, gen.Config{Dir: dir}).Files
	require.Len(t, files, 1)
	text := strings.Replace(string(files[0].Content), "resilient.GeneratedV1", "resilient.GeneratedV0", 1)
	write(t, files[0].Path, []byte(text))
	parts := strings.Split(firstOf(t, dir), ":")
	require.Len(t, parts, 5)
	assert.Equal(t, " undefined", parts[3])
	assert.Equal(t, " resilient.GeneratedV0", parts[4])
	line, err := strconv.Atoi(parts[1])
	require.NoError(t, err)
	assert.Equal(t, "// If this does not compile: update github.com/seed42274fcc/stoic, then run go generate.", strings.Split(text, "\n")[line-2])
}

// firstOf is the compiler's first message about the package in dir.
func firstOf(t *testing.T, dir string) string {
	t.Helper()
	build := exec.Command("go", "build", "./...")
	build.Dir, build.Env = dir, testmodule.Environment()
	out, err := build.CombinedOutput()
	require.Error(t, err)
	_, messages, _ := strings.Cut(string(out), "\n") // below the name of the package
	first, _, _ := strings.Cut(messages, "\n")
	return first
}
