package vet

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

// idempotentOp looks at functions that are one method of a service, as a method value or forwarded by a literal; what
// else a function does is for retriedWrite. It does not see methods called on a concrete type, nor ops that come from
// elsewhere.
var idempotentOp = &analysis.Analyzer{
	Name: "idempotentop",
	Doc: `report idempotent ops round methods that are not annotated idempotent

An op made with Idempotent is retried. When the guarded function is a method of an interface with //resilient:service
that has no //resilient:idempotent, one of the two is wrong.`,
	Requires: []*analysis.Analyzer{calls, services, defs},
	Run: func(pass *analysis.Pass) (any, error) {
		known := pass.ResultOf[services].(map[types.Object]*service)
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			w := writerCalled(pass.TypesInfo, pass.ResultOf[defs].(*definitions), known, forwards(g.fn))
			if g.op != opIdempotent || w.Method == "" {
				continue
			}
			pass.Report(analysis.Diagnostic{
				Pos: g.fn.expr.Pos(), End: g.fn.expr.End(),
				Message: fmt.Sprintf("%s is not annotated idempotent, and this op says that it may be repeated: use NonIdempotent%s",
					w.Method, w.Way.instead()),
				SuggestedFixes: madeOnce(g),
			})
		}
		return nil, nil
	},
}

// forwards returns the method that a function is, or calls as the only thing that it does.
func forwards(f function) ast.Expr {
	if f.sel != nil {
		return f.sel
	}
	if f.lit == nil || len(f.body.List) != 1 {
		return f.expr
	}
	if ret, ok := f.body.List[0].(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
		if call, ok := ast.Unparen(ret.Results[0]).(*ast.CallExpr); ok {
			return call.Fun
		}
	}
	return f.expr
}

// madeOnce is the fix that makes an op which is written at the call a NonIdempotent one.
func madeOnce(g *guarded) []analysis.SuggestedFix {
	if !within(g.opCall.Pos(), g.call) {
		return nil // the op may be that of other calls too
	}
	var name *ast.Ident
	switch fun := ast.Unparen(g.opCall.Fun).(type) {
	case *ast.SelectorExpr:
		name = fun.Sel
	case *ast.Ident:
		name = fun
	default:
		return nil
	}
	return []analysis.SuggestedFix{{
		Message:   "use NonIdempotent",
		TextEdits: []analysis.TextEdit{{Pos: name.Pos(), End: name.End(), NewText: []byte("NonIdempotent")}},
	}}
}
