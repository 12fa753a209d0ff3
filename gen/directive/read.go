package directive

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// A File is what was found in one file.
type File struct {
	// Types are the declarations with a directive on them or on a line of theirs, in
	// the order of the file.
	Types []*Type
	// Problems are in the order of the file. Of a file with problems nothing should
	// be generated.
	Problems []Problem
}

// A Type is a declared type and its directives.
type Type struct {
	Decl       *ast.GenDecl
	Spec       *ast.TypeSpec
	Directives []Directive
	// Lines are the methods and embeds of its interface that carry directives.
	Lines []*Line
}

// A Line is a method or an embedded type of an interface.
type Line struct {
	Field      *ast.Field
	Directives []Directive
}

// All calls visit with each directive and the method that it stands on: "" for the
// type itself and for a line that embeds, which is then part of the text.
func (t *Type) All(visit func(method, text string)) {
	for _, d := range t.Directives {
		visit("", d.Text)
	}
	for _, line := range t.Lines {
		for _, d := range line.Directives {
			if d.Place == OnEmbed {
				visit("", d.Text+" "+types.ExprString(line.Field.Type))
				continue
			}
			for _, name := range line.Field.Names {
				visit(name.Name, d.Text)
			}
		}
	}
}

// Has reports whether a directive with that verb is on the type.
func (t *Type) Has(verb Verb) bool { return Find(t.Directives, verb) != nil }

// Find returns the directive with that verb, nil if there is none.
func Find(directives []Directive, verb Verb) *Directive {
	for i := range directives {
		if directives[i].Verb == verb {
			return &directives[i]
		}
	}
	return nil
}

// Read finds the directives of a file that was parsed with its comments. A generated
// file has none: what resilientgen writes there is for analyzers.
func Read(file *ast.File) *File {
	if ast.IsGenerated(file) {
		return &File{}
	}
	r := reader{out: &File{}, seats: seats(file)}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			r.comment(group, comment)
		}
	}
	for i := range r.out.Types {
		r.conflicts(r.out.Types[i])
	}
	return r.out
}

type reader struct {
	out   *File
	seats map[*ast.CommentGroup]seat
}

func (r *reader) comment(group *ast.CommentGroup, c *ast.Comment) {
	d, ok := ast.ParseDirective(c.Pos(), strings.TrimRight(c.Text, "\r"))
	if !ok || d.Tool != Tool {
		if p, near := nearMiss(c); near {
			r.out.Problems = append(r.out.Problems, p)
		}
		return
	}
	form, ok := find(Verb(d.Name))
	if !ok {
		r.out.Problems = append(r.out.Problems, unknownVerb(c, d.Name))
		return
	}
	s, ok := r.seats[group]
	if !ok {
		s = seat{why: "no declaration follows it directly", fix: "move it to the line above what it is about, without a blank line between"}
	}
	if s.why == "" && form.Places&s.place == 0 {
		s.why = fmt.Sprintf("it stands on %s", s.place)
		s.fix = fmt.Sprintf("it belongs on %s", form.Places)
	}
	if s.why != "" {
		r.out.Problems = append(r.out.Problems, Problem{
			Pos: d.Pos(), End: d.End(),
			What: fmt.Sprintf("//%s:%s is not in its place", Tool, d.Name), Why: s.why, Fix: s.fix,
		})
		return
	}
	parsed, problem := parse(d, form, s.place)
	if problem != nil {
		r.out.Problems = append(r.out.Problems, *problem)
		return
	}
	r.add(s, parsed)
}

// add puts a directive where it belongs. Comments come in the order of the file, so
// types and lines do.
func (r *reader) add(s seat, d Directive) {
	last := len(r.out.Types) - 1
	if last < 0 || r.out.Types[last].Spec != s.spec {
		r.out.Types = append(r.out.Types, &Type{Decl: s.decl, Spec: s.spec})
		last++
	}
	t := r.out.Types[last]
	if s.field == nil {
		t.Directives = append(t.Directives, d)
		return
	}
	if n := len(t.Lines); n == 0 || t.Lines[n-1].Field != s.field {
		t.Lines = append(t.Lines, &Line{Field: s.field})
	}
	line := t.Lines[len(t.Lines)-1]
	line.Directives = append(line.Directives, d)
}

// conflicts finds directives that say the same twice, or contradict each other.
func (r *reader) conflicts(t *Type) {
	for _, line := range append([]*Line{{Directives: t.Directives}}, t.Lines...) {
		for i, d := range line.Directives {
			for _, earlier := range line.Directives[:i] {
				if p, clash := clash(earlier, d); clash {
					r.out.Problems = append(r.out.Problems, p)
				}
			}
		}
	}
}

// exclusive lists the verbs that leave nothing for the others on a method to say.
var exclusive = map[Verb][]Verb{
	Skip:   {Idempotent, Timeout, Op, Stream, Error},
	Stream: {Idempotent, Timeout, Error},
}

func clash(earlier, d Directive) (Problem, bool) {
	p := Problem{Pos: d.Pos, End: d.End, Fix: "keep one of them"}
	if earlier.Verb == d.Verb {
		p.What = fmt.Sprintf("//%s:%s stands here twice", Tool, d.Verb)
		p.Why = "one of them would do nothing"
		return p, len(d.Methods) == 0 || d.Verb == From
	}
	if d.Place != OnMethod {
		return p, false
	}
	for _, pair := range [][2]Directive{{earlier, d}, {d, earlier}} {
		for _, other := range exclusive[pair[0].Verb] {
			if other != pair[1].Verb {
				continue
			}
			p.Pos, p.End = pair[1].Pos, pair[1].End
			p.What = fmt.Sprintf("//%s:%s contradicts //%s:%s", Tool, pair[1].Verb, Tool, pair[0].Verb)
			p.Why = "a method that is not guarded has nothing else to say"
			if pair[0].Verb == Stream {
				p.Why = "a stream is opened once, with the caller's own context: it is neither repeated nor cut"
			}
			return p, true
		}
	}
	return p, false
}

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
	return found
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
	iface, ok := spec.Type.(*ast.InterfaceType)
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
	switch expr.(type) {
	case *ast.StructType:
		return "a struct"
	case *ast.FuncType:
		return "a function type"
	case *ast.MapType, *ast.ArrayType, *ast.ChanType, *ast.StarExpr:
		return "no interface"
	}
	return ""
}
