package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// destination is the package that a file is written into.
type destination struct {
	path string // the import path
	name string
	dir  string
	// scope are the names that its files declare, but for our own outputs: which names
	// are free must not depend on what an earlier run wrote.
	scope taken
}

// destinationOf reads the package in a folder. pkg is the one that the interfaces come
// from; its files need not be parsed a second time.
func destinationOf(dir string, fset *token.FileSet, pkg *packages.Package) *destination {
	d := &destination{dir: dir, scope: taken{}}
	parsed := map[string]*ast.File{}
	if len(pkg.GoFiles) > 0 && filepath.Dir(pkg.GoFiles[0]) == dir {
		d.path, d.name = pkg.PkgPath, pkg.Name
		for _, file := range pkg.Syntax {
			parsed[fset.Position(file.Package).Filename] = file
		}
	} else if root := moduleRoot(dir); root != "" {
		if relative, err := filepath.Rel(root, dir); err == nil {
			d.path = path.Join(modulePath(root), filepath.ToSlash(relative))
		}
	}
	entries, _ := os.ReadDir(dir) // a folder that is not there yet has no names
	for _, entry := range entries {
		if name := filepath.Join(dir, entry.Name()); strings.HasSuffix(name, ".go") && !entry.IsDir() && parsed[name] == nil {
			if file, _ := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution); file != nil {
				parsed[name] = file
			}
		}
	}
	for _, name := range slices.Sorted(mapKeys(parsed)) {
		file := parsed[name]
		if d.name == "" && !strings.HasSuffix(name, "_test.go") && file.Name.Name != "_" {
			d.name = file.Name.Name
		}
	}
	if d.name == "" {
		d.name = strings.ReplaceAll(path.Base(d.path), "-", "_")
	}
	for _, file := range parsed {
		if file.Name.Name == d.name && !directive.IsOwn(file) {
			d.scope.add(declared(file)...)
		}
	}
	return d
}

func mapKeys[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// declared are the names that a file declares for its package.
func declared(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name != "init" {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}

// mayImport reports whether a package may import another: an internal one only from
// within the folder that it is internal to, and a main one never.
func (d *destination) mayImport(importPath string) bool {
	prefix, ok := internalTo(importPath)
	return !ok || d.path == prefix || strings.HasPrefix(d.path, prefix+"/")
}

// internalTo is the path that a package is internal to.
func internalTo(importPath string) (string, bool) {
	elements := strings.Split(importPath, "/")
	// "internal/x" of the standard library is internal to nothing that anybody writes.
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			return strings.Join(elements[:i], "/"), true
		}
	}
	return "", false
}
