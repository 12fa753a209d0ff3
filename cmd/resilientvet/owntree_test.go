package main_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// No finding in the library itself, its tests and its nested modules. Those that make test leaves out are held to it where
// they are compiled: by make recipes and make browser.
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

// elsewhere are folders that hold no code of the library's, or whose modules take too long to compile for make test: the
// corpus, the recipes, what drives a browser.
var elsewhere = []string{"testdata", "node_modules", "tools", "corpus", "recipes", "browser"}

// modules lists the folders with a go.mod.
func modules(t *testing.T) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains(elsewhere, name)) {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			found = append(found, filepath.Dir(path))
		}
		return nil
	}))
	return found
}
