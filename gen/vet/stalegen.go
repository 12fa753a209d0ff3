package vet

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// staleGen does not see interfaces that were never generated for, nor files without fingerprints, nor what directives of
// embedded interfaces and MarkIdempotent say; of //resilient:from it sees only that it is gone.
var staleGen = &analysis.Analyzer{
	Name: "stalegen",
	Doc: `report wrappers that are older than their interface

A file written by resilientgen carries a fingerprint of each interface's methods and directives. When it differs, the
wrapper does something else than the interface says.`,
	Requires: []*analysis.Analyzer{services},
	Run: func(pass *analysis.Pass) (any, error) {
		known := pass.ResultOf[services].(map[types.Object]*service)
		for _, file := range pass.Files {
			if !directive.IsOwn(file) {
				continue
			}
			for _, mark := range fingerprint.Marks(file) {
				obj := lookUp(pass.Pkg, mark.Interface)
				s := known[obj]
				switch {
				case (s == nil || s.Derived) && !strings.Contains(mark.Interface, "."): // elsewhere we may not have looked
					pass.Reportf(mark.Pos, "%s is no service interface any more: run go generate, or remove the file", mark.Interface)
				case s != nil && s.Fingerprint != "" && s.Fingerprint != mark.Hex:
					pass.Reportf(mark.Pos, "the methods or directives of %s have changed since this wrapper was written: run go generate", mark.Interface)
				}
			}
		}
		return nil, nil
	},
}

// lookUp finds a type of a package, or of one that it imports, by its path, a dot and its name.
func lookUp(pkg *types.Package, name string) types.Object {
	dot := strings.LastIndex(name, ".")
	if dot < 0 {
		return pkg.Scope().Lookup(name)
	}
	for _, imported := range pkg.Imports() {
		if imported.Path() == name[:dot] {
			return imported.Scope().Lookup(name[dot+1:])
		}
	}
	return nil
}
