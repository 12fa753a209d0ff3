package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// placeFile is a file, and what is declared in it.
type placeFile struct {
	path   string // the file's own
	fset   *token.FileSet
	read   *directive.File
	syntax *ast.File
	at     map[placeKey]*place
}

// place is the declaration of a type, of an interface's method or of a type's.
type place struct {
	doc   *ast.CommentGroup
	field *ast.Field // of an interface
	owner string     // the declared type that a method is written in
}

// placeKey is by what a declaration is found: the type and the method, or else, where an
// interface has no name, the line and the method.
type placeKey struct {
	owner string
	line  int
	name  string
}

func newPlaceFile(path string, fset *token.FileSet, file *ast.File) *placeFile {
	f := &placeFile{path: path, fset: fset, read: directive.Read(file), syntax: file, at: map[placeKey]*place{}}
	for _, decl := range file.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok && function.Recv.NumFields() > 0 {
			f.keep(receiver(function), function.Name, &place{doc: function.Doc})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			f.at[placeKey{owner: n.Name.Name}] = &place{}
			if iface, ok := ast.Unparen(n.Type).(*ast.InterfaceType); ok {
				f.keepMethods(n.Name.Name, iface)
				return false
			}
		case *ast.InterfaceType:
			f.keepMethods("", n)
		}
		return true
	})
	return f
}

func (f *placeFile) keepMethods(owner string, iface *ast.InterfaceType) {
	for _, field := range iface.Methods.List {
		for _, name := range field.Names {
			f.keep(owner, name, &place{doc: field.Doc, field: field, owner: owner})
		}
	}
}

func (f *placeFile) keep(owner string, name *ast.Ident, found *place) {
	f.at[placeKey{line: f.fset.Position(name.Pos()).Line, name: name.Name}] = found
	if owner != "" {
		f.at[placeKey{owner: owner, name: name.Name}] = found
	}
}

// receiver is the name of the type that a method belongs to: Set of *Set[T].
func receiver(f *ast.FuncDecl) string {
	name := strings.TrimLeft(types.ExprString(f.Recv.List[0].Type), "(*")
	if end := strings.IndexAny(name, "[)"); end >= 0 {
		name = name[:end]
	}
	return name
}
