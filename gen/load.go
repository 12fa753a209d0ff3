package gen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// runtimePath is the package that generated code calls.
const runtimePath = shape.Library

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
	packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule

// loaded are the packages of one run.
type loaded struct {
	fset     *token.FileSet
	packages []*packages.Package // that the patterns name
	extra    map[string]*packages.Package
}

// load reads the packages that the config names, all in one run of go list. Extra are
// import paths that are needed besides; those of them that the patterns name too are in
// before, what an earlier run without extra found. fromSource type-checks dependencies
// from source too.
func load(config *Config, extra []string, before *loaded, fromSource bool, overlay map[string][]byte) (*loaded, error) {
	l := &loaded{fset: token.NewFileSet(), extra: map[string]*packages.Package{}}
	mode := loadMode
	if fromSource {
		mode |= packages.NeedDeps
	}
	patterns := config.Patterns
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	all := append(append([]string{}, patterns...), extra...)
	settings := &packages.Config{
		Mode: mode, Dir: config.Dir, Env: config.Env, Fset: l.fset, Tests: config.Tests, Overlay: overlay, ParseFile: parseSignatures,
	}
	if config.Tags != "" {
		settings.BuildFlags = []string{"-tags=" + config.Tags}
	}
	found, err := packages.Load(settings, all...)
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	besides := onlyBesides(extra, before)
	for _, pkg := range found {
		if slices.Contains(extra, pkg.PkgPath) {
			l.extra[pkg.PkgPath] = pkg
		}
		switch {
		case besides[strings.TrimSuffix(pkg.PkgPath, "_test")]:
		case config.Tests && strings.HasSuffix(pkg.ID, ".test"): // the test's main
		default:
			l.packages = append(l.packages, pkg)
		}
	}
	if config.Tests {
		l.packages = withoutPlain(l.packages)
	}
	return l, nil
}

// onlyBesides are the extra packages that no pattern names, so that nothing in them is
// to be wrapped.
func onlyBesides(extra []string, before *loaded) map[string]bool {
	besides := map[string]bool{}
	for _, path := range extra {
		besides[path] = true
	}
	if before != nil {
		for _, pkg := range before.packages {
			delete(besides, pkg.PkgPath)
		}
	}
	return besides
}

// withoutPlain keeps of a package that is there with and without its tests the one
// with them.
func withoutPlain(all []*packages.Package) []*packages.Package {
	tested := map[string]bool{}
	for _, pkg := range all {
		if strings.HasSuffix(pkg.ID, ".test]") {
			tested[pkg.PkgPath] = true
		}
	}
	var kept []*packages.Package
	for _, pkg := range all {
		if !tested[pkg.PkgPath] || strings.HasSuffix(pkg.ID, ".test]") {
			kept = append(kept, pkg)
		}
	}
	return kept
}

// parseSignatures leaves function bodies out: nothing that is wrapped depends on one,
// and type-checking them is most of the work.
func parseSignatures(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution|parser.AllErrors)
	if file == nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			f.Body = nil
		}
	}
	return file, err
}

// pathOf is the path of the file that somebody wrote, whatever //line directives say in
// it. What cgo makes of a file begins with a directive that names it.
func pathOf(fset *token.FileSet, pkg *packages.Package, file *ast.File) string {
	name := fset.PositionFor(file.FileStart, false).Filename // it may have no package clause
	if slices.Contains(pkg.GoFiles, name) {
		return name
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if !strings.HasPrefix(comment.Text, "//line ") {
				continue
			}
			if source := fset.Position(comment.End() + 1).Filename; slices.Contains(pkg.GoFiles, source) {
				return source
			}
		}
	}
	return name
}

// environment is the config's, or this process's.
func (c *Config) environment() []string {
	if c.Env != nil {
		return c.Env
	}
	return os.Environ()
}
