package vet_test

import (
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/vet"
)

const library = "github.com/seed42274fcc/stoic/resilient"

// Each analyzer finds every fault in the folder of its name, and nothing in what looks like it. They share one load: most
// of the time goes into checking the standard library.
func TestAnalyzers(t *testing.T) {
	byName := map[string]*analysis.Analyzer{}
	patterns := []string{"example.com/app/helpers"} // for its facts
	for _, analyzer := range vet.Analyzers() {
		byName[analyzer.Name] = analyzer
		patterns = append(patterns, "example.com/app/"+analyzer.Name)
	}
	byName["helpers"] = byName["retriedwrite"]
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), each(byName), patterns...)
}

// each runs the analyzers on the packages of the names that they are given.
func each(byName map[string]*analysis.Analyzer) *analysis.Analyzer {
	all := &analysis.Analyzer{Name: "each", Doc: "one analyzer for each package"}
	for _, analyzer := range vet.Analyzers() {
		all.Requires = append(all.Requires, analyzer.Requires...)
		all.FactTypes = append(all.FactTypes, analyzer.FactTypes...)
	}
	all.Run = func(pass *analysis.Pass) (any, error) {
		analyzer := byName[strings.TrimSuffix(pass.Pkg.Name(), "_test")]
		if analyzer == nil || !strings.HasPrefix(pass.Pkg.Path(), "example.com/app/") {
			return nil, nil
		}
		own := *pass
		own.Analyzer = analyzer
		return analyzer.Run(&own)
	}
	return all
}

func TestValid(t *testing.T) {
	require.NoError(t, analysis.Validate(vet.Analyzers()))
}

// What the test data takes for the library has the library's names and types.
func TestLibrary(t *testing.T) {
	original, double := load(t, nil), load(t, []string{"GOPATH=" + analysistest.TestData(), "GO111MODULE=off"})
	for _, name := range double.Scope().Names() {
		ours, theirs := double.Scope().Lookup(name), original.Scope().Lookup(name)
		require.NotNil(t, theirs, name)
		if _, isType := ours.(*types.TypeName); !isType {
			assert.Equal(t, types.ObjectString(ours, nil), types.ObjectString(theirs, nil))
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(ours.Type()))
		for method := range methods.Methods() {
			other := types.NewMethodSet(types.NewPointer(theirs.Type())).Lookup(nil, method.Obj().Name())
			require.NotNil(t, other, method)
			assert.Equal(t, types.TypeString(method.Type(), nil), types.TypeString(other.Type(), nil), method)
		}
	}
}

func load(t *testing.T, env []string) *types.Package {
	t.Helper()
	dir, err := filepath.Abs(".")
	require.NoError(t, err)
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports, Dir: dir, Env: append(os.Environ(), env...),
	}, library)
	require.NoError(t, err)
	require.Len(t, loaded, 1)
	require.Empty(t, loaded[0].Errors)
	return loaded[0].Types
}
