package vet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// throughWrappers returns the calls that are guarded because the variable they go through holds something wrapped: what
// Wrap returned, or a generated constructor. What the call is made of besides is left open.
func throughWrappers(pass *analysis.Pass) []*guarded {
	w := &wrappers{
		info:  pass.TypesInfo,
		defs:  pass.ResultOf[defs].(*definitions),
		known: pass.ResultOf[services].(map[types.Object]*service),
		wraps: map[*ast.CallExpr]*guarded{},
	}
	for _, g := range pass.ResultOf[calls].([]*guarded) {
		if g.wraps() {
			w.wraps[g.call] = g
		}
	}
	var found []*guarded
	for cursor := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Preorder((*ast.CallExpr)(nil)) {
		call := cursor.Node().(*ast.CallExpr)
		if op, ok := w.guarded(call); ok {
			found = append(found, &guarded{call: call, cursor: cursor, op: op})
		}
	}
	return found
}

type wrappers struct {
	info  *types.Info
	defs  *definitions
	known map[types.Object]*service
	wraps map[*ast.CallExpr]*guarded
}

// guarded reports whether a call goes through a wrapper, and under what op.
func (w *wrappers) guarded(call *ast.CallExpr) (op opKind, ok bool) {
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		if wrap := w.wraps[w.madeBy(fun)]; wrap != nil {
			return wrap.op, true
		}
	case *ast.SelectorExpr:
		s := serviceNamed(w.known, w.info.TypeOf(fun.X))
		if s == nil || wrappedIn(w.info, w.madeBy(fun.X)) == nil || !slices.Contains(s.Guarded, fun.Sel.Name) {
			return opUnknown, false
		}
		if opensStream(w.info, call) { // once: the guard does not retry it
			return opUnknown, false
		}
		if slices.Contains(s.Writers, fun.Sel.Name) {
			return opNonIdempotent, true
		}
		return opUnknown, true
	}
	return opUnknown, false
}

// opensStream reports whether a call has a stream among its results.
func opensStream(info *types.Info, call *ast.CallExpr) bool {
	sig, ok := info.TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok {
		return false
	}
	for result := range sig.Results().Variables() {
		if shape.Streams(result.Type()) != "" {
			return true
		}
	}
	return false
}

// madeBy returns the call that gave a variable its only value.
func (w *wrappers) madeBy(e ast.Expr) *ast.CallExpr {
	v := variable(w.info, e)
	if v == nil {
		return nil
	}
	only, _ := w.defs.only(v)
	return only.call()
}
