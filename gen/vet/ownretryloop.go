package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// ownRetryLoop believes that a loop retries only if a failure goes round again and a success leaves it, and if every round
// makes the same call: nothing in it comes from the loop but a context. A loop that waits for a circuit to close, that
// asks more of the result than an error, or that works through a list is none. It knows Execute and Do, and what Wrap or a
// generated constructor has put into a local variable; not wrappers in fields.
var ownRetryLoop = &analysis.Analyzer{
	Name: "ownretryloop",
	Doc: `report guarded calls in a retry loop of one's own

The guard retries already: the attempts multiply, and the loop goes on against an open circuit. A call that must not be
repeated is repeated all the same.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, calls, defs, services},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, g := range slices.Concat(pass.ResultOf[calls].([]*guarded), throughWrappers(pass)) {
			if g.wraps() || g.entry == "Async" {
				continue
			}
			loop := loopAround(g.cursor)
			if loop == nil || !retries(pass.TypesInfo, loop, g.call) || varies(pass.TypesInfo, loop, g) || knowsRejection(pass.TypesInfo, loop.Node()) {
				continue
			}
			if g.op == opNonIdempotent {
				pass.ReportRangef(g.call, "this call is repeated by the loop around it, and its op says that it must not be: "+
					"make the op Idempotent, and leave the retrying to the guard")
				continue
			}
			pass.ReportRangef(g.call, "this guarded call stands in a retry loop: the guard retries by itself, and its attempts multiply "+
				"with the loop's; set the policy's attempts instead")
		}
		return nil, nil
	},
}

// loopAround returns the innermost loop that a call stands in, within its function.
func loopAround(call inspector.Cursor) *inspector.Cursor {
	for c := range call.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		switch c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return &c
		default:
			return nil
		}
	}
	return nil
}

func loopBody(loop ast.Node) *ast.BlockStmt {
	if loop, ok := loop.(*ast.ForStmt); ok {
		return loop.Body
	}
	return loop.(*ast.RangeStmt).Body
}

// retries reports whether a loop goes round after an error of the call, and not after a success.
func retries(info *types.Info, loop *inspector.Cursor, call *ast.CallExpr) bool {
	list := loopBody(loop.Node()).List
	i := slices.IndexFunc(list, func(stmt ast.Stmt) bool { return within(call.Pos(), stmt) })
	if i < 0 {
		return false
	}
	if test, ok := list[i].(*ast.IfStmt); ok { // if err := …; err != nil
		return test.Init != nil && turnsOn(info, test, errorOf(info, test.Init, call), list[i+1:])
	}
	err := errorOf(info, list[i], call)
	if loop, ok := loop.Node().(*ast.ForStmt); ok && loop.Cond != nil && i == len(list)-1 { // for err != nil
		return err != nil && goesOnWith(info, loop.Cond, err)
	}
	for i++; i < len(list) && isCall(list[i]); i++ { // cancel(), a line in the log
	}
	if i == len(list) {
		return false
	}
	test, ok := list[i].(*ast.IfStmt)
	return ok && test.Init == nil && turnsOn(info, test, err, list[i+1:])
}

// goesOnWith reports whether a loop's condition holds only as long as there is an error.
func goesOnWith(info *types.Info, cond ast.Expr, err *types.Var) bool {
	if both, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && both.Op == token.LAND {
		return goesOnWith(info, both.X, err) || goesOnWith(info, both.Y, err)
	}
	tested, op := errorTest(info, cond)
	return op == token.NEQ && tested == err
}

func isCall(stmt ast.Stmt) bool {
	_, ok := stmt.(*ast.ExprStmt)
	return ok
}

// errorOf returns the variable that takes the call's error.
func errorOf(info *types.Info, stmt ast.Stmt, call *ast.CallExpr) *types.Var {
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 || ast.Unparen(assign.Rhs[0]) != call {
		return nil
	}
	return variable(info, assign.Lhs[len(assign.Lhs)-1])
}

// turnsOn reports whether a test is one of that error and leaves the loop on success only, given what follows in the loop.
func turnsOn(info *types.Info, test *ast.IfStmt, err *types.Var, rest []ast.Stmt) bool {
	tested, op := errorTest(info, test.Cond)
	if err == nil || tested != err {
		return false
	}
	failed, succeeded := []ast.Stmt(nil), test.Body.List
	if op == token.NEQ {
		failed, succeeded = succeeded, nil
	}
	if test.Else != nil {
		other, ok := test.Else.(*ast.BlockStmt)
		if !ok {
			return false
		}
		if op == token.NEQ {
			succeeded = other.List
		} else {
			failed = other.List
		}
	}
	if !endsRound(failed) {
		failed = append(failed[:len(failed):len(failed)], rest...)
	}
	if !endsRound(succeeded) {
		succeeded = append(succeeded[:len(succeeded):len(succeeded)], rest...)
	}
	return leavesLoop(succeeded) && !leavesLoop(failed)
}

// endsRound reports whether a list of statements does not run on into what follows.
func endsRound(list []ast.Stmt) bool { return leavesLoop(list) || endsWith(list, token.CONTINUE) }

// leavesLoop reports whether a list of statements ends with leaving the loop.
func leavesLoop(list []ast.Stmt) bool {
	return endsWith(list, token.BREAK) || endsWith(list, token.RETURN)
}

// endsWith reports whether the last of a list of statements is a return, or a branch of that kind.
func endsWith(list []ast.Stmt, tok token.Token) bool {
	if len(list) == 0 {
		return false
	}
	switch last := list[len(list)-1].(type) {
	case *ast.ReturnStmt:
		return tok == token.RETURN
	case *ast.BranchStmt:
		return last.Tok == tok
	}
	return false
}

// varies reports whether the call depends on anything that the loop declares or changes, contexts aside.
func varies(info *types.Info, loop *inspector.Cursor, g *guarded) bool {
	changed := changedBy(info, loop, g)
	varies := false
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return !varies
			}
			v, ok := info.Uses[id].(*types.Var)
			if ok && !v.IsField() && !shape.IsContext(v.Type()) && !within(v.Pos(), g.call) {
				varies = varies || changed[v] || within(v.Pos(), loop.Node())
			}
			return !varies
		})
	}
	look(g.call)
	if g.fn.lit != nil && !within(g.fn.lit.Pos(), g.call) {
		look(g.fn.lit.Body)
	}
	return varies
}

// changedBy returns the variables that a loop assigns or reaches into, or whose methods it calls, beside the guarded call.
// The receiver of the method that the loop stands in is not taken to change when its methods are called.
func changedBy(info *types.Info, loop *inspector.Cursor, g *guarded) map[types.Object]bool {
	changed := map[types.Object]bool{}
	for c := range loop.Preorder((*ast.AssignStmt)(nil), (*ast.IncDecStmt)(nil), (*ast.UnaryExpr)(nil), (*ast.CallExpr)(nil)) {
		if within(c.Node().Pos(), g.call) {
			continue // what it does inside
		}
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			if len(n.Rhs) == 1 && ast.Unparen(n.Rhs[0]) == g.call {
				continue // its results
			}
			for _, target := range n.Lhs {
				changed[rootOf(info, target)] = true
			}
		case *ast.IncDecStmt:
			changed[rootOf(info, n.X)] = true
		case *ast.UnaryExpr:
			if n.Op == token.AND || n.Op == token.ARROW {
				changed[rootOf(info, n.X)] = true
			}
		case *ast.CallExpr:
			changed[receiverOf(info, n)] = true
		}
	}
	return changed
}

// receiverOf returns the variable whose method a call is, if that may change it.
func receiverOf(info *types.Info, call *ast.CallExpr) types.Object {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v := variable(info, sel.X)
	if v == nil || v.Kind() == types.RecvVar || shape.Named(deref(v.Type()), libraryPath, "Guard") {
		return nil
	}
	return v
}

// rootOf returns the variable that an assignment changes, or reaches into.
func rootOf(info *types.Info, e ast.Expr) types.Object {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.Ident:
			return info.ObjectOf(x)
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// knowsRejection reports whether a loop looks at how the circuit stands, and so may wait for it.
func knowsRejection(info *types.Info, loop ast.Node) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if obj := info.Uses[id]; obj != nil && (id.Name == "RejectedError" || id.Name == "RetryAfter" ||
				obj.Type() != nil && shape.Named(deref(obj.Type()), libraryPath, "RejectedError")) {
				found = true
			}
		}
		return !found
	})
	return found
}
