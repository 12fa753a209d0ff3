package vet

import (
	"go/ast"
	"go/token"
	"go/types"
)

// inspectSurely visits what a function does whenever it is called and nothing goes wrong on the way: what stands in a
// branch or behind a return that has nothing to do with an error may not happen.
func inspectSurely(info *types.Info, body *ast.BlockStmt, visit func(ast.Node) bool) {
	for _, stmt := range body.List {
		if !surely(info, stmt, visit) {
			return
		}
	}
}

// surely visits one statement; it reports whether the next one is surely reached too.
func surely(info *types.Info, stmt ast.Stmt, visit func(ast.Node) bool) (goesOn bool) {
	look := func(nodes ...ast.Node) {
		for _, n := range nodes {
			inspectStraight(n, visit)
		}
	}
	switch s := stmt.(type) {
	case *ast.IfStmt:
		if s.Init != nil {
			look(s.Init)
		}
		look(s.Cond)
		_, test := errorTest(info, s.Cond)
		return test == token.NEQ && s.Else == nil || !leaves(s)
	case *ast.BlockStmt:
		for _, inner := range s.List {
			if !surely(info, inner, visit) {
				return false
			}
		}
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return !leaves(s)
	case *ast.LabeledStmt, *ast.BranchStmt:
		return false
	case *ast.ReturnStmt:
		look(s)
		return false
	default:
		look(s)
	}
	return true
}

// inspectStraight is inspectNow without the right sides of && and ||.
func inspectStraight(n ast.Node, visit func(ast.Node) bool) {
	inspectNow(n, func(n ast.Node) bool {
		if binary, ok := n.(*ast.BinaryExpr); ok && (binary.Op == token.LAND || binary.Op == token.LOR) {
			inspectStraight(binary.X, visit)
			return false
		}
		return visit(n)
	})
}

// leaves reports whether a statement may leave the function or jump.
func leaves(stmt ast.Stmt) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}
