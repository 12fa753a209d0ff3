// Package mutation changes a file in one small way after another, so that each change can be held against the tests: one
// that no test notices is in code that no test holds.
//
// It is our own since the tools that there are change operators only. What the circuit does is mostly in assignments and
// in what is returned, so those have to go as well.
package mutation

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
)

// A Mutant is a file with one small change.
type Mutant struct {
	// Name says what is changed: the function, and its line before and after. It has no line number, so that it
	// stays the same when the file grows elsewhere. It is unique in a file.
	Name string
	// Line is where, for the reader.
	Line int
	// Source is the whole file.
	Source []byte

	function   *ast.FuncDecl // nil outside of functions
	file       *token.File
	start, end int
	with       string
}

// Mutants makes all mutants of a file, in the order of their places.
func Mutants(source []byte) ([]Mutant, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{source: source, file: files.File(file.FileStart), seen: map[string]int{}}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			f.function, f.declared = decl.Name.Name, decl
			f.body(decl.Type, decl.Body)
		case *ast.GenDecl:
			if decl.Tok != token.IMPORT {
				f.function, f.declared = decl.Tok.String(), nil
				f.inspect(decl, nil)
			}
		}
	}
	return f.found, nil
}

type finder struct {
	source   []byte
	file     *token.File
	function string // what the present place is in
	declared *ast.FuncDecl
	seen     map[string]int
	found    []Mutant
}

// body goes through a function.
func (f *finder) body(signature *ast.FuncType, body *ast.BlockStmt) {
	if body != nil {
		f.inspect(body, results(signature))
	}
}

// results are the types of what a function returns.
func results(signature *ast.FuncType) (types []ast.Expr) {
	if signature.Results == nil {
		return nil
	}
	for _, field := range signature.Results.List {
		for range max(1, len(field.Names)) {
			types = append(types, field.Type)
		}
	}
	return types
}

// inspect goes through what is in a function with those results, or in none.
func (f *finder) inspect(root ast.Node, returned []ast.Expr) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			f.body(node.Type, node.Body)
			return false
		case *ast.BinaryExpr:
			f.operator(node.OpPos, node.Op)
		case *ast.UnaryExpr:
			if node.Op == token.NOT || node.Op == token.SUB {
				f.replace(node.OpPos, node.OpPos+1, "")
			}
		case *ast.BasicLit:
			f.number(node)
		case *ast.CallExpr:
			f.extreme(node)
		case *ast.ReturnStmt:
			f.returns(node, returned)
		case *ast.BlockStmt:
			f.statements(node.List)
		case *ast.CaseClause:
			f.statements(node.Body)
		case *ast.IncDecStmt:
			f.operator(node.TokPos, node.Tok)
		case *ast.AssignStmt:
			f.operator(node.TokPos, node.Tok)
		}
		return true
	})
}

// others are what an operator is changed to: to its opposite, and where there is a boundary, by one step.
var others = map[token.Token][]string{
	token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"}, token.REM: {"*"},
	token.SHL: {">>"}, token.SHR: {"<<"}, token.AND: {"|"}, token.OR: {"&"}, token.XOR: {"&"}, token.AND_NOT: {"&"},
	token.INC: {"--"}, token.DEC: {"++"}, token.ADD_ASSIGN: {"-="}, token.SUB_ASSIGN: {"+="},
	token.MUL_ASSIGN: {"/="}, token.XOR_ASSIGN: {"="}, token.OR_ASSIGN: {"="},
}

func (f *finder) operator(at token.Pos, op token.Token) {
	for _, other := range others[op] {
		f.replace(at, at+token.Pos(len(op.String())), other)
	}
}

// number makes one more and one less of it.
func (f *finder) number(lit *ast.BasicLit) {
	if lit.Kind != token.INT && lit.Kind != token.FLOAT {
		return
	}
	if n, err := strconv.ParseUint(strings.ReplaceAll(lit.Value, "_", ""), 0, 64); err == nil {
		f.replace(lit.Pos(), lit.End(), strconv.FormatUint(n+1, 10))
		if n > 0 {
			f.replace(lit.Pos(), lit.End(), strconv.FormatUint(n-1, 10))
		}
		return
	}
	f.replace(lit.Pos(), lit.End(), "(2 * "+lit.Value+")")
	f.replace(lit.Pos(), lit.End(), "("+lit.Value+" / 2)")
}

// extreme takes the smaller for the larger.
func (f *finder) extreme(call *ast.CallExpr) {
	if name, ok := call.Fun.(*ast.Ident); ok {
		switch name.Name {
		case "min":
			f.replace(name.Pos(), name.End(), "max")
		case "max":
			f.replace(name.Pos(), name.End(), "min")
		}
	}
}

// returns makes each result zero, and a condition also true. What is named and returned by its name is left to the
// assignments before.
func (f *finder) returns(statement *ast.ReturnStmt, types []ast.Expr) {
	if len(statement.Results) != len(types) {
		return // a call that has them all: its own function is looked at
	}
	for i, result := range statement.Results {
		kind, was := f.text(types[i]), f.text(result)
		zero := "*new(" + kind + ")"
		if kind == "bool" {
			zero = "false"
		}
		if was != zero && was != "nil" && was != "0" && was != kind+"{}" {
			f.replace(result.Pos(), result.End(), zero)
		}
		if kind == "bool" && was != "true" {
			f.replace(result.Pos(), result.End(), "true")
		}
	}
}

// statements leaves out one after the other, where what is left may still compile.
func (f *finder) statements(list []ast.Stmt) {
	for _, statement := range list {
		switch s := statement.(type) {
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.IfStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.BranchStmt, *ast.SwitchStmt, *ast.RangeStmt, *ast.ForStmt:
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		default:
			continue
		}
		f.replace(statement.Pos(), statement.End(), "")
	}
}

func (f *finder) text(node ast.Node) string {
	return string(f.source[f.file.Offset(node.Pos()):f.file.Offset(node.End())])
}

// replace makes the mutant with another text from one place to another.
func (f *finder) replace(from, to token.Pos, with string) {
	start, end := f.file.Offset(from), f.file.Offset(to)
	changed := make([]byte, 0, len(f.source)+len(with))
	changed = append(append(append(changed, f.source[:start]...), with...), f.source[end:]...)
	name := strings.TrimSpace(fmt.Sprintf("%s: %s => %s", f.function, lineAt(f.source, start), lineAt(changed, start)))
	f.seen[name]++
	if n := f.seen[name]; n > 1 {
		name += fmt.Sprintf(" #%d", n)
	}
	f.found = append(f.found, Mutant{
		Name: name, Line: f.file.Line(from), Source: changed,
		function: f.declared, file: f.file, start: start, end: end, with: with,
	})
}

// lineAt is the line round an offset, without the space at its ends.
func lineAt(source []byte, offset int) string {
	from := strings.LastIndexByte(string(source[:offset]), '\n') + 1
	line, _, _ := strings.Cut(string(source[from:]), "\n")
	return strings.TrimSpace(line)
}
