package vet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// rawService looks at services in local variables and parameters that are wrapped once, by a generated constructor, into
// another local variable: calls on the raw one that stand behind, where the wrapper can be named too. It does not see raw
// services in fields, nor those that are handed on; inside guarded functions the raw service is the right one.
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
		return nil, nil
	},
}

// wrapped yields the variables that a statement makes wrappers of.
func wrapped(pass *analysis.Pass, node ast.Node) func(yield func(raw, wrapper *types.Var) bool) {
	var targets, values []ast.Expr
	switch n := node.(type) {
	case *ast.AssignStmt:
		targets, values = n.Lhs, n.Rhs
	case *ast.ValueSpec:
		for _, name := range n.Names {
			targets = append(targets, name)
		}
		values = n.Values
	}
	return func(yield func(raw, wrapper *types.Var) bool) {
		if len(targets) != len(values) {
			return
		}
		for i, value := range values {
			call, ok := ast.Unparen(value).(*ast.CallExpr)
			if !ok || !isConstructor(callee(pass.TypesInfo, call)) {
				continue
			}
			raw, wrapper := local(pass, call.Args[0]), local(pass, targets[i])
			if raw != nil && wrapper != nil && raw != wrapper && !yield(raw, wrapper) {
				return
			}
		}
	}
}

// isConstructor recognises what resilientgen writes: func(next S, guards resilient.Guards) S.
func isConstructor(fn *types.Func) bool {
	if fn == nil || fn.Signature().Recv() != nil {
		return false
	}
	params, results := fn.Signature().Params(), fn.Signature().Results()
	return params.Len() == 2 && results.Len() == 1 && isNamed(params.At(1).Type(), libraryPath, "Guards") &&
		types.IsInterface(params.At(0).Type()) && types.Identical(params.At(0).Type(), results.At(0).Type())
}

func local(pass *analysis.Pass, e ast.Expr) *types.Var {
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
	wrapper, ok := types.Unalias(c.wrapper.Type()).(*types.Named)
	if !ok {
		return
	}
	s := known[wrapper.Origin().Obj()]
	if s == nil {
		return
	}
	// Behind the statement, in its block: there the wrapper is made for sure.
	for block := range c.from.Enclosing((*ast.BlockStmt)(nil)) {
		for cursor := range block.Preorder((*ast.CallExpr)(nil)) {
			call := cursor.Node().(*ast.CallExpr)
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || call.Pos() < c.from.Node().End() || variable(c.pass.TypesInfo, sel.X) != c.raw ||
				!slices.Contains(s.Guarded, sel.Sel.Name) || !c.inScope(call) || c.underGuard(cursor) {
				continue
			}
			c.pass.Report(analysis.Diagnostic{
				Pos: sel.Pos(), End: sel.End(),
				Message: c.raw.Name() + "." + sel.Sel.Name + " goes past the guard: the wrapper " + c.wrapper.Name() + " is in scope",
				SuggestedFixes: []analysis.SuggestedFix{{
					Message:   "call the wrapper",
					TextEdits: []analysis.TextEdit{{Pos: sel.X.Pos(), End: sel.X.End(), NewText: []byte(c.wrapper.Name())}},
				}},
			})
		}
		break
	}
}

func (c *rawCheck) inScope(at ast.Node) bool {
	_, obj := c.pass.Pkg.Scope().Innermost(at.Pos()).LookupParent(c.wrapper.Name(), at.Pos())
	return obj == c.wrapper
}

// underGuard reports whether a call stands in a guarded function.
func (c *rawCheck) underGuard(call inspector.Cursor) bool {
	for lit := range call.Enclosing((*ast.FuncLit)(nil)) {
		for _, g := range c.pass.ResultOf[calls].([]*guarded) {
			if g.fn.lit == lit.Node() {
				return true
			}
		}
	}
	return false
}
