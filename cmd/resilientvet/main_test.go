package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	dropped = "app.go:15:16: context.Background() is used instead of the context that the guarded function is given"
	served  = "app.go:25:16: r.Context() is used instead of the context that the guarded function is given"
	retried = "app.go:20:61: Service.Apply is not annotated idempotent, and this op says that it may be repeated"
)

// Under go vet a package is looked at by itself, and what it imports without comments.
func TestVettool(t *testing.T) {
	tool, dir := build(t), app(t)

	output, code := run(t, dir, "go", "vet", "-vettool="+tool, "./...")
	assert.Equal(t, 1, code, output)
	assert.Contains(t, output, dropped)
	assert.Contains(t, output, served)
	assert.Contains(t, output, retried)
	assert.NotContains(t, output, "clean.go")

	output, code = run(t, dir, "go", "vet", "-vettool="+tool, "-lostcontext", "./...")
	assert.Equal(t, 1, code, output)
	assert.Contains(t, output, dropped)
	assert.NotContains(t, output, retried)

	output, code = run(t, dir, "go", "vet", "-vettool="+tool, "./clean", "./plans")
	assert.Zero(t, code, output)
	assert.Empty(t, output)
}

func TestStandalone(t *testing.T) {
	tool, dir := build(t), app(t)

	output, code := run(t, dir, tool, "./...")
	assert.Equal(t, 3, code, output)
	assert.Contains(t, output, dropped)
	assert.Contains(t, output, served)
	assert.Contains(t, output, retried)
	assert.NotContains(t, output, "clean.go")

	output, code = run(t, dir, tool, "./clean")
	assert.Zero(t, code, output)
	assert.Empty(t, output)

	output, code = run(t, dir, tool, "./nowhere")
	assert.Equal(t, 1, code, output)
}

// What the fixes make of the faults is the clean package.
func TestFix(t *testing.T) {
	tool, dir := build(t), app(t)
	output, code := run(t, dir, tool, "-fix", "./...")
	assert.Zero(t, code, output)

	fixed, err := os.ReadFile(filepath.Join(dir, "app.go"))
	require.NoError(t, err)
	assert.Contains(t, string(fixed), `return s.Get(ctx, "1")`)
	assert.Contains(t, string(fixed), `return s.Get(ctx, "2")`)
	assert.Contains(t, string(fixed), `resilient.NonIdempotent("apply"), s.Apply`)

	output, code = run(t, dir, tool, "./...")
	assert.Zero(t, code, output)
}
