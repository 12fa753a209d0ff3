package vet

import (
	"go/ast"
	"go/token"
	"iter"
)

// value is what a variable is given.
type value struct {
	expr ast.Expr // nil: not known, such as an element of a range, or the zero value
	many bool     // expr is a call with several results, of which this is one
}

// call returns the call that is all of the value, nil if it is anything else.
func (v value) call() *ast.CallExpr {
	if v.expr == nil || v.many {
		return nil
	}
	call, _ := ast.Unparen(v.expr).(*ast.CallExpr)
	return call
}

// assigned yields what an assignment or a declaration gives values to, and the values.
func assigned(node ast.Node) iter.Seq2[ast.Expr, value] {
	var targets, values []ast.Expr
	switch n := node.(type) {
	case *ast.AssignStmt:
		targets = n.Lhs
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			values = n.Rhs
		}
	case *ast.ValueSpec:
		for _, name := range n.Names {
			targets = append(targets, name)
		}
		values = n.Values
	}
	return func(yield func(ast.Expr, value) bool) {
		for i, target := range targets {
			v := value{}
			switch len(values) {
			case len(targets):
				v.expr = values[i]
			case 1:
				v = value{expr: values[0], many: true}
			}
			if !yield(target, v) {
				return
			}
		}
	}
}
