package directive

import (
	"fmt"
	"go/ast"
	"go/token"
)

// seat is what a comment group stands on, or why it is no place for a directive.
type seat struct {
	place Place
	decl  *ast.GenDecl
	spec  *ast.TypeSpec
	field *ast.Field
	why   string
	fix   string
}

// seats finds the place of every comment group that belongs to something.
func seats(file *ast.File) map[*ast.CommentGroup]seat {
	found := map[*ast.CommentGroup]seat{}
	wrong := func(group *ast.CommentGroup, on string) {
		if group != nil {
			found[group] = seat{why: "it stands on " + on, fix: "directives belong on interfaces and their methods"}
		}
	}
	trailing := func(group *ast.CommentGroup) {
		if group != nil {
			found[group] = seat{why: "it trails what it is about", fix: "move it to a line of its own above"}
		}
	}
	wrong(file.Doc, "the package clause")
	// Everything that may carry a comment first, so that what is said of the places
	// below replaces it.
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			wrong(n.Doc, "a field")
			trailing(n.Comment)
		case *ast.FuncDecl:
			wrong(n.Doc, "a function")
		case *ast.GenDecl:
			wrong(n.Doc, "a declaration of "+n.Tok.String())
		case *ast.ValueSpec:
			wrong(n.Doc, "a variable or constant")
			trailing(n.Comment)
		case *ast.ImportSpec:
			wrong(n.Doc, "an import")
			trailing(n.Comment)
		case *ast.TypeSpec:
			trailing(n.Comment)
		}
		return true
	})
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			typeSeats(found, decl)
		}
	}
	inFunctions(found, file)
	return found
}

const outside = "declare the interface outside of functions, and put the directive on the line above, without a blank line between"

// inFunctions is about comments in the bodies of functions, where nothing is wrapped. Of
// a function without its body it cannot be told where that ended.
func inFunctions(found map[*ast.CommentGroup]seat, file *ast.File) {
	for _, group := range file.Comments {
		f := functionBefore(file, group.Pos())
		if f == nil {
			continue
		}
		_, seated := found[group]
		switch {
		case f.Body != nil && group.Pos() < f.Body.End():
			found[group] = seat{why: "it is inside of a function", fix: outside}
		case f.Body == nil && !seated:
			found[group] = seat{why: "it is inside of a function, or no declaration follows it directly", fix: outside}
		}
	}
}

// functionBefore is the last declaration that begins before a position, if it is a function.
func functionBefore(file *ast.File, pos token.Pos) *ast.FuncDecl {
	var last *ast.FuncDecl
	for _, decl := range file.Decls {
		if decl.Pos() > pos {
			break
		}
		last, _ = decl.(*ast.FuncDecl)
	}
	return last
}

func typeSeats(found map[*ast.CommentGroup]seat, decl *ast.GenDecl) {
	if decl.Doc != nil && len(decl.Specs) != 1 {
		found[decl.Doc] = seat{why: "it stands on a group of declarations, and does not say which", fix: "move it to the line above the one it is about"}
	}
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		on := seat{place: OnType, decl: decl, spec: spec}
		if what := notAnInterface(spec.Type); what != "" {
			on = seat{why: fmt.Sprintf("%s is %s", spec.Name.Name, what), fix: "only interfaces are wrapped; declare one with the methods that are used, or use //resilient:from on an empty one"}
		}
		if spec.Doc != nil {
			found[spec.Doc] = on
		}
		if decl.Doc != nil && len(decl.Specs) == 1 {
			found[decl.Doc] = on
		}
		lineSeats(found, decl, spec)
	}
}

func lineSeats(found map[*ast.CommentGroup]seat, decl *ast.GenDecl, spec *ast.TypeSpec) {
	iface, ok := ast.Unparen(spec.Type).(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, field := range iface.Methods.List {
		if field.Doc == nil {
			continue
		}
		place := OnEmbed
		if _, isMethod := field.Type.(*ast.FuncType); isMethod && len(field.Names) > 0 {
			place = OnMethod
		}
		found[field.Doc] = seat{place: place, decl: decl, spec: spec, field: field}
	}
}

// notAnInterface names the kind of a type that its syntax shows to be no interface.
func notAnInterface(expr ast.Expr) string {
	switch ast.Unparen(expr).(type) {
	case *ast.StructType:
		return "a struct"
	case *ast.FuncType:
		return "a function type"
	case *ast.MapType, *ast.ArrayType, *ast.ChanType, *ast.StarExpr:
		return "no interface"
	}
	return ""
}
