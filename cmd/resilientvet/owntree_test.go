package main_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No finding in the library itself, its tests and its nested modules.
func TestOwnTree(t *testing.T) {
	tool := build(t)
	modules := modules(t)
	require.Contains(t, modules, root)
	for _, module := range modules {
		if packages, code := run(t, module, "go", "list", "./..."); code == 0 && strings.HasPrefix(packages, "go: warning:") {
			continue // nothing but files behind build tags
		}
		output, code := run(t, module, "go", "vet", "-vettool="+tool, "./...")
		assert.Zero(t, code, "%s:\n%s", module, output)
	}
}

// modules lists the folders with a go.mod. Test data is not among them, nor the linters, which hold no code, nor the
// corpus, which compiles half of the ecosystem.
func modules(t *testing.T) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules" || name == "tools" || name == "corpus") {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return nil
	}))
	return found
}
