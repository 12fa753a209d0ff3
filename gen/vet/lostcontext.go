package vet

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// lostContext reports a foreign context only where it is passed to work that can fail: to a function that returns an
// error, or to another guarded call; requests that are made without one (requests.go), and calls of what would take one
// under another name (siblings.go). It lets pass what is deferred or started with go, or stands in the handling of an
// error, since cleaning up needs a context that has not ended; what was detached by name; calls that are given the right
// context too; and contexts in fields and package variables. It does not look into function literals inside.
var lostContext = &analysis.Analyzer{
	Name: "lostcontext",
	Doc: `report guarded functions that do not use the context they are given

The context of a guarded function carries the time limits of the call and the scope by which a guarded call inside knows
that it is not to retry. With context.Background(), or the context of the surroundings, the limits do not reach the work,
and retries multiply; nor do the limits reach what takes no context, such as http.Get. What is to outlive the call takes
context.WithoutCancel of the function's own context.`,
	Requires: []*analysis.Analyzer{calls, defs},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			if g.fn.body != nil && len(g.fn.typ.Params.List) > 0 {
				c := &contextCheck{pass: pass, defs: pass.ResultOf[defs].(*definitions), g: g, param: g.fn.param(pass.TypesInfo)}
				c.run()
			}
		}
		return nil, nil
	},
}

type contextCheck struct {
	pass  *analysis.Pass
	defs  *definitions
	g     *guarded
	param *types.Var // nil if it has no name; it may be _
	done  map[ast.Expr]bool
}

func (c *contextCheck) run() {
	c.done = map[ast.Expr]bool{}
	h := &handling{c.pass.TypesInfo, c.defs}
	h.inspect(c.g.fn.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			c.call(call)
		}
		return true
	})
}

// call looks at the contexts that a call is given.
func (c *contextCheck) call(call *ast.CallExpr) {
	info := c.pass.TypesInfo
	if c.sendsWithout(call) {
		c.report(call, types.ExprString(call.Fun)+" makes a request without", "the guard's time limits do not reach it")
		return
	}
	if at, does := c.worksWithout(call); at != nil {
		c.report(at, types.ExprString(at.Fun)+" "+does+" without", "the guard's time limits do not reach it")
		return
	}
	sig, ok := info.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok || !c.matters(callee(info, call), sig) {
		return
	}
	var foreign []ast.Expr
	for _, arg := range call.Args {
		if !shape.IsContext(info.TypeOf(arg)) {
			continue
		}
		root := c.foreign(arg)
		if root == nil {
			return // it has the right one, or one that we do not understand
		}
		foreign = append(foreign, root)
	}
	for _, root := range foreign {
		c.foreignTo(callee(info, call), root)
	}
}

// matters reports whether a function does work under its context that can fail.
func (c *contextCheck) matters(fn *types.Func, sig *types.Signature) bool {
	return returnsError(sig) && !isFunc(fn, "context", "Cause") || isFunc(fn, libraryPath, "Async")
}

// foreign returns the expression where a context comes from that has nothing to do with the one that the function was
// given; nil if it has, or if we are not sure.
func (c *contextCheck) foreign(e ast.Expr) ast.Expr {
	info := c.pass.TypesInfo
	e = ast.Unparen(e)
	switch x := e.(type) {
	case *ast.Ident:
		v, ok := info.Uses[x].(*types.Var)
		if !ok || v == c.param {
			return nil
		}
		if c.outer(v) {
			return e
		}
		if only, ok := c.defs.only(v); ok && within(v.Pos(), c.g.fn.body) {
			return c.foreign(only.expr)
		}
	case *ast.CallExpr:
		return c.foreignCall(x)
	}
	return nil
}

// foreignCall is foreign for what a call returns.
func (c *contextCheck) foreignCall(call *ast.CallExpr) ast.Expr {
	info := c.pass.TypesInfo
	fn := callee(info, call)
	switch {
	case isFunc(fn, "context", "Background", "TODO"):
		return call
	case isFunc(fn, "context", "WithCancel", "WithCancelCause", "WithTimeout", "WithTimeoutCause", "WithDeadline",
		"WithDeadlineCause", "WithValue"):
		if c.isWatched() {
			return nil
		}
		return c.foreign(call.Args[0])
	case isMethod(fn, "net/http", "Request", "Context") && c.g.fn.lit != nil:
		sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if request := variable(info, sel.X); request != nil && c.outside(request) && c.isParameter(request) {
			return call
		}
	}
	return nil
}

// isWatched reports whether somebody may end another context when the function's own is over: by context.AfterFunc, or in
// a function literal.
func (c *contextCheck) isWatched() bool {
	watched := false
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			watched = watched || isFunc(callee(c.pass.TypesInfo, n), "context", "AfterFunc")
		case *ast.FuncLit:
			ast.Inspect(n.Body, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				watched = watched || ok && c.param != nil && c.pass.TypesInfo.Uses[id] == c.param
				return !watched
			})
		}
		return !watched
	})
	return watched
}

// outer reports whether a variable is a context of the surroundings, and not one that was made for what outlives the
// call.
func (c *contextCheck) outer(v *types.Var) bool {
	if !shape.IsContext(v.Type()) || c.g.fn.lit == nil || !c.outside(v) {
		return false
	}
	if c.g.ctx != nil && variable(c.pass.TypesInfo, c.g.ctx) == v {
		return !c.assignedInside(v) // the very one that the guarded call is given, wherever it comes from
	}
	for _, value := range c.defs.values[v] {
		if value.expr == nil || within(value.expr.Pos(), c.g.fn.body) {
			return false
		}
		call, ok := ast.Unparen(value.expr).(*ast.CallExpr)
		if !ok {
			return false
		}
		if !isFunc(callee(c.pass.TypesInfo, call), "context", "WithCancel", "WithCancelCause", "WithTimeout", "WithTimeoutCause",
			"WithDeadline", "WithDeadlineCause", "WithValue") {
			return false
		}
	}
	return len(c.defs.values[v]) > 0 || c.isParameter(v)
}

func (c *contextCheck) assignedInside(v *types.Var) bool {
	return slices.ContainsFunc(c.defs.values[v], func(value value) bool {
		return value.expr != nil && within(value.expr.Pos(), c.g.fn.lit)
	})
}

// outside reports whether a variable is a local one of the surroundings.
func (c *contextCheck) outside(v *types.Var) bool {
	return !v.IsField() && v.Pkg() == c.pass.Pkg && v.Parent() != v.Pkg().Scope() && !within(v.Pos(), c.g.fn.lit)
}

// isParameter reports whether a variable is a parameter that is never assigned.
func (c *contextCheck) isParameter(v *types.Var) bool {
	return v.Kind() == types.ParamVar && len(c.defs.values[v]) == 0
}

// foreignTo reports a foreign context that a function is given.
func (c *contextCheck) foreignTo(fn *types.Func, root ast.Expr) {
	what, why := "the context of the surroundings", "the guard's time limits do not reach this call"
	if _, ok := root.(*ast.CallExpr); ok {
		what = types.ExprString(root)
	}
	if isFunc(fn, libraryPath, "Execute", "Do", "Async") {
		why = "the guarded call inside does not know that it is one, and retries inside retries"
	}
	c.report(root, what+" is used instead of", why)
}

func (c *contextCheck) report(root ast.Expr, what, why string) {
	if c.done[root] {
		return
	}
	c.done[root] = true
	c.pass.Report(analysis.Diagnostic{
		Pos: root.Pos(), End: root.End(),
		Message:        fmt.Sprintf("%s the context that the guarded function is given: %s", what, why),
		SuggestedFixes: c.fix(root),
	})
}

// use puts a name in the place of a context, or before the arguments of what takes none; nil where that is not all.
func (c *contextCheck) use(name string, root ast.Expr) []analysis.TextEdit {
	fn, call := c.without(root)
	if call == nil {
		return []analysis.TextEdit{{Pos: root.Pos(), End: root.End(), NewText: []byte(name)}}
	}
	_, suffix := c.sibling(call, fn)
	switch call.Fun.(type) {
	case *ast.SelectorExpr, *ast.Ident:
	default:
		suffix = ""
	}
	if suffix == "" {
		return nil
	}
	at := call.Rparen
	if len(call.Args) > 0 {
		at, name = call.Args[0].Pos(), name+", "
	}
	return []analysis.TextEdit{
		{Pos: call.Lparen, End: call.Lparen, NewText: []byte(suffix)},
		{Pos: at, End: at, NewText: []byte(name)},
	}
}

// without returns the call that takes no context; nil if what is reported is itself one.
func (c *contextCheck) without(root ast.Expr) (*types.Func, *ast.CallExpr) {
	if call, ok := root.(*ast.CallExpr); ok && !shape.IsContext(c.pass.TypesInfo.TypeOf(call)) {
		return callee(c.pass.TypesInfo, call), call
	}
	return nil, nil
}

// fix passes the function's own context. One without a name is given the name that the foreign one has, or ctx.
func (c *contextCheck) fix(root ast.Expr) []analysis.SuggestedFix {
	name := c.g.fn.paramName()
	if name != nil && name.Name != "_" {
		if scope := c.pass.TypesInfo.Scopes[c.g.fn.typ]; scope == nil || !c.means(name, root.Pos()) {
			return nil // something else has the name there
		}
		return fixes(c.use(name.Name, root))
	}
	param := c.g.fn.typ.Params.List[0]
	given := "ctx"
	if id, ok := root.(*ast.Ident); ok {
		given = id.Name
	} else if !c.free(given) {
		return nil
	}
	var edits []analysis.TextEdit
	switch {
	case name != nil:
		edits = append(edits, analysis.TextEdit{Pos: name.Pos(), End: name.End(), NewText: []byte(given)})
	case len(c.g.fn.typ.Params.List) == 1: // none of the parameters has a name, so each needs one
		edits = append(edits, analysis.TextEdit{Pos: param.Pos(), End: param.Pos(), NewText: []byte(given + " ")})
	default:
		return nil
	}
	if id, ok := root.(*ast.Ident); ok {
		// The other uses of the name mean the new one then, and need no finding of their own.
		c.silence(c.pass.TypesInfo.Uses[id])
		return fixes(edits)
	}
	used := c.use(given, root)
	if used == nil {
		return nil
	}
	return fixes(append(edits, used...))
}

func fixes(edits []analysis.TextEdit) []analysis.SuggestedFix {
	if len(edits) == 0 {
		return nil
	}
	return []analysis.SuggestedFix{{Message: "use the function's own context", TextEdits: edits}}
}

// means reports whether the parameter's name still means the parameter at a position.
func (c *contextCheck) means(name *ast.Ident, at token.Pos) bool {
	_, obj := c.pass.Pkg.Scope().Innermost(at).LookupParent(name.Name, at)
	return obj == c.param
}

// free reports whether a name is used for nothing in the function's body.
func (c *contextCheck) free(name string) bool {
	free := true
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			free = false
		}
		return free
	})
	return free
}

func (c *contextCheck) silence(obj types.Object) {
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && c.pass.TypesInfo.Uses[id] == obj {
			c.done[id] = true
		}
		return true
	})
}
