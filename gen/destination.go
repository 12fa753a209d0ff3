package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
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
			parsed[pathOf(fset, pkg, file)] = file
		}
	} else if root := moduleRoot(dir); root != "" {
		if relative, err := filepath.Rel(root, dir); err == nil {
			d.path = path.Join(modulePath(root), filepath.ToSlash(relative))
		}
	}
	parseBeside(dir, parsed)
	for _, path := range slices.Sorted(maps.Keys(parsed)) {
		if name := parsed[path].Name.Name; d.name == "" && name != "_" && !strings.HasSuffix(path, "_test.go") {
			d.name = name
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

// parseBeside adds the files of a folder that the go command left out: those of tests,
// and those behind build constraints. What they declare is in the same scope.
func parseBeside(dir string, parsed map[string]*ast.File) {
	entries, _ := os.ReadDir(dir) // a folder that is not there yet has no names
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || parsed[path] != nil {
			continue
		}
		if file, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution); file != nil {
			parsed[path] = file
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
