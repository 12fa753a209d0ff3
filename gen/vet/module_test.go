package vet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// module makes a module of testdata that uses the library as it stands here, with the versions that the library uses.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata")))
	useLibrary(t, dir)
	return dir
}

// useLibrary makes dir a module example.com/app that requires this one.
func useLibrary(t *testing.T, dir string) {
	t.Helper()
	library, err := filepath.Abs(root)
	require.NoError(t, err)
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	_, requires, found := strings.Cut(string(mod), "\n")
	require.True(t, found)
	text := "module example.com/app\n" + requires +
		"\nrequire github.com/seed42274fcc/stoic v0.0.0\n\nreplace github.com/seed42274fcc/stoic => " + library + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o600))
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600))
}
