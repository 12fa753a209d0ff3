package vet

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// capturedWrite looks at function literals that may be run more than once, or beside their caller: under an idempotent
// op, in Async, and in the Wrap family. It does not see writes through pointers, into maps and slices, or from function
// literals inside; it lets pass counting with ++ and --, which counts attempts on purpose, what is reset at the beginning
// of the function, and functions that take a lock. In tests, where attempts are watched from inside, it says nothing.
//
// Execute and Do make their attempts one after the other on the caller's goroutine: nothing races there, and a finding is
// what a failed attempt leaves behind (leftbehind.go). What is set once nothing can fail any more, what each attempt sets
// anew to something that is given to it, such as its number, and what takes the call's own result, is none; nor are errors,
// which is what failed attempts have to leave, and what is set if it is not set yet, to be kept for the next attempt.
var capturedWrite = &analysis.Analyzer{
	Name: "capturedwrite",
	Doc: `report assignments to captured variables in guarded functions

A guarded function may be run several times, and one that is left behind by its caller goes on running. What it assigns
to a variable of its surroundings survives a failed attempt, is added to twice, or races. Return the value; several of
them in a struct.`,
	Requires: []*analysis.Analyzer{calls, defs},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			why := writtenTwice(g)
			if g.fn.lit == nil || why == "" || inTest(pass, g.call) || locks(pass.TypesInfo, g.fn.body) {
				continue
			}
			checkWrites(pass, g, why)
		}
		return nil, nil
	},
}

// writtenTwice says what happens to a captured variable; "" if nothing does, or we are not sure.
func writtenTwice(g *guarded) string {
	switch {
	case g.entry == "Async":
		return "the function may go on running after the future has ended"
	case g.wraps():
		return "calls of the wrapped function may overlap"
	case g.op == opIdempotent:
		return "the function may be run again, and what a failed attempt left stays"
	}
	return ""
}

func checkWrites(pass *analysis.Pass, g *guarded, why string) {
	reset := map[*types.Var]bool{}
	reported := map[*types.Var]bool{}
	l := &leftBehind{pass.TypesInfo, pass.ResultOf[defs].(*definitions), g}
	inOrder := !g.wraps() && g.entry != "Async"
	inspectNow(g.fn.body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || assign.Tok == token.DEFINE {
			return true
		}
		for i, target := range assign.Lhs {
			v := captured(pass.TypesInfo, g.fn.lit, target)
			switch {
			case v == nil || reported[v] || reset[v]:
			case resets(pass.TypesInfo, assign, i), inOrder && l.begins(assign, i):
				reset[v] = assign.Tok == token.ASSIGN
			case inOrder && (shape.IsError(v.Type()) || l.last(assign) || l.overwritten(v) || l.kept(assign, v)):
			default:
				reported[v] = true
				pass.ReportRangef(target, "%s is assigned in a guarded function: %s; return it, several values in a struct", v.Name(), why)
			}
		}
		return true
	})
}

// resets reports whether an assignment sets a variable back, or adds a constant to it, which is like ++.
func resets(info *types.Info, assign *ast.AssignStmt, i int) bool {
	if assign.Tok != token.ASSIGN {
		return isConstant(info, assign.Rhs[0])
	}
	return len(assign.Rhs) == len(assign.Lhs) && isZero(info, assign.Rhs[i])
}

// captured returns the variable of the surroundings that an assignment changes: it, or a field of it.
func captured(info *types.Info, lit *ast.FuncLit, target ast.Expr) *types.Var {
	target = ast.Unparen(target)
	for {
		sel, ok := target.(*ast.SelectorExpr)
		if !ok {
			break
		}
		if selection := info.Selections[sel]; selection == nil || selection.Indirect() {
			return nil // of another package, or through a pointer
		}
		target = ast.Unparen(sel.X)
	}
	v := variable(info, target)
	if v == nil || v.Name() == "_" || v.IsField() || within(v.Pos(), lit) || v.Parent() == v.Pkg().Scope() {
		return nil
	}
	return v
}

func isConstant(info *types.Info, e ast.Expr) bool { return info.Types[e].Value != nil }

// isZero reports whether an expression sets a variable back.
func isZero(info *types.Info, e ast.Expr) bool {
	if value := info.Types[e]; value.Value != nil || value.IsNil() {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr: // x[:0]
		return e.Low == nil && e.High != nil && isConstant(info, e.High)
	case *ast.CallExpr:
		id, ok := ast.Unparen(e.Fun).(*ast.Ident)
		if !ok {
			return false
		}
		builtin, ok := info.Uses[id].(*types.Builtin)
		return ok && (builtin.Name() == "make" || builtin.Name() == "new")
	}
	return false
}

// locks reports whether a function takes a lock, or anything that is called like one.
func locks(info *types.Info, body *ast.BlockStmt) bool {
	found := false
	inspectNow(body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if fn := callee(info, call); fn != nil && fn.Name() == "Lock" {
				found = true
			}
		}
		return !found
	})
	return found
}
