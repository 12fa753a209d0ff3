package vet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// without returns a service whose writers are not marked.
func (s *service) without(marked map[*types.Func]bool, obj types.Object) *service {
	iface, ok := obj.Type().Underlying().(*types.Interface)
	if !ok || len(marked) == 0 {
		return s
	}
	left := *s
	left.Writers = slices.DeleteFunc(slices.Clone(s.Writers), func(name string) bool {
		method := methodOf(iface, name)
		return method != nil && marked[method.Origin()]
	})
	return &left
}

// markedIdempotent returns the methods that MarkIdempotent is given anywhere in the package. An interface that embeds
// the one they belong to has the same ones.
func markedIdempotent(pass *analysis.Pass) map[*types.Func]bool {
	marked := map[*types.Func]bool{}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				noteMarks(pass.TypesInfo, decl, marked)
			}
		}
	}
	return marked
}

func noteMarks(info *types.Info, decl *ast.GenDecl, marked map[*types.Func]bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isFunc(callee(info, call), libraryPath, "MarkIdempotent") {
			return true
		}
		for _, arg := range call.Args {
			if sel, ok := ast.Unparen(arg).(*ast.SelectorExpr); ok {
				if method, ok := info.Uses[sel.Sel].(*types.Func); ok {
					marked[method.Origin()] = true
				}
			}
		}
		return false
	})
}
