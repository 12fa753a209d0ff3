package mutation

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// A Package knows the code round a mutant, so that what does not compile is not tried.
type Package struct {
	loaded *packages.Package
}

// Load reads the package in a folder, without its tests.
func Load(folder string) (*Package, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
		packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: folder}, ".")
	if err != nil {
		return nil, err
	}
	if len(loaded) != 1 || len(loaded[0].Errors) > 0 {
		return nil, errors.New("cannot load the package in " + folder)
	}
	return &Package{loaded[0]}, nil
}

// Compiles reports whether the package does with another text of a file, given by its base name.
func (p *Package) Compiles(base string, source []byte) bool {
	files := p.loaded.Fset
	var all []*ast.File
	for _, file := range p.loaded.Syntax {
		if filepath.Base(files.File(file.FileStart).Name()) != base {
			all = append(all, file)
		}
	}
	changed, err := parser.ParseFile(files, base, source, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	config := types.Config{Importer: p, Error: func(error) {}, Sizes: p.loaded.TypesSizes}
	_, err = config.Check(p.loaded.PkgPath, files, append(all, changed), nil)
	return err == nil
}

// Import is how the type checker asks for what the package imports.
func (p *Package) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if imported := p.loaded.Imports[path]; imported != nil && imported.Types != nil {
		return imported.Types, nil
	}
	return nil, errors.New("unknown import " + path)
}
