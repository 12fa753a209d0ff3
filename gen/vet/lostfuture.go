package vet

import (
	"go/ast"
	"go/types"
	"iter"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// lostFuture reports futures that nobody can wait for. One that is passed on, stored, returned or looked at in any way is
// somebody else's; one that is awaited on some ways through a function and not on others may be meant so. Tests start calls
// that nobody waits for on purpose, to see what becomes of them.
var lostFuture = &analysis.Analyzer{
	Name: "lostfuture",
	Doc: `report futures that are neither awaited nor cancelled

Nobody learns how such a call ended, and nothing ends it early.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
		const advice = "the future is neither awaited nor cancelled: nobody learns how the call ends; Await it, or defer its Cancel"
		for node := range in.PreorderSeq((*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil), (*ast.AssignStmt)(nil),
			(*ast.ValueSpec)(nil)) {
			for name, call := range futures(pass.TypesInfo, node) {
				if inTest(pass, call) {
					continue
				}
				if name == nil || name.Name() == "_" || onlyBlank(pass, in.Root(), name) {
					pass.ReportRangef(call, advice)
				}
			}
		}
		return nil, nil
	},
}

// futures yields the calls of a statement that return a future, each with the local variable that takes it; nil if none
// does.
func futures(info *types.Info, node ast.Node) iter.Seq2[*types.Var, *ast.CallExpr] {
	return func(yield func(*types.Var, *ast.CallExpr) bool) {
		if call, ok := alone(node); ok {
			if call != nil && shape.IsFuture(info.TypeOf(call)) {
				yield(nil, call)
			}
			return
		}
		for target, value := range assigned(node) {
			call := value.call()
			if call == nil || !shape.IsFuture(info.TypeOf(call)) {
				continue
			}
			v := variable(info, target)
			if stored := v == nil || v.Parent() != nil && v.Parent() == v.Pkg().Scope(); stored && !isBlank(target) {
				continue
			}
			if !yield(v, call) {
				return
			}
		}
	}
}

// alone returns the call that a statement makes without taking its results; ok is false for statements of other kinds.
func alone(node ast.Node) (call *ast.CallExpr, ok bool) {
	switch stmt := node.(type) {
	case *ast.ExprStmt:
		call, _ = ast.Unparen(stmt.X).(*ast.CallExpr)
		return call, true
	case *ast.GoStmt:
		return stmt.Call, true
	case *ast.DeferStmt:
		return stmt.Call, true
	}
	return nil, false
}

// onlyBlank reports whether all that is done with a variable is to assign it, and to assign it to _.
func onlyBlank(pass *analysis.Pass, root inspector.Cursor, v *types.Var) bool {
	for cursor := range root.Preorder((*ast.Ident)(nil)) {
		if pass.TypesInfo.Uses[cursor.Node().(*ast.Ident)] != v {
			continue
		}
		assign, ok := cursor.Parent().Node().(*ast.AssignStmt)
		if !ok {
			return false
		}
		for i, value := range assign.Rhs {
			if value == cursor.Node() && (len(assign.Lhs) != len(assign.Rhs) || !isBlank(assign.Lhs[i])) {
				return false
			}
		}
	}
	return true
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}
