package gen_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThin (P137): whatever is generated, a wrapper is a struct with the next implementation and its guard, its ops, and
// methods that forward once; no loops, no goroutines, no state, and nothing outside of a function literal is assigned
// from within it, where overlapping attempts would race.
func TestThin(t *testing.T) {
	for _, s := range scenarios(t) {
		for name, text := range s.want() {
			if text == "" {
				continue // it is removed
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			require.NoError(t, err, s.name)
			thin(t, s.name+"/"+name, file)
		}
	}
}

func thin(t *testing.T, name string, file *ast.File) {
	t.Helper()
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
			forwardsOnce(t, name, f)
		}
		if d, ok := decl.(*ast.GenDecl); ok {
			noState(t, name, d)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.GoStmt, *ast.SelectStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.IncDecStmt, *ast.SendStmt:
			t.Errorf("%s: a %T is no forwarding", name, n)
		case *ast.FuncLit:
			assignsOwn(t, name, n)
		}
		return true
	})
}

// forwardsOnce: through the guard once or not at all, and to the next implementation once.
func forwardsOnce(t *testing.T, name string, f *ast.FuncDecl) {
	t.Helper()
	forwarded, guarded := 0, map[string]int{}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch through, deep := selector.X.(*ast.SelectorExpr); {
		case deep && selector.Sel.Name == "Acquire":
			guarded["Acquire"]++
		case deep && selector.Sel.Name == f.Name.Name && root(through) == f.Recv.List[0].Names[0].Name:
			forwarded++
		case !deep && (selector.Sel.Name == "Execute" || selector.Sel.Name == "Do") && strings.HasPrefix(root(selector.X), "resilient"):
			guarded["Execute"]++
		}
		return true
	})
	assert.Equal(t, 1, forwarded, "%s: %s", name, f.Name.Name)
	assert.LessOrEqual(t, guarded["Execute"]+guarded["Acquire"], 1, "%s: %s", name, f.Name.Name)
}

// noState: the only variables are the ops, and a wrapper has two fields.
func noState(t *testing.T, name string, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			if d.Tok == token.VAR {
				assert.Contains(t, spec.Names[0].Name, "Ops", name)
			}
		case *ast.TypeSpec:
			if structure, ok := spec.Type.(*ast.StructType); ok {
				require.Len(t, structure.Fields.List, 2, "%s: %s", name, spec.Name.Name)
				guard, ok := structure.Fields.List[1].Type.(*ast.StarExpr)
				require.True(t, ok, name)
				assert.Equal(t, "Guard", guard.X.(*ast.SelectorExpr).Sel.Name, name)
			}
		}
	}
}

func assignsOwn(t *testing.T, name string, f *ast.FuncLit) {
	t.Helper()
	ast.Inspect(f.Body, func(n ast.Node) bool {
		assign, ok := n.(*ast.AssignStmt)
		if !ok || assign.Tok == token.DEFINE {
			return true
		}
		for _, to := range assign.Lhs {
			own := false
			ast.Inspect(f.Body, func(n ast.Node) bool {
				define, ok := n.(*ast.AssignStmt)
				if ok && define.Tok == token.DEFINE {
					for _, defined := range define.Lhs {
						own = own || root(defined) == root(to)
					}
				}
				return !own
			})
			assert.True(t, own, "%s: %s is assigned from within a function", name, root(to))
		}
		return true
	})
}

// root is the name that an expression begins with.
func root(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return root(expr.X)
	case *ast.StarExpr:
		return root(expr.X)
	}
	return ""
}
