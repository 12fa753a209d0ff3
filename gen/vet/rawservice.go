package vet

import (
	"go/ast"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// rawService looks at services that are wrapped by a generated constructor: in local variables and parameters, wrapped once
// into another local variable, the calls on the raw one that stand behind, where the wrapper can be named too; in fields
// (rawfields.go), the calls through a field beside which the same struct keeps the wrapper. It does not see raw services
// that are handed on, nor what is mixed of the two; inside guarded functions the raw service is the right one.
var rawService = &analysis.Analyzer{
	Name: "rawservice",
	Doc: `report calls of a service beside its wrapper

A call that goes to the service itself, where the wrapper written by resilientgen is at hand, has no limit, no retry and
no circuit.`,
	Requires: []*analysis.Analyzer{inspect.Analyzer, calls, defs, services},
	Run: func(pass *analysis.Pass) (any, error) {
		root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
		for cursor := range root.Preorder((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil)) {
			for raw, wrapper := range wrapped(pass, cursor.Node()) {
				check := rawCheck{pass: pass, raw: raw, wrapper: wrapper, from: cursor}
				check.run()
			}
		}
		checkRawFields(pass, root)
		return nil, nil
	},
}

// wrapped yields the local variables that a statement makes wrappers of, and those that take the wrappers.
func wrapped(pass *analysis.Pass, node ast.Node) iter.Seq2[*types.Var, *types.Var] {
	return func(yield func(raw, wrapper *types.Var) bool) {
		for target, value := range assigned(node) {
			raw, wrapper := local(pass, wrappedIn(pass.TypesInfo, value.call())), local(pass, target)
			if raw != nil && wrapper != nil && raw != wrapper && !yield(raw, wrapper) {
				return
			}
		}
	}
}

// wrappedIn returns the service that a call makes a wrapper of; nil if it does nothing of the kind.
func wrappedIn(info *types.Info, call *ast.CallExpr) ast.Expr {
	if call == nil || !isConstructor(callee(info, call)) {
		return nil
	}
	return call.Args[0]
}

// isConstructor recognises what resilientgen writes: func(next S, guards resilient.Guards) S.
func isConstructor(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() != nil {
		return false
	}
	params, results := fn.Signature().Params(), fn.Signature().Results()
	return params.Len() == 2 && results.Len() == 1 && shape.Named(params.At(1).Type(), libraryPath, "Guards") &&
		types.IsInterface(params.At(0).Type()) && types.Identical(params.At(0).Type(), results.At(0).Type())
}

func local(pass *analysis.Pass, e ast.Expr) *types.Var {
	if e == nil {
		return nil
	}
	v := variable(pass.TypesInfo, e)
	if v == nil || v.Name() == "_" || v.Parent() == pass.Pkg.Scope() {
		return nil
	}
	return v
}

type rawCheck struct {
	pass         *analysis.Pass
	raw, wrapper *types.Var
	from         inspector.Cursor // where the wrapper is made
}

func (c *rawCheck) run() {
	d := c.pass.ResultOf[defs].(*definitions)
	known := c.pass.ResultOf[services].(map[types.Object]*service)
	limit := 1
	if c.raw.Kind() == types.ParamVar {
		limit = 0
	}
	if _, once := d.only(c.wrapper); !once || len(d.values[c.raw]) > limit {
		return // one of them may be something else by then
	}
	s := serviceNamed(known, c.wrapper.Type())
	if s == nil {
		return
	}
	// Behind the statement, in its block: there the wrapper is made for sure.
	for block := range c.from.Enclosing((*ast.BlockStmt)(nil)) {
		for cursor := range block.Preorder((*ast.CallExpr)(nil)) {
			call := cursor.Node().(*ast.CallExpr)
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || call.Pos() < c.from.Node().End() || variable(c.pass.TypesInfo, sel.X) != c.raw ||
				!slices.Contains(s.Guarded, sel.Sel.Name) || !c.inScope(call) || underGuard(c.pass, cursor) {
				continue
			}
			reportRaw(c.pass, sel, sel.X, c.wrapper.Name())
		}
		break
	}
}

func (c *rawCheck) inScope(at ast.Node) bool {
	_, obj := c.pass.Pkg.Scope().Innermost(at.Pos()).LookupParent(c.wrapper.Name(), at.Pos())
	return obj == c.wrapper
}

// underGuard reports whether a call stands in a guarded function.
func underGuard(pass *analysis.Pass, call inspector.Cursor) bool {
	for lit := range call.Enclosing((*ast.FuncLit)(nil)) {
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			if g.fn.lit == lit.Node() {
				return true
			}
		}
	}
	return false
}

// reportRaw reports a method that is called through raw; the fix puts the wrapper's name in its place.
func reportRaw(pass *analysis.Pass, method *ast.SelectorExpr, raw ast.Node, wrapper string) {
	pass.Report(analysis.Diagnostic{
		Pos: method.Pos(), End: method.End(),
		Message: types.ExprString(method) + " goes past the guard: the wrapper " + wrapper + " is in scope",
		SuggestedFixes: []analysis.SuggestedFix{{
			Message:   "call the wrapper",
			TextEdits: []analysis.TextEdit{{Pos: raw.Pos(), End: raw.End(), NewText: []byte(wrapper)}},
		}},
	})
}
