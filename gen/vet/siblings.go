package vet

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// worksWithout returns the call by which work is done without a context that could be had, if that is what a call is, and
// what it does. It knows some of the standard library, and whatever has a sibling that takes a context first and is the
// same otherwise: Query and QueryContext. A command is one where the function itself waits for it and nobody else has it;
// what was made with the context, or of a part of it, is bound by it in a way of its own.
func (c *contextCheck) worksWithout(call *ast.CallExpr) (at *ast.CallExpr, does string) {
	fn := callee(c.pass.TypesInfo, call)
	switch {
	case fn == nil:
	case isCommandRun(fn):
		return c.command(call), "makes a command"
	case c.isBound(call):
	case isSimpleRequest(fn):
		return call, "makes a request"
	case isLookup(fn), isMethod(fn, "database/sql", "DB", "Begin"), waits(fn) && c.hasSibling(call, fn):
		return call, "works"
	}
	return nil, ""
}

func isCommandRun(fn *types.Func) bool {
	return isMethod(fn, "os/exec", "Cmd", "Run") || isMethod(fn, "os/exec", "Cmd", "Output") ||
		isMethod(fn, "os/exec", "Cmd", "CombinedOutput")
}

// isSimpleRequest recognises http.Get and its like, which are methods of *http.Client too.
func isSimpleRequest(fn *types.Func) bool {
	switch fn.Name() {
	case "Get", "Head", "Post", "PostForm":
		return isFunc(fn, "net/http", fn.Name()) || isMethod(fn, "net/http", "Client", fn.Name())
	}
	return false
}

// isLookup recognises the functions of package net for which a Dialer or Resolver takes a context.
func isLookup(fn *types.Func) bool {
	return isFunc(fn, "net", "Dial", "LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupPort",
		"LookupSRV", "LookupTXT")
}

// waits reports whether a function does work that can fail: its error is returned, or kept in a row. One that is called New
// only makes what works later.
func waits(fn *types.Func) bool {
	sig := fn.Signature()
	return returnsError(sig) && !strings.HasPrefix(fn.Name(), "New") ||
		sig.Results().Len() == 1 && shape.Named(deref(sig.Results().At(0).Type()), "database/sql", "Row")
}

// hasSibling reports whether a function has one that takes a context, other than the one that calls it here.
func (c *contextCheck) hasSibling(call *ast.CallExpr, fn *types.Func) bool {
	sibling, _ := c.sibling(call, fn)
	if sibling == nil || sibling == calledName(c.pass.TypesInfo, c.g.fn.expr) {
		return false
	}
	for decl := range c.g.cursor.Enclosing((*ast.FuncDecl)(nil)) {
		if c.pass.TypesInfo.Defs[decl.Node().(*ast.FuncDecl).Name] == sibling {
			return false
		}
	}
	return true
}

// sibling returns the function that takes a context first and is the same as fn otherwise, and what its name has more.
func (c *contextCheck) sibling(call *ast.CallExpr, fn *types.Func) (sibling *types.Func, suffix string) {
	for _, suffix := range []string{"Context", "WithContext"} {
		var obj types.Object
		if fn.Signature().Recv() == nil {
			obj = fn.Pkg().Scope().Lookup(fn.Name() + suffix)
		} else if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			obj, _, _ = types.LookupFieldOrMethod(c.pass.TypesInfo.TypeOf(sel.X), true, c.pass.Pkg, fn.Name()+suffix)
		}
		if sibling, ok := obj.(*types.Func); ok && takesContextToo(sibling.Origin().Signature(), fn.Signature()) {
			return sibling.Origin(), suffix
		}
	}
	return nil, ""
}

// takesContextToo reports whether a signature is another one with a context before it.
func takesContextToo(sig, other *types.Signature) bool {
	n := other.Params().Len()
	if sig.Params().Len() != n+1 || !shape.IsContext(sig.Params().At(0).Type()) || sig.Variadic() != other.Variadic() ||
		!types.Identical(sig.Results(), other.Results()) {
		return false
	}
	for i := range n {
		if !types.Identical(sig.Params().At(i+1).Type(), other.Params().At(i).Type()) {
			return false
		}
	}
	return true
}

// isBound reports whether what a method is called on may know the context already: it comes out of a call, or was made, or
// set up, with a context or something that comes of one.
func (c *contextCheck) isBound(call *ast.CallExpr) bool {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || shape.Named(deref(c.pass.TypesInfo.TypeOf(sel.X)), "database/sql", "DB") { // a pool knows none
		return false
	}
	bound := false
	ast.Inspect(sel.X, func(n ast.Node) bool {
		_, isCall := n.(*ast.CallExpr)
		bound = bound || isCall
		return !bound
	})
	return bound || c.knowsContext(sel.X, map[*types.Var]bool{}) || c.isSetUp(rootOf(c.pass.TypesInfo, sel.X))
}

// knowsContext reports whether a context, or what was made with one, is part of an expression.
func (c *contextCheck) knowsContext(e ast.Expr, seen map[*types.Var]bool) bool {
	knows := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || knows {
			return !knows
		}
		v, ok := c.pass.TypesInfo.Uses[id].(*types.Var)
		if !ok || seen[v] {
			return true
		}
		seen[v] = true
		knows = shape.IsContext(v.Type())
		for _, value := range c.defs.values[v] {
			knows = knows || value.expr != nil && c.knowsContext(value.expr, seen)
		}
		return !knows
	})
	return knows
}

// isSetUp reports whether the function sets fields of a variable, or gives it what comes of the context.
func (c *contextCheck) isSetUp(obj types.Object) bool {
	set := false
	inspectNow(c.g.fn.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			set = set || slices.ContainsFunc(n.Lhs, func(target ast.Expr) bool { return c.isPartOf(obj, target) })
		case *ast.CallExpr: // conn.SetDeadline(deadline)
			set = set || c.isPartOf(obj, n.Fun) && slices.ContainsFunc(n.Args, func(arg ast.Expr) bool {
				return c.knowsContext(arg, map[*types.Var]bool{})
			})
		}
		return !set
	})
	return set
}

// isPartOf reports whether an expression selects something of a variable.
func (c *contextCheck) isPartOf(obj types.Object, e ast.Expr) bool {
	_, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && obj != nil && rootOf(c.pass.TypesInfo, e) == obj
}

// command returns the call of exec.Command that made what is run here, and nothing else has; nil if it is not known.
func (c *contextCheck) command(run *ast.CallExpr) *ast.CallExpr {
	sel, ok := ast.Unparen(run.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	made, _ := ast.Unparen(sel.X).(*ast.CallExpr)
	if v := variable(c.pass.TypesInfo, sel.X); v != nil {
		only, _ := c.defs.only(v)
		if made = only.call(); made == nil || !within(made.Pos(), c.g.fn.body) || c.isShared(v) {
			return nil
		}
	}
	if made == nil || !isFunc(callee(c.pass.TypesInfo, made), "os/exec", "Command") {
		return nil
	}
	return made
}

// isShared reports whether a variable is used otherwise than for its own fields and methods, on the spot: in a function
// literal, for instance, that ends a command when the context is over.
func (c *contextCheck) isShared(v *types.Var) bool {
	own := map[*ast.Ident]bool{}
	inspectNow(c.g.fn.body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok {
				own[id] = true
			}
		}
		return true
	})
	shared := false
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && c.pass.TypesInfo.Uses[id] == v && !own[id] {
			shared = true
		}
		return !shared
	})
	return shared
}
