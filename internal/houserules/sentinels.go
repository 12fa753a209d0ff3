package houserules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CheckSentinels returns one line for each name that the code in a folder uses of a package of which it may use less.
func CheckSentinels(dir string, sentinels map[string][]string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var breaches []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, use := range excess(file, sentinels) {
			breaches = append(breaches, fmt.Sprintf("%s: %s: more than the sentinel error",
				positions.Position(use.Pos()), use.Sel.Name))
		}
	}
	return breaches, nil
}

// excess finds the uses of packages among the sentinels that are none of the names allowed.
func excess(file *ast.File, sentinels map[string][]string) []*ast.SelectorExpr {
	allowed := map[string][]string{} // by the name that the file uses for the package
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		names, ok := sentinels[imported]
		if err != nil || !ok {
			continue
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		allowed[name] = names
	}
	var found []*ast.SelectorExpr
	ast.Inspect(file, func(node ast.Node) bool {
		use, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := use.X.(*ast.Ident); ok {
			if names, ok := allowed[pkg.Name]; ok && !slices.Contains(names, use.Sel.Name) {
				found = append(found, use)
			}
		}
		return true
	})
	return found
}
