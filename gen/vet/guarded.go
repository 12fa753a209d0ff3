package vet

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// guarded is a call of one of the library's entries, taken apart.
type guarded struct {
	call   *ast.CallExpr
	cursor inspector.Cursor // at call
	entry  string           // Execute, Do, Async, Wrap, …; "" for wrappers
	ctx    ast.Expr         // the caller's context; nil for the Wrap family and for wrappers
	op     opKind
	opCall *ast.CallExpr // the call of Idempotent or NonIdempotent; nil if unknown
	fn     function
	result types.Type // of the function; nil if it has none but its error
}

// function is the argument that is guarded.
type function struct {
	expr ast.Expr // as it is written at the call
	typ  *ast.FuncType
	body *ast.BlockStmt    // nil: declared elsewhere
	lit  *ast.FuncLit      // nil: not a literal
	sel  *ast.SelectorExpr // a method value, or a function of another package
}

// param is the function's own context, nil if it has no name or its body is not here.
func (f function) param(info *types.Info) *types.Var {
	if name := f.paramName(); name != nil {
		v, _ := info.Defs[name].(*types.Var)
		return v
	}
	return nil
}

func (f function) paramName() *ast.Ident {
	if f.typ == nil || len(f.typ.Params.List) == 0 || len(f.typ.Params.List[0].Names) == 0 {
		return nil
	}
	return f.typ.Params.List[0].Names[0]
}

// wraps reports whether the entry returns a guarded function instead of calling it.
func (g *guarded) wraps() bool { return strings.HasPrefix(g.entry, "Wrap") }

var calls = &analysis.Analyzer{
	Name:       "resilientcalls",
	Doc:        "the guarded calls of a package, for the other analyzers",
	Requires:   []*analysis.Analyzer{inspect.Analyzer, defs},
	ResultType: reflect.TypeFor[[]*guarded](),
	Run: func(pass *analysis.Pass) (any, error) {
		d := pass.ResultOf[defs].(*definitions)
		var found []*guarded
		root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
		for cursor := range root.Preorder((*ast.CallExpr)(nil)) {
			if g := takeApart(pass.TypesInfo, d, cursor); g != nil {
				found = append(found, g)
			}
		}
		return found, nil
	},
}

// takeApart returns the parts of a call, or nil if it is not one of the library's entries.
func takeApart(info *types.Info, d *definitions, cursor inspector.Cursor) *guarded {
	call := cursor.Node().(*ast.CallExpr)
	fn := callee(info, call)
	g := &guarded{call: call, cursor: cursor}
	var guard, op, body ast.Expr
	switch {
	case isFunc(fn, libraryPath, "Execute", "Do", "Async") && len(call.Args) == 4:
		g.ctx, guard, op, body = call.Args[0], call.Args[1], call.Args[2], call.Args[3]
	case isFunc(fn, libraryPath, "Wrap", "Wrap0", "WrapErr", "WrapErr0") && len(call.Args) == 3:
		guard, op, body = call.Args[0], call.Args[1], call.Args[2]
	default:
		return nil
	}
	if passes, ok := d.resolve(info, guard).(*ast.CallExpr); ok && isFunc(callee(info, passes), libraryPath, "Passthrough") {
		return nil // which guards nothing
	}
	g.entry = fn.Name()
	g.op, g.opCall = opOf(info, d, op)
	g.fn = functionOf(info, d, body)
	if sig, ok := types.Unalias(info.TypeOf(body)).Underlying().(*types.Signature); ok && sig.Results().Len() == 2 {
		g.result = sig.Results().At(0).Type()
	}
	return g
}

// functionOf finds what an argument stands for: a literal, here or in a variable, or a function or method of this
// package, also an instance of a generic one.
func functionOf(info *types.Info, d *definitions, e ast.Expr) function {
	f := function{expr: e}
	var named *ast.Ident
	switch e := uninstantiated(d.resolve(info, e)).(type) {
	case *ast.FuncLit:
		f.lit, f.typ, f.body = e, e.Type, e.Body
	case *ast.Ident:
		named = e
	case *ast.SelectorExpr:
		named, f.sel = e.Sel, e
	}
	if named == nil {
		return f
	}
	if fn, ok := info.Uses[named].(*types.Func); ok {
		if decl := d.functions[fn.Origin()]; decl != nil {
			f.typ, f.body = decl.Type, decl.Body
		}
	}
	return f
}

// uninstantiated strips the type arguments that are written out.
func uninstantiated(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.IndexExpr:
		return ast.Unparen(e.X)
	case *ast.IndexListExpr:
		return ast.Unparen(e.X)
	}
	return e
}
