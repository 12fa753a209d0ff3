package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// handling knows the places of a function where an error is being handled, which may be that the context has ended.
type handling struct {
	info *types.Info
	defs *definitions
}

// error reports whether a condition holds only where there is an error: err != nil, err == ErrGone, or what errors.Is, As
// and AsType say, alone or with more that must hold too.
func (h *handling) error(cond ast.Expr) bool {
	switch cond := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		switch cond.Op {
		case token.LAND:
			return h.error(cond.X) || h.error(cond.Y)
		case token.LOR:
			return h.error(cond.X) && h.error(cond.Y)
		case token.EQL:
			return h.isSentinel(cond.X, cond.Y) || h.isSentinel(cond.Y, cond.X)
		}
		_, test := errorTest(h.info, cond)
		return test == token.NEQ
	case *ast.CallExpr:
		return isFunc(callee(h.info, cond), "errors", "Is", "As")
	case *ast.Ident: // found := errors.Is(…); stuck, ok := errors.AsType[*Stuck](err)
		return h.kept(variable(h.info, cond))
	}
	return false
}

func (h *handling) isSentinel(err, sentinel ast.Expr) bool {
	v := variable(h.info, err)
	return v != nil && shape.IsError(v.Type()) && !h.info.Types[sentinel].IsNil()
}

func (h *handling) kept(v *types.Var) bool {
	only, _ := h.defs.only(v)
	if only.expr == nil {
		return false
	}
	call, ok := ast.Unparen(only.expr).(*ast.CallExpr)
	return ok && isFunc(callee(h.info, call), "errors", "Is", "As", "AsType")
}

// inspect visits what runs as part of a node (inspectNow), without the handling of errors.
func (h *handling) inspect(n ast.Node, visit func(ast.Node) bool) {
	inspectNow(n, func(inner ast.Node) bool {
		parts, split := h.split(inner)
		for _, part := range parts {
			h.inspect(part, visit)
		}
		return !split && visit(inner)
	})
}

// split returns the parts of a statement that handle no error, if others of it do.
func (h *handling) split(n ast.Node) (parts []ast.Node, split bool) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return h.splitIf(n)
	case *ast.CaseClause:
		for _, cond := range n.List {
			if !h.error(cond) {
				return nil, false
			}
			parts = append(parts, cond)
		}
		return parts, len(n.List) > 0
	case *ast.BlockStmt:
		for _, stmt := range n.List {
			parts = append(parts, stmt)
			if h.endsWell(stmt) {
				return parts, true
			}
		}
	}
	return nil, false
}

func (h *handling) splitIf(n *ast.IfStmt) (parts []ast.Node, split bool) {
	_, test := errorTest(h.info, n.Cond)
	fails := h.error(n.Cond)
	if !fails && (test != token.EQL || n.Else == nil) {
		return nil, false
	}
	if n.Init != nil {
		parts = append(parts, n.Init)
	}
	parts = append(parts, n.Cond)
	switch {
	case !fails:
		parts = append(parts, n.Body)
	case n.Else != nil:
		parts = append(parts, n.Else)
	}
	return parts, true
}

// endsWell recognises if err == nil { return nil }: what follows handles the error.
func (h *handling) endsWell(stmt ast.Stmt) bool {
	test, ok := stmt.(*ast.IfStmt)
	if !ok || test.Else != nil || !endsWith(test.Body.List, token.RETURN) {
		return false
	}
	_, op := errorTest(h.info, test.Cond)
	return op == token.EQL
}
