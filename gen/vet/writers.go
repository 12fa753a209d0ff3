package vet

import (
	"go/ast"
	"go/types"
	"slices"
)

// writerCalled returns the name of the method, with its interface, when an expression names a method of a service
// interface that is guarded and not annotated idempotent; "" if it names anything else, or we are not sure.
func writerCalled(info *types.Info, known map[types.Object]*service, e ast.Expr) string {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name, s := serviceMethod(info, known, sel)
	if s == nil || !slices.Contains(s.Writers, sel.Sel.Name) {
		return ""
	}
	return name + "." + sel.Sel.Name
}

// serviceMethod returns the service interface that a selected method is called through, also by way of an embedded
// field.
func serviceMethod(info *types.Info, known map[types.Object]*service, sel *ast.SelectorExpr) (name string, s *service) {
	selection := info.Selections[sel]
	if selection == nil || selection.Kind() == types.FieldVal {
		return "", nil
	}
	through := selection.Recv()
	index := selection.Index()
	for _, i := range index[:len(index)-1] {
		structure, ok := deref(through).Underlying().(*types.Struct)
		if !ok {
			return "", nil
		}
		through = structure.Field(i).Type()
	}
	named, ok := types.Unalias(through).(*types.Named)
	if !ok {
		return "", nil
	}
	return named.Obj().Name(), serviceNamed(known, named)
}

// serviceNamed returns what is said about a type, be it an instance of a generic one; nil if it is no service.
func serviceNamed(known map[types.Object]*service, t types.Type) *service {
	if named, ok := types.Unalias(t).(*types.Named); ok {
		return known[named.Origin().Obj()]
	}
	return nil
}
