package vet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// The library is known by its names only; importing it would tie the analyzers to one version.
const (
	libraryPath = shape.Library
	nestingPath = "github.com/seed42274fcc/stoic/nesting"
)

// callee returns the function or method that a call names, a generic one without its type arguments; nil for calls of
// function values, conversions and builtins.
func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	if fn, ok := typeutil.Callee(info, call).(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}

// isFunc reports whether fn is a function (not a method) of a package with one of the names.
func isFunc(fn *types.Func, pkg string, names ...string) bool {
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != pkg || fn.Signature().Recv() != nil {
		return false
	}
	for _, name := range names {
		if fn.Name() == name {
			return true
		}
	}
	return false
}

// isMethod reports whether fn is the named method of a type of a package.
func isMethod(fn *types.Func, pkg, receiver, name string) bool {
	return fn != nil && fn.Name() == name && fn.Signature().Recv() != nil &&
		shape.Named(deref(fn.Signature().Recv().Type()), pkg, receiver)
}

func deref(t types.Type) types.Type {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		return pointer.Elem()
	}
	return t
}

// returnsError reports whether a signature's last result is an error.
func returnsError(sig *types.Signature) bool {
	n := sig.Results().Len()
	return n > 0 && shape.IsError(sig.Results().At(n-1).Type())
}

// variable returns the variable that an expression names; nil if it is anything but a name.
func variable(info *types.Info, e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := info.ObjectOf(id).(*types.Var)
	return v
}

// inTest reports whether a node is in a test file.
func inTest(pass *analysis.Pass, n ast.Node) bool {
	return strings.HasSuffix(pass.Fset.File(n.Pos()).Name(), "_test.go")
}
