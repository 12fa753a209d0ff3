package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// definitions knows, for the variables and functions of one package, where their values come from.
type definitions struct {
	values    map[*types.Var][]value
	functions map[*types.Func]*ast.FuncDecl
}

var defs = &analysis.Analyzer{
	Name:       "resilientdefinitions",
	Doc:        "where the values of variables come from, for the other analyzers",
	Requires:   []*analysis.Analyzer{inspect.Analyzer},
	ResultType: reflect.TypeFor[*definitions](),
	Run: func(pass *analysis.Pass) (any, error) {
		d := &definitions{values: map[*types.Var][]value{}, functions: map[*types.Func]*ast.FuncDecl{}}
		in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
		for node := range in.PreorderSeq((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil),
			(*ast.IncDecStmt)(nil), (*ast.UnaryExpr)(nil), (*ast.FuncDecl)(nil)) {
			d.note(pass.TypesInfo, node)
		}
		return d, nil
	},
}

func (d *definitions) note(info *types.Info, node ast.Node) {
	set := func(target ast.Expr, v value) {
		if target := variable(info, target); target != nil {
			d.values[target] = append(d.values[target], v)
		}
	}
	switch n := node.(type) {
	case *ast.AssignStmt, *ast.ValueSpec:
		for target, v := range assigned(n) {
			set(target, v)
		}
	case *ast.RangeStmt:
		for _, target := range []ast.Expr{n.Key, n.Value} {
			if target != nil {
				set(target, value{})
			}
		}
	case *ast.IncDecStmt:
		set(n.X, value{})
	case *ast.UnaryExpr:
		if n.Op == token.AND { // whoever has the address may assign
			set(n.X, value{})
		}
	case *ast.FuncDecl:
		if fn, ok := info.Defs[n.Name].(*types.Func); ok {
			d.functions[fn] = n
		}
	}
}

// only returns the one value that a variable is ever given; ok is false if there are several, or none that is known.
func (d *definitions) only(v *types.Var) (only value, ok bool) {
	if values := d.values[v]; len(values) == 1 && values[0].expr != nil {
		return values[0], true
	}
	return value{}, false
}

// resolve follows names to the expression that they stand for, as long as there is only one.
func (d *definitions) resolve(info *types.Info, e ast.Expr) ast.Expr {
	for range 10 { // definitions at package level may go in circles in code that does not compile
		e = ast.Unparen(e)
		v := variable(info, e)
		if v == nil {
			return e
		}
		only, ok := d.only(v)
		if !ok || only.many {
			return e
		}
		e = only.expr
	}
	return e
}
