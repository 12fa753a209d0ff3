package gen

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
)

// aliasFinder looks for public names of types that the destination may not import: a
// package that keeps its types in an internal one often gives them aliases.
type aliasFinder struct {
	to *destination
}

// in returns a search among the packages that a target's package imports, that
// package, and the ones that its methods are declared in.
func (f aliasFinder) in(t *target) func(*types.TypeName) *types.TypeName {
	return func(object *types.TypeName) *types.TypeName {
		packages := append(slices.Clone(t.pkg.Types.Imports()), t.pkg.Types)
		for _, imported := range t.pkg.Types.Imports() {
			packages = append(packages, imported.Imports()...)
		}
		slices.SortFunc(packages, func(a, b *types.Package) int { return cmp.Compare(a.Path(), b.Path()) })
		for _, pkg := range slices.Compact(packages) {
			if !f.to.mayImport(pkg.Path()) || pkg.Name() == "main" || pkg.Path() == object.Pkg().Path() {
				continue
			}
			if found := aliasOf(pkg, object); found != nil {
				return found
			}
		}
		return nil
	}
}

func aliasOf(pkg *types.Package, object *types.TypeName) *types.TypeName {
	for _, name := range pkg.Scope().Names() {
		candidate, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !candidate.IsAlias() || !token.IsExported(name) {
			continue
		}
		if n, ok := types.Unalias(candidate.Type()).(*types.Named); ok && n.Obj() == object {
			return candidate
		}
	}
	return nil
}
