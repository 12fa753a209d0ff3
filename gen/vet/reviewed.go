package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// isReviewed reports whether a method without annotation is one on purpose. Those that are written in the interface, or in
// the one of this package that it is declared as, are. Those of an embedded one are when others of them are named in a
// list; a service of protobuf says it in a place that we do not see.
func (r *serviceReader) isReviewed(obj types.Object, method *types.Func) bool {
	if r.isWritten(obj, method.Name()) {
		return true
	}
	t := r.own[obj]
	for _, line := range t.Lines {
		if directive.Find(line.Directives, directive.Inherit) != nil {
			return false
		}
	}
	return t.Has(directive.Idempotent) && !t.Has(directive.Inherit) && !r.isRemoteProcedure(method)
}

// isWritten reports whether a method stands in the interface that a type of this package comes to.
func (r *serviceReader) isWritten(obj types.Object, method string) bool {
	for range len(r.specs) {
		spec := r.specs[obj]
		if spec == nil {
			return false
		}
		if iface, ok := ast.Unparen(spec.Type).(*ast.InterfaceType); ok {
			return slices.ContainsFunc(iface.Methods.List, func(field *ast.Field) bool {
				return slices.ContainsFunc(field.Names, func(name *ast.Ident) bool { return name.Name == method })
			})
		}
		if obj = r.madeOf(obj); obj == nil {
			return false
		}
	}
	return false
}

// isRemoteProcedure recognises the methods of clients that a protobuf compiler's plugin has written, by their file.
func (r *serviceReader) isRemoteProcedure(method *types.Func) bool {
	file := r.pass.Fset.Position(method.Pos()).Filename
	return slices.ContainsFunc([]string{".pb.go", ".connect.go", ".twirp.go"}, func(suffix string) bool { return strings.HasSuffix(file, suffix) })
}
