package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// marks are the methods that resilient.MarkIdempotent names, by the type that the
// method expression is of and the method's name.
type marks map[string]*mark

type mark struct {
	pos  token.Position
	used bool
}

func markKey(t types.Type, name string) string {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		t = n.Origin()
		return types.TypeString(n.Obj().Type(), nil) + "." + name
	}
	return types.TypeString(t, nil) + "." + name
}

// findMarks reads the calls of MarkIdempotent among the packages' variables. Each
// argument is a method expression, which the type checker has resolved.
func findMarks(l *loaded, ps *problems) marks {
	found := marks{}
	for _, pkg := range l.packages {
		for _, file := range pkg.Syntax {
			for _, decl := range file.Decls {
				decl, ok := decl.(*ast.GenDecl)
				if !ok || decl.Tok != token.VAR {
					continue
				}
				ast.Inspect(decl, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok || !isMarkIdempotent(pkg.TypesInfo, call) {
						return true
					}
					for _, argument := range call.Args {
						found.add(l, pkg.TypesInfo, argument, ps)
					}
					return false
				})
			}
		}
	}
	return found
}

func isMarkIdempotent(info *types.Info, call *ast.CallExpr) bool {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	default:
		return false
	}
	f, ok := info.Uses[id].(*types.Func)
	return ok && f.Name() == "MarkIdempotent" && f.Pkg() != nil && f.Pkg().Path() == runtimePath
}

func (ms marks) add(l *loaded, info *types.Info, argument ast.Expr, ps *problems) {
	pos := l.fset.Position(argument.Pos())
	selector, ok := ast.Unparen(argument).(*ast.SelectorExpr)
	if ok {
		if s := info.Selections[selector]; s != nil && s.Kind() == types.MethodExpr {
			ms[markKey(s.Recv(), selector.Sel.Name)] = &mark{pos: pos}
			return
		}
		if tv, known := info.Types[selector.X]; known && !tv.IsType() {
			ok = false
		}
	}
	why := "it is no method expression"
	if ok {
		why = "it names no method of that type"
	}
	ps.add(pos, "MarkIdempotent cannot use "+types.ExprString(argument), why, "write pkg.Type.Method, or (*pkg.Type).Method")
}

// has reports whether one of the types that a method is taken from was marked with it.
func (ms marks) has(name string, from ...types.Type) (token.Position, bool) {
	for _, t := range from {
		if m := ms[markKey(t, name)]; m != nil {
			m.used = true
			return m.pos, true
		}
	}
	return token.Position{}, false
}

// unused reports what was marked and is no method of any wrapped interface: the
// annotation would be lost in silence.
func (ms marks) unused(ps *problems) {
	for _, key := range slices.Sorted(maps.Keys(ms)) {
		if m := ms[key]; !m.used {
			ps.add(m.pos, "MarkIdempotent does nothing here", "no interface with //resilient:service in these packages has "+key, "mark a method of an interface that is wrapped, or take it away")
		}
	}
}
