package gen_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen"
)

// TestStale (A94): when the interface has changed and go generate has not run, the
// compiler's first message says to run it.
func TestStale(t *testing.T) {
	for name, source := range map[string]string{
		"plain":   "//resilient:service s\ntype Svc interface {\n\tGet() error\n\t// more\n}\n",
		"generic": "//resilient:service s\ntype Svc[T any] interface {\n\tGet() (T, error)\n\t// more\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			newModule(t, dir, "example.com/stale")
			write(t, filepath.Join(dir, "svc.go"), []byte("package stale\n\n"+source))
			for _, f := range run(t, gen.Config{Dir: dir}).Files {
				require.NoError(t, f.Write())
			}
			write(t, filepath.Join(dir, "svc.go"), []byte("package stale\n\n"+strings.Replace(source, "// more", "More() error", 1)))
			build := exec.Command("go", "build", "./...")
			build.Dir, build.Env = dir, environment()
			out, err := build.CombinedOutput()
			require.Error(t, err)
			first, _, _ := strings.Cut(strings.TrimPrefix(string(out), "# example.com/stale\n"), "\n")
			assert.Contains(t, first, "as staleRunGoGenerate value")
			assert.Contains(t, first, "missing method More")
		})
	}
}
