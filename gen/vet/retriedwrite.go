package vet

import (
	"go/ast"
	"go/types"
	"maps"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// writes is a fact about a function: whenever it is called it calls a writer, directly or through others.
type writes struct{ Writer writer }

// AFact makes writes a fact.
func (*writes) AFact() {}

func (w *writes) String() string { return "writes through " + w.Writer.Method }

// retriedWrite believes a call in the guarded function itself, wherever it stands, unless it is deferred or in a function
// literal; in the functions that it calls, only what they do every time. It follows functions and methods of concrete
// types; not interfaces other than services, nor function values. A writer whose failure is marked permanent is believed to
// be made once, and a function that asks which attempt it is to know what it does.
var retriedWrite = &analysis.Analyzer{
	Name: "retriedwrite",
	Doc: `report writers that are called in functions which are retried

A function under an Idempotent op is called again after a failure, with everything that it does. When that includes a
method of an interface with //resilient:service that is not annotated idempotent, the write is repeated, be it made
through a wrapper which itself does not retry.`,
	Requires:  []*analysis.Analyzer{inspect.Analyzer, calls, services, defs},
	FactTypes: []analysis.Fact{(*writes)(nil)},
	Run: func(pass *analysis.Pass) (any, error) {
		w := &writing{
			pass:   pass,
			known:  pass.ResultOf[services].(map[types.Object]*service),
			defs:   pass.ResultOf[defs].(*definitions),
			once:   map[*ast.CallExpr]bool{},
			writes: map[*types.Func]writer{},
			inner:  map[*ast.CallExpr]*ast.FuncLit{},
		}
		if len(w.known) == 0 && len(pass.AllObjectFacts()) == 0 { // most packages
			return nil, nil
		}
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			if g.fn.lit != nil && (g.entry == "Execute" || g.entry == "Do") {
				w.inner[g.call] = g.fn.lit
			}
		}
		w.markPermanent(pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root())
		w.propagate(w.defs.functions)
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			if g.op == opIdempotent && writerCalled(pass.TypesInfo, w.defs, w.known, forwards(g.fn)).Method == "" {
				w.check(g)
			}
		}
		return nil, nil
	},
}

type writing struct {
	pass   *analysis.Pass
	known  map[types.Object]*service
	defs   *definitions
	once   map[*ast.CallExpr]bool         // calls whose failure is marked permanent
	writes map[*types.Func]writer         // of this package
	inner  map[*ast.CallExpr]*ast.FuncLit // guarded calls that run a literal on the spot
}

// propagate finds the functions of the package that surely write, until there are no more, and makes facts of them.
func (w *writing) propagate(functions map[*types.Func]*ast.FuncDecl) {
	left := maps.Clone(functions)
	for found := true; found; {
		found = false
		for fn, decl := range left {
			if decl.Body == nil {
				continue
			}
			if one := w.surelyCalls(decl.Body); one.Method != "" {
				found = true
				w.writes[fn] = one
				w.pass.ExportObjectFact(fn, &writes{one})
				delete(left, fn)
			}
		}
	}
}

// surelyCalls returns the writer that a function calls every time.
func (w *writing) surelyCalls(body *ast.BlockStmt) (found writer) {
	inspectSurely(w.pass.TypesInfo, body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found.Method == "" {
			found = w.through(call)
		}
		return found.Method == ""
	})
	return found
}

// check reports the first writer that a guarded function calls.
func (w *writing) check(g *guarded) {
	info := w.pass.TypesInfo
	report := func(at ast.Node, found writer) {
		w.pass.ReportRangef(at, "%s is not annotated idempotent, and is called in a function that is retried: "+
			"use NonIdempotent%s, or make it a guarded call of its own outside", found.Method, found.Way.annotate())
	}
	if g.fn.body == nil || g.fn.lit == nil { // a named function: what it does every time
		if found := w.byName(calledName(info, g.fn.expr)); found.Method != "" {
			report(g.fn.expr, found)
			return
		}
	}
	if g.fn.body == nil || asksAttempt(info, g.fn.body) {
		return
	}
	done := false
	inspectNow(g.fn.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || done {
			return !done
		}
		if found := w.through(call); found.Method != "" {
			done = true
			at := ast.Node(call)
			if g.fn.lit == nil { // it may be fine where it is called otherwise
				at = g.fn.expr
			}
			report(at, found)
		}
		return !done
	})
}

// through returns the writer that a call reaches.
func (w *writing) through(call *ast.CallExpr) writer {
	if w.once[call] {
		return writer{}
	}
	if found := writerCalled(w.pass.TypesInfo, w.defs, w.known, call.Fun); found.Method != "" {
		return found
	}
	if lit := w.inner[call]; lit != nil {
		return w.surelyCalls(lit.Body)
	}
	return w.byName(callee(w.pass.TypesInfo, call))
}

func (w *writing) byName(fn *types.Func) writer {
	if fn == nil {
		return writer{}
	}
	if found, ok := w.writes[fn]; ok {
		return found
	}
	fact := new(writes)
	if fn.Pkg() != w.pass.Pkg && w.pass.ImportObjectFact(fn, fact) {
		return fact.Writer
	}
	return writer{}
}

// calledName returns the function that an argument names.
func calledName(info *types.Info, e ast.Expr) *types.Func {
	var name *ast.Ident
	switch e := uninstantiated(ast.Unparen(e)).(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	default:
		return nil
	}
	if fn, ok := info.Uses[name].(*types.Func); ok {
		return fn.Origin()
	}
	return nil
}
