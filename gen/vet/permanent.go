package vet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// markPermanent finds the calls whose error goes into Permanent: in place, or by way of a variable.
func (w *writing) markPermanent(root inspector.Cursor) {
	info := w.pass.TypesInfo
	for cursor := range root.Preorder((*ast.CallExpr)(nil)) {
		permanent := cursor.Node().(*ast.CallExpr)
		if !isFunc(callee(info, permanent), libraryPath, "Permanent") {
			continue
		}
		for c := range cursor.Preorder((*ast.CallExpr)(nil), (*ast.Ident)(nil)) {
			switch n := c.Node().(type) {
			case *ast.CallExpr:
				w.once[n] = true
			case *ast.Ident:
				w.markAssigned(variable(info, n))
			}
		}
	}
}

func (w *writing) markAssigned(v *types.Var) {
	for _, value := range w.defs.values[v] {
		if value.expr == nil {
			continue
		}
		if call, ok := ast.Unparen(value.expr).(*ast.CallExpr); ok {
			w.once[call] = true
		}
	}
}

// asksAttempt reports whether a function looks at the number of its attempt.
func asksAttempt(info *types.Info, body *ast.BlockStmt) bool {
	asks := false
	inspectNow(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			asks = asks || isFunc(callee(info, call), libraryPath, "Attempt")
		}
		return !asks
	})
	return asks
}
