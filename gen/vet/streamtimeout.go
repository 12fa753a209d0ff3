package vet

import (
	"go/ast"
	"go/constant"
	"go/types"
	"net/http"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// streamTimeout believes that a stream depends on the context when a function that we see returns what was made with that
// context, and neither reads nor closes it; of functions elsewhere, only where the type says so. Channels are for asyncResult. It
// does not see streams that are handed out in other ways than as the result, nor guards that are Passthrough.
var streamTimeout = &analysis.Analyzer{
	Name: "streamtimeout",
	Doc: `report streams that are returned out of a guarded function

The context of a guarded function ends when the call returns, and at its timeout: a stream that was opened with it breaks
off in the middle. Open it with the caller's own context under a permit (Guard.Acquire), or read it inside the function.`,
	Requires: []*analysis.Analyzer{calls, defs},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			if g.result == nil {
				continue
			}
			what, tied := streamKind(g.result)
			if what == "" || !tied && g.fn.body == nil || g.fn.body != nil && !handsOut(pass, g.fn) {
				continue
			}
			pass.ReportRangef(g.fn.expr, "the guarded function returns a stream (%s) that was opened with its context, which ends when the call returns: "+
				"Acquire a permit and open it with the caller's context, or read it inside the function", what)
		}
		return nil, nil
	},
}

// handsOut reports whether a function returns the result of a call that its context went into, untouched.
func handsOut(pass *analysis.Pass, f function) bool {
	param := f.param(pass.TypesInfo)
	if param == nil {
		return false
	}
	t := &tainting{info: pass.TypesInfo, from: map[*types.Var]bool{param: true}}
	out, touched := false, false
	inspectNow(f.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt, *ast.ValueSpec:
			touched = t.assign(n) || touched
		case *ast.ReturnStmt:
			out = out || t.returned(n, f.typ.Results)
		case *ast.CallExpr:
			touched = touched || reads(callee(pass.TypesInfo, n))
		}
		return true
	})
	return out && !touched && !t.usedUp(f.body)
}

// returned reports whether a statement returns the stream, as the first of the results, or by that one's name.
func (t *tainting) returned(n *ast.ReturnStmt, results *ast.FieldList) bool {
	if len(n.Results) > 0 {
		return t.tainted(n.Results[0])
	}
	return len(results.List[0].Names) > 0 && t.tainted(results.List[0].Names[0])
}

// usedUp reports whether the stream is closed, or given to something that may read it, whatever becomes of it: not in a
// branch, which may be that of a failure.
func (t *tainting) usedUp(body *ast.BlockStmt) bool {
	used := false
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				used = used || t.uses(call)
			}
			return !used
		})
	}
	for _, stmt := range body.List {
		test, ok := stmt.(*ast.IfStmt)
		if !ok {
			look(stmt)
			continue
		}
		if test.Init != nil {
			look(test.Init)
		}
		look(test.Cond)
	}
	return used
}

// uses reports whether a call closes a stream, or is given one.
func (t *tainting) uses(call *ast.CallExpr) bool {
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && sel.Sel.Name == "Close" && t.opened(sel.X) {
		return true
	}
	return slices.ContainsFunc(call.Args, t.opened)
}

// opened reports whether an expression names what was opened with the context.
func (t *tainting) opened(e ast.Expr) bool {
	if _, isCall := ast.Unparen(e).(*ast.CallExpr); isCall || t.carries(e) {
		return false
	}
	return t.tainted(e)
}

// reads recognises the functions that drain a stream, or make it outlive the call.
func reads(fn *types.Func) bool {
	return isFunc(fn, "io", "ReadAll", "Copy", "CopyN", "CopyBuffer", "NopCloser") || isFunc(fn, "net/http/httputil", "DumpResponse") ||
		isFunc(fn, "context", "WithoutCancel") || isFunc(fn, nestingPath, "Detach") || isFunc(fn, libraryPath, "Hold")
}

// tainting follows the context from the calls that it goes into to the variables that take their results.
type tainting struct {
	info *types.Info
	from map[*types.Var]bool
}

// assign follows an assignment; it reports whether one replaces a body.
func (t *tainting) assign(n ast.Node) (replaces bool) {
	for target, value := range assigned(n) {
		if sel, ok := ast.Unparen(target).(*ast.SelectorExpr); ok && sel.Sel.Name == "Body" {
			replaces = true
		}
		if v := variable(t.info, target); v != nil && value.expr != nil {
			t.from[v] = t.tainted(value.expr) && !shape.IsError(v.Type())
		}
	}
	return replaces
}

func (t *tainting) tainted(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return t.from[variable(t.info, e)]
	case *ast.SelectorExpr:
		return e.Sel.Name == "Body" && t.tainted(e.X)
	case *ast.CallExpr:
		if t.isHead(e) {
			return false
		}
		return slices.ContainsFunc(e.Args, func(arg ast.Expr) bool { return t.carries(arg) && t.tainted(arg) })
	}
	return false
}

// carries reports whether an argument hands on the context, or a request that was made with it. Whoever is given anything
// else may have read it.
func (t *tainting) carries(arg ast.Expr) bool {
	typ := t.info.TypeOf(arg)
	return shape.IsContext(typ) || shape.Named(deref(typ), "net/http", "Request")
}

// isHead reports whether a request is one for which no body comes back.
func (t *tainting) isHead(call *ast.CallExpr) bool {
	if !isFunc(callee(t.info, call), "net/http", "NewRequestWithContext") || len(call.Args) != 4 {
		return false
	}
	method := t.info.Types[call.Args[1]].Value
	return method != nil && method.Kind() == constant.String && constant.StringVal(method) == http.MethodHead
}
