package gen

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// merger gathers what is said about the methods of one target: at the methods, on the
// types that they come from, and in lists on the target itself.
type merger struct {
	*finder
	target *target
	named  map[string]bool // the methods that lists on the target have named and that exist
	// inherited are the places of embedded types whose directives //resilient:inherit took.
	inherited map[token.Position]bool
}

func newMerger(f *finder, t *target) *merger {
	return &merger{finder: f, target: t, named: map[string]bool{}, inherited: map[token.Position]bool{}}
}

// origin is one declaration that a method comes from. Overlapping embeds have several.
type origin struct {
	method  *types.Func
	owners  []types.Type // the named types on the way to it, the outermost first
	inherit bool         // //resilient:inherit vouches for it
	line    token.Position
}

// origins returns the declarations of a method.
func (g *merger) origins(name string) []origin {
	t := g.target
	own := t.object.Type()
	iface, ok := ast.Unparen(t.decl.Spec.Type).(*ast.InterfaceType)
	if !ok {
		inherit := t.decl.Has(directive.Inherit)
		start := origin{owners: []types.Type{own}, inherit: inherit, line: t.pos}
		return walk(t.pkg.TypesInfo.TypeOf(t.decl.Spec.Type), name, start)
	}
	var found []origin
	for _, field := range iface.Methods.List {
		start := origin{owners: []types.Type{own}, line: g.position(field.Pos())}
		if len(field.Names) == 0 {
			start.inherit = g.inherits(field)
			found = append(found, walk(t.pkg.TypesInfo.TypeOf(field.Type), name, start)...)
			continue
		}
		for _, id := range field.Names {
			if f, ok := t.pkg.TypesInfo.Defs[id].(*types.Func); ok && id.Name == name {
				start.method, start.line = f, g.position(id.Pos())
				found = append(found, start)
			}
		}
	}
	return found
}

func (g *merger) inherits(field *ast.Field) bool {
	for _, line := range g.target.decl.Lines {
		if line.Field == field {
			return directive.Find(line.Directives, directive.Inherit) != nil
		}
	}
	return false
}

// walk finds a method in an interface and in what it embeds.
func walk(t types.Type, name string, o origin) []origin {
	if t == nil {
		return nil
	}
	iface, ok := t.Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		o.owners = append(slices.Clip(o.owners), n)
	}
	var found []origin
	for m := range iface.ExplicitMethods() {
		if m.Name() == name {
			o.method = m
			found = append(found, o)
		}
	}
	for e := range iface.EmbeddedTypes() {
		found = append(found, walk(e, name, o)...)
	}
	return found
}

// method fills in what is said about one method.
func (g *merger) method(out *method, m *types.Func) {
	var first []directive.Directive
	var firstAt token.Position
	var silent []token.Position // copies that could say something, and do not
	settled := g.decides(m.Name())
	for i, o := range g.origins(m.Name()) {
		if i == 0 {
			out.pos = o.line
		}
		g.mark(out, o.method)
		doc, said, at, counts := g.at(o)
		if out.doc == "" {
			out.doc = doc
		}
		if len(said) == 0 {
			if counts {
				silent = append(silent, at)
			}
			continue
		}
		if o.inherit {
			g.inherited[o.line] = true
		}
		if first == nil {
			first, firstAt = said, at
			settled = settled || len(o.owners) == 1 // the interface's own word
			continue
		}
		if texts(first) != texts(said) {
			g.problems.add(out.pos, "the declarations of "+g.target.object.Name()+"."+m.Name()+" carry different directives",
				fmt.Sprintf("%s says %s, and %s says %s", g.short(firstAt), texts(first), g.short(at), texts(said)), "let them say the same")
		}
	}
	for _, d := range first {
		out.says.take(d, firstAt)
	}
	g.lists(out)
	if len(silent) > 0 && directive.Find(first, directive.Idempotent) != nil && !settled && !out.marked {
		g.problems.add(out.pos, "the declarations of "+g.target.object.Name()+"."+m.Name()+" carry different directives",
			fmt.Sprintf("%s says %s, and %s says nothing, which is not to be repeated", g.short(firstAt), texts(first), g.short(silent[0])),
			"let them say the same, or say on "+g.target.object.Name()+" what holds: //resilient:idempotent "+m.Name())
	}
	g.settle(out, m)
}

// decides reports whether a list on the target says if a method may be repeated.
func (g *merger) decides(name string) bool {
	return slices.ContainsFunc(g.target.decl.Directives, func(d directive.Directive) bool {
		return (d.Verb == directive.Idempotent || d.Verb == directive.Skip || d.Verb == directive.Stream) && slices.Contains(d.Methods, name)
	})
}

// settle adds what is said elsewhere than in directives: by MarkIdempotent, and by the
// code of a protocol.
func (g *merger) settle(out *method, m *types.Func) {
	if out.marked && out.says.skip {
		g.problems.add(out.markedAt, "MarkIdempotent contradicts //resilient:skip about "+g.target.object.Name()+"."+out.name,
			g.short(out.says.from)+" says that the method is not guarded", "keep one of them")
	}
	if out.marked && !out.says.skip {
		out.says.idempotent, out.says.asks, out.says.soft = true, true, false
		if !out.says.from.IsValid() {
			out.says.from = out.markedAt
		}
	}
	if m != nil && !out.says.asks && !out.says.skip && g.declaredIdempotent(m) {
		out.says.idempotent, out.says.asks, out.says.soft = true, true, true
	}
}

func (g *merger) mark(out *method, declared *types.Func) {
	if pos, ok := g.marked.has(g.target.pkg, declared); ok {
		out.marked, out.markedAt = true, pos
	}
}

// at returns the comment of an origin, the directives there that count, and whether any
// would.
func (g *merger) at(o origin) (doc string, said []directive.Directive, at token.Position, counts bool) {
	pos := g.position(o.method.Pos())
	doc, lines, file := g.places.method(o.method)
	counts = file != nil && g.counts(o, file.path)
	if counts {
		said = lines
	}
	for _, owner := range o.owners[1:] {
		n, ok := owner.(*types.Named)
		if !ok {
			continue
		}
		onType, typeFile := g.places.typ(n.Obj())
		if typeFile == nil || !g.counts(o, typeFile.path) {
			continue
		}
		for _, d := range onType {
			if slices.Contains(d.Methods, o.method.Name()) && directive.Find(said, d.Verb) == nil {
				said = append(slices.Clip(said), d)
			}
		}
	}
	if len(said) > 0 && file != nil {
		pos = file.fset.Position(said[0].Pos)
	}
	return doc, said, pos, counts
}

func (g *merger) counts(o origin, file string) bool {
	return o.inherit || file == g.target.source || g.places.sameModule(g.target.pkg, file)
}

// lists takes what the target's own directives say of the method by its name. They
// win over what it brings along: a method that cannot be annotated is put right here.
func (g *merger) lists(out *method) {
	for _, d := range g.target.decl.Directives {
		pos := g.position(d.Pos)
		if d.Verb == directive.Error && out.says.accessor == "" {
			out.says.accessor, out.says.construct = d.Name, d.New
		}
		if d.Verb == directive.From || !slices.Contains(d.Methods, out.name) {
			continue
		}
		g.named[out.name] = true
		switch {
		case d.Verb == directive.Skip, d.Verb == directive.Stream:
			out.says = says{accessor: out.says.accessor, construct: out.says.construct}
		case out.says.skip:
			g.againstSkip(out, d, pos)
		}
		out.says.take(d, pos)
	}
}

// againstSkip refuses a list that asks for more than nothing of a method that is skipped
// where it comes from. Both cannot hold, and neither is the safe one: the method may have
// to stay unguarded, or somebody counts on its being repeated.
func (g *merger) againstSkip(out *method, d directive.Directive, pos token.Position) {
	g.problems.add(pos, fmt.Sprintf("//resilient:%s contradicts //resilient:skip about %s", d.Text, out.name),
		g.short(out.says.from)+" says that the method is not guarded", "take "+out.name+" out of the list, or the skip away")
}

// unused reports names in lists that are no methods.
func (g *merger) unused() {
	for _, d := range g.target.decl.Directives {
		for _, name := range d.Methods {
			if !g.named[name] && d.Verb != directive.From {
				g.problems.add(g.position(d.Pos), fmt.Sprintf("//resilient:%s names %s", d.Verb, name),
					g.target.object.Name()+" has no such method", "name one of its methods")
			}
		}
	}
}

// idle mentions each //resilient:inherit that found nothing to take.
func (g *merger) idle() {
	mention := func(list []directive.Directive, from ast.Expr, at token.Position) {
		if d := directive.Find(list, directive.Inherit); d != nil && !g.inherited[at] {
			g.notes.add(g.position(d.Pos), "//resilient:inherit does nothing", "no method of "+types.ExprString(from)+" has a directive to take",
				"say what holds for its methods on "+g.target.object.Name()+", such as //resilient:idempotent Get,List")
		}
	}
	for _, line := range g.target.decl.Lines {
		mention(line.Directives, line.Field.Type, g.position(line.Field.Pos()))
	}
	if _, ok := ast.Unparen(g.target.decl.Spec.Type).(*ast.InterfaceType); !ok {
		mention(g.target.decl.Directives, g.target.decl.Spec.Type, g.target.pos)
	}
}

// take adds one directive.
func (s *says) take(d directive.Directive, pos token.Position) {
	if !s.from.IsValid() {
		s.from = pos
	}
	s.asks = s.asks || d.Verb != directive.Skip
	switch d.Verb {
	case directive.Idempotent:
		s.idempotent = true
		s.rewind = s.rewind || d.Rewind
	case directive.Timeout:
		s.total, s.attempt = d.Total, d.Attempt
	case directive.Op:
		s.byHand = true
	case directive.Stream:
		s.stream = true
	case directive.Skip:
		s.skip = true
	case directive.Error:
		s.accessor, s.construct, s.ownAccessor = d.Name, d.New, true
	}
	if d.Verb == directive.Op && d.Name != "" {
		s.op = d.Name
	}
	if d.Context != "" {
		s.context = d.Context
	}
	if d.ErrorResult != 0 {
		s.errorNr = d.ErrorResult
	}
}

// texts is what directives say, in an order of their own.
func texts(list []directive.Directive) string {
	var all []string
	for _, d := range list {
		all = append(all, d.Text)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// short is a position as messages show it.
func (f *finder) short(pos token.Position) string {
	ps := problems{dir: f.problems.dir}
	ps.add(pos, "", "", "")
	return ps.list[0].Pos.String()
}
