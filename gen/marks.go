package gen

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// marks are the methods that resilient.MarkIdempotent names, package by package: what
// a package says holds for its own interfaces, whatever else is loaded.
type marks map[*packages.Package]map[*types.Func]*mark

type mark struct {
	pos  token.Position
	name string
	used bool
}

// findMarks reads the calls of MarkIdempotent among the packages' variables. Each
// argument is a method expression, which the type checker has resolved.
func findMarks(l *loaded, ps *problems) marks {
	found := marks{}
	for _, pkg := range l.packages {
		found[pkg] = map[*types.Func]*mark{}
		for _, file := range pkg.Syntax {
			for _, decl := range file.Decls {
				if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.VAR {
					found.inVariables(l, pkg, decl, ps)
				}
			}
		}
	}
	return found
}

func (ms marks) inVariables(l *loaded, pkg *packages.Package, decl *ast.GenDecl, ps *problems) {
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isMarkIdempotent(pkg.TypesInfo, call) {
			return true
		}
		for _, argument := range call.Args {
			ms.add(l, pkg, argument, ps)
		}
		return false
	})
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

func (ms marks) add(l *loaded, pkg *packages.Package, argument ast.Expr, ps *problems) {
	pos := l.fset.Position(argument.Pos())
	selector, ok := ast.Unparen(argument).(*ast.SelectorExpr)
	if ok {
		if s := pkg.TypesInfo.Selections[selector]; s != nil && s.Kind() == types.MethodExpr {
			if method, ok := s.Obj().(*types.Func); ok {
				ms[pkg][method.Origin()] = &mark{pos: pos, name: types.ExprString(argument)}
				return
			}
		}
		if tv, known := pkg.TypesInfo.Types[selector.X]; known && !tv.IsType() {
			ok = false
		}
	}
	why, fix := "it is no method expression", "write pkg.Type.Method, or (*pkg.Type).Method"
	if ok {
		why = "it names no method of that type"
		if hasPointerMethod(pkg, selector) {
			why = "that method has a pointer receiver"
			fix = "write (*" + types.ExprString(selector.X) + ")." + selector.Sel.Name
		}
	}
	ps.add(pos, "MarkIdempotent cannot use "+types.ExprString(argument), why, fix)
}

// hasPointerMethod reports whether T.M, which is no method expression, would be one as (*T).M.
func hasPointerMethod(pkg *packages.Package, selector *ast.SelectorExpr) bool {
	tv, known := pkg.TypesInfo.Types[selector.X]
	if !known || !tv.IsType() {
		return false
	}
	pointer := types.NewPointer(tv.Type)
	return types.NewMethodSet(pointer).Lookup(pkg.Types, selector.Sel.Name) != nil
}

// has reports whether a package has marked a method.
func (ms marks) has(pkg *packages.Package, method *types.Func) (token.Position, bool) {
	m := ms[pkg][method.Origin()]
	if m == nil {
		return token.Position{}, false
	}
	m.used = true
	return m.pos, true
}

// inFunctions mentions calls of MarkIdempotent in the bodies of functions, which are not
// loaded with the rest.
func inFunctions(l *loaded, notes *problems) {
	for _, pkg := range l.packages {
		for _, file := range pkg.Syntax {
			if name := importName(file, runtimePath); name != "" && !directive.IsOwn(file) {
				marksInBodies(l.fset.File(file.Package).Name(), name, notes)
			}
		}
	}
}

func marksInBodies(name, library string, notes *problems) {
	text, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte("MarkIdempotent")) {
		return
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if file == nil {
		return
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && types.ExprString(call.Fun) == library+".MarkIdempotent" {
				notes.add(fset.Position(call.Pos()), "MarkIdempotent does nothing in a function", "resilientgen reads it among the variables of a package only",
					"write var _ = "+types.ExprString(call)+" outside of functions")
			}
			return true
		})
	}
}

// importName is what a file calls a package; "" if it does not import it, or by a dot.
func importName(file *ast.File, of string) string {
	for _, spec := range file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != of {
			continue
		}
		switch {
		case spec.Name == nil:
			return path.Base(of)
		case spec.Name.Name != "." && spec.Name.Name != "_":
			return spec.Name.Name
		}
	}
	return ""
}

// unused mentions what is marked and is no method of a wrapped interface.
func (ms marks) unused(notes *problems) {
	for _, inPackage := range ms {
		for _, m := range inPackage {
			if !m.used {
				notes.add(m.pos, "MarkIdempotent does nothing for "+m.name, "no interface with //resilient:service in this package has that method",
					"mark it in the package of the interface that is wrapped")
			}
		}
	}
}
