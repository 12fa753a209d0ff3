package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// inspectNow visits the nodes of a function's body that run as part of it: not those of function literals, which run
// whenever somebody calls them, unless that happens on the spot; nor what is deferred or started with go. The visitor
// says whether to go on into a node.
func inspectNow(body ast.Node, visit func(ast.Node) bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case nil:
			return false
		case *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if !visit(n) {
				return false
			}
			if lit, ok := ast.Unparen(n.Fun).(*ast.FuncLit); ok {
				inspectNow(lit.Body, visit)
			}
			return true
		}
		return visit(n)
	})
}

// within reports whether a position lies in a node.
func within(pos token.Pos, node ast.Node) bool { return node.Pos() <= pos && pos < node.End() }

// errorTest says what a condition asks of an error: "err != nil" (token.NEQ) or "err == nil" (token.EQL), and nothing
// besides.
func errorTest(info *types.Info, cond ast.Expr) (err *types.Var, op token.Token) {
	binary, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok || binary.Op != token.NEQ && binary.Op != token.EQL {
		return nil, token.ILLEGAL
	}
	for _, side := range [][2]ast.Expr{{binary.X, binary.Y}, {binary.Y, binary.X}} {
		v := variable(info, side[0])
		if v != nil && shape.IsError(v.Type()) && info.Types[side[1]].IsNil() {
			return v, binary.Op
		}
	}
	return nil, token.ILLEGAL
}
