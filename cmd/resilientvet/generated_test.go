package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What resilientgen writes has no finding, and both agree on what makes it stale.
func TestGenerated(t *testing.T) {
	tool, dir := build(t), app(t)
	generator, err := filepath.Abs("../resilientgen")
	require.NoError(t, err)
	binary := filepath.Join(t.TempDir(), "resilientgen.exe") // a name that runs everywhere
	output, code := run(t, generator, "go", "build", "-o", binary, ".")
	require.Zero(t, code, output)
	output, code = run(t, dir, binary, "./plans")
	require.Zero(t, code, output)
	written, err := filepath.Glob(filepath.Join(dir, "plans", "*_resilient.go"))
	require.NoError(t, err)
	require.Len(t, written, 1)

	output, code = run(t, dir, "go", "vet", "-vettool="+tool, "./plans")
	assert.Zero(t, code, output)

	source := filepath.Join(dir, "plans", "plans.go")
	text, err := os.ReadFile(source)
	require.NoError(t, err)
	write(t, source, strings.Replace(string(text), "//resilient:idempotent", "//resilient:idempotent ", 1))
	output, code = run(t, dir, "go", "vet", "-vettool="+tool, "./plans")
	assert.Zero(t, code, "a space: %s", output)

	write(t, source, strings.Replace(string(text), "//resilient:idempotent", "//resilient:timeout 2s", 1))
	output, code = run(t, dir, "go", "vet", "-vettool="+tool, "./plans")
	assert.Equal(t, 1, code, output)
	assert.Contains(t, output, "the methods or directives of Service have changed since this wrapper was written: run go generate")
}
