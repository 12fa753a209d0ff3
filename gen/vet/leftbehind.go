package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// leftBehind knows what attempts that run one after the other leave in variables of their surroundings.
type leftBehind struct {
	info *types.Info
	defs *definitions
	g    *guarded
}

// overwritten reports whether a variable takes a result of the guarded call itself, whatever the function left there.
func (l *leftBehind) overwritten(v *types.Var) bool {
	assign, ok := l.g.cursor.Parent().Node().(*ast.AssignStmt)
	if !ok {
		return false
	}
	for _, target := range assign.Lhs {
		if variable(l.info, target) == v {
			return true
		}
	}
	return false
}

// begins reports whether an assignment sets a variable at each attempt, to what does not come of the attempt's work: the
// number of the attempt, or the time.
func (l *leftBehind) begins(assign *ast.AssignStmt, i int) bool {
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != len(assign.Rhs) || !l.given(assign.Rhs[i], 0) {
		return false
	}
	for _, stmt := range l.g.fn.body.List {
		if stmt == assign {
			return true
		}
		if !surely(l.info, stmt, func(ast.Node) bool { return true }) {
			return false
		}
	}
	return false
}

// given reports whether a value is none of what an attempt has brought about.
func (l *leftBehind) given(e ast.Expr, depth int) bool {
	given := depth < 5
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			v, ok := l.info.Uses[n].(*types.Var)
			given = given && (!ok || v.IsField() || l.steady(v, depth))
		case *ast.CallExpr:
			sig, ok := l.info.TypeOf(n.Fun).Underlying().(*types.Signature)
			given = given && (!ok || !canFail(sig))
		case *ast.UnaryExpr:
			given = given && n.Op != token.ARROW
		case *ast.FuncLit:
			given = false
		}
		return given
	})
	return given
}

// steady reports whether a variable is the same at each attempt, or is given to it.
func (l *leftBehind) steady(v *types.Var, depth int) bool {
	if v == l.g.fn.param(l.info) {
		return true
	}
	if !within(v.Pos(), l.g.fn.lit) {
		for _, value := range l.defs.values[v] {
			if value.expr != nil && within(value.expr.Pos(), l.g.fn.lit) {
				return false
			}
		}
		return true
	}
	only, ok := l.defs.only(v)
	return ok && !only.many && l.given(only.expr, depth+1)
}

func canFail(sig *types.Signature) bool {
	for result := range sig.Results().Variables() {
		if shape.IsError(result.Type()) {
			return true
		}
	}
	return false
}

// kept reports whether an assignment depends on what the variable is: if token == "" { token, err = … }.
func (l *leftBehind) kept(assign *ast.AssignStmt, v *types.Var) bool {
	for _, n := range enclosing(l.g.fn.body, assign) {
		test, ok := n.(*ast.IfStmt)
		if ok && within(assign.Pos(), test.Body) && mentions(l.info, test.Cond, v) {
			return true
		}
	}
	return false
}

func mentions(info *types.Info, e ast.Expr, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && info.Uses[id] == v
		return !found
	})
	return found
}

// last reports whether the function surely succeeds once an assignment has been made: an attempt that fails does not get
// there.
func (l *leftBehind) last(assign *ast.AssignStmt) bool {
	path := enclosing(l.g.fn.body, assign)
	for i := len(path) - 2; i >= 0; i-- {
		if _, inner := path[i].(*ast.FuncLit); inner {
			return false
		}
		rest, ends := following(path[i], path[i+1])
		for _, n := range rest {
			if l.mayFail(n) {
				return false
			}
		}
		if ends {
			return true
		}
	}
	return true
}

// enclosing returns the nodes that a node lies in, from the outermost to itself.
func enclosing(root, n ast.Node) (path []ast.Node) {
	ast.Inspect(root, func(at ast.Node) bool {
		if at == nil || at.Pos() > n.Pos() || at.End() < n.End() {
			return false
		}
		path = append(path, at)
		return at != n
	})
	return path
}

// following returns what may run after a part of a node, within that node; ends, if nothing runs after the node.
func following(n, part ast.Node) (rest []ast.Node, ends bool) {
	list := func(stmts []ast.Stmt) {
		for _, stmt := range stmts {
			if stmt.Pos() > part.Pos() {
				rest = append(rest, stmt)
			}
		}
		ends = endsWith(stmts, token.RETURN)
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		list(n.List)
	case *ast.CaseClause:
		list(n.Body)
	case *ast.CommClause:
		list(n.Body)
	case *ast.ForStmt, *ast.RangeStmt: // another round
		rest = append(rest, n)
	case *ast.IfStmt:
		if part == n.Init {
			rest = append(rest, n.Body)
			if n.Else != nil {
				rest = append(rest, n.Else)
			}
		}
	case *ast.SwitchStmt:
		if part == n.Init {
			rest = append(rest, n.Body)
		}
	case *ast.TypeSwitchStmt:
		if part == n.Init {
			rest = append(rest, n.Body)
		}
	case *ast.LabeledStmt: // what jumps there is not looked for
		rest = append(rest, n)
	}
	return rest, ends
}

// mayFail reports whether the function may return an error out of a node.
func (l *leftBehind) mayFail(n ast.Node) bool {
	fails := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			fails = fails || len(n.Results) == 0 || !l.info.Types[n.Results[len(n.Results)-1]].IsNil()
		case *ast.FuncLit:
			return false
		}
		return !fails
	})
	return fails
}
