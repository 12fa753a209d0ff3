package gen

import (
	"go/token"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// wrapper prints what belongs to one target.
type wrapper struct {
	*target
	output  *output
	convert *converter

	typeName    string // the struct
	opsName     string // the ops of its methods
	constructor string
	embedName   string // the alias under which the interface is embedded, if it has to be
	next, guard string // the struct's fields
	receiver    string
}

// survey converts all the types, to find the packages and what cannot be written.
func (w *wrapper) survey(ps *problems) bool {
	c := w.convert
	before := len(ps.list)
	w.ifaceType()
	c.typeParams(w.params)
	w.refused(ps, w.pos, w.object.Name())
	for _, m := range w.methods {
		c.signature(m.signature)
		for _, t := range m.verdict.fill.targs {
			c.typ(t)
		}
		w.refused(ps, m.pos, w.object.Name()+"."+m.name)
		switch {
		case m.verdict.kind == guarded, m.verdict.kind == stream && m.verdict.ctx.param < 0:
			w.output.imports.need("context", "context")
		}
		if m.says.total > 0 || m.says.attempt > 0 {
			w.output.imports.need("time", "time")
		}
		for _, i := range m.verdict.rewind {
			if isRequest(m.signature.Params().At(i).Type()) {
				w.output.imports.need("net/http", "http")
			} else {
				w.output.imports.need("io", "io")
			}
		}
		if f := m.verdict.fill.construct; f != nil && f.Pkg().Path() != w.output.to.path {
			w.output.imports.types(f.Pkg())
		}
	}
	return len(ps.list) == before
}

func (w *wrapper) refused(ps *problems, pos token.Position, what string) {
	if bad := w.convert.bad; bad != nil {
		ps.add(pos, "cannot wrap "+what, bad.why, bad.fix)
		w.convert.bad = nil
	}
}

// nameTypes names what the file declares for the package, and the struct's fields.
func (w *wrapper) nameTypes(ps *problems, reserved taken) {
	name := w.object.Name()
	if w.narrow != nil {
		name = w.narrow.base
	}
	upper := capital(name)
	w.constructor = "newResilient" + upper
	if token.IsExported(name) {
		w.constructor = "NewResilient" + upper
	}
	if w.narrow != nil {
		if reserved[w.narrow.name] {
			ps.add(w.pos, "cannot wrap "+name, "package "+w.output.to.name+" declares "+w.narrow.name+" already", "rename that declaration")
		}
		reserved.add(w.narrow.name)
	}
	if reserved[w.constructor] {
		ps.add(w.pos, "cannot wrap "+name, "package "+w.output.to.name+" declares "+w.constructor+" already", "rename that declaration")
	}
	w.typeName = reserved.renamed("resilient" + upper)
	reserved.add(w.typeName, w.constructor)
	w.opsName = reserved.renamed(w.typeName + "Ops")
	reserved.add(w.opsName)
	methods := taken{}
	for _, m := range w.methods {
		methods.add(m.name)
	}
	if w.sealed {
		w.embedName = reserved.renamed(w.typeName + "Next")
		reserved.add(w.embedName)
		methods.add(w.embedName)
	}
	w.next = methods.fresh("next")
	methods.add(w.next)
	w.guard = methods.fresh("guard")
	if w.sealed {
		w.next = w.embedName
	}
}

func capital(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

// ifaceType is the interface, with the type parameters as arguments.
func (w *wrapper) ifaceType() *jen.Statement {
	if w.narrow != nil && !w.narrow.embedded {
		w.convert.used.add(w.narrow.name)
		return jen.Id(w.narrow.name)
	}
	c := w.convert
	_, use := c.typeParams(w.params)
	var s *jen.Statement
	if pkg := w.object.Pkg(); pkg.Path() == w.output.to.path {
		s = jen.Id(w.object.Name())
	} else {
		if !w.object.Exported() || !c.reachable(pkg) {
			return c.unreachable(w.object)
		}
		c.imports.types(pkg)
		s = c.qualified(pkg.Path(), w.object.Name())
	}
	if len(use) > 0 {
		s = s.Types(use...)
	}
	return s
}

// self is the wrapper's type with its type arguments.
func (w *wrapper) self() *jen.Statement {
	_, use := w.convert.typeParams(w.params)
	s := jen.Id(w.typeName)
	if len(use) > 0 {
		s = s.Types(use...)
	}
	return s
}

func (w *wrapper) print(f *jen.File) {
	w.nameReceiver()
	w.printNarrow(f)
	w.printOps(f)
	w.printType(f)
	w.printConstructor(f)
	w.printAssertion(f)
	for _, m := range w.methods {
		w.printMethod(f, m)
	}
}

// nameReceiver chooses one name for all methods, which none of them needs for
// anything else.
func (w *wrapper) nameReceiver() {
	used := predeclared()
	used.addAll(w.output.to.scope)
	used.add(w.typeName, w.opsName, w.constructor)
	for _, name := range w.convert.params {
		used.add(name)
	}
	for _, alias := range w.output.imports.alias {
		used.add(alias)
	}
	for _, m := range w.methods {
		for p := range m.signature.Params().Variables() {
			used.add(p.Name())
		}
	}
	w.receiver = used.fresh("r")
}

func (w *wrapper) printOps(f *jen.File) {
	var fields, values []jen.Code
	for _, m := range w.methods {
		if m.verdict.kind != guarded {
			continue
		}
		fields = append(fields, jen.Id(m.name))
		values = append(values, jen.Id(m.name).Op(":").Add(w.op(m, m.verdict.idempotent)))
	}
	if len(fields) == 0 {
		w.opsName = ""
		return
	}
	f.Line()
	f.Comment("// " + w.opsName + " says of each method what it is called and whether it may be repeated.")
	f.Var().Id(w.opsName).Op("=").Struct(jen.List(fields...).Qual(runtimePath, "Op")).Custom(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, values...)
}

// op makes a method's op.
func (w *wrapper) op(m *method, idempotent bool) *jen.Statement {
	maker := "NonIdempotent"
	if idempotent {
		maker = "Idempotent"
	}
	s := jen.Qual(runtimePath, maker).Call(jen.Lit(m.verdict.op))
	if m.says.total > 0 {
		s = s.Dot("WithTotalTimeout").Call(duration(m.says.total))
	}
	if m.says.attempt > 0 {
		s = s.Dot("WithAttemptTimeout").Call(duration(m.says.attempt))
	}
	return s
}

// duration writes a duration in the largest unit that fits.
func duration(d time.Duration) *jen.Statement {
	unit, name := time.Nanosecond, "Nanosecond"
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Microsecond, "Microsecond"}, {time.Millisecond, "Millisecond"}, {time.Second, "Second"}, {time.Minute, "Minute"}} {
		if d%u.unit == 0 {
			unit, name = u.unit, u.name
		}
	}
	if d == unit {
		return jen.Qual("time", name)
	}
	return jen.Id(strconv.FormatInt(int64(d/unit), 10)).Op("*").Qual("time", name)
}

func (w *wrapper) printType(f *jen.File) {
	declaration, use := w.convert.typeParams(w.params)
	named := jen.Id(w.typeName)
	if len(declaration) > 0 {
		named = named.Types(declaration...)
	}
	f.Line()
	if w.sealed {
		f.Comment("// " + w.embedName + " is embedded, because only its package can implement all of its methods. Methods that")
		f.Comment("// are added to it pass through unguarded until go generate has run.")
		alias := jen.Id(w.embedName)
		if len(declaration) > 0 {
			alias = alias.Types(declaration...)
		}
		f.Type().Add(alias).Op("=").Add(w.ifaceType())
		f.Line()
	}
	f.Comment("// " + w.typeName + " is the guarded " + w.ifaceName() + ".")
	f.Comment("//")
	f.Comment(fingerprint.Line(w.fingerprintName(), w.target.print))
	next := jen.Id(w.next).Add(w.ifaceType())
	if w.sealed {
		next = jen.Id(w.embedName)
		if len(use) > 0 {
			next = next.Types(use...)
		}
	}
	f.Type().Add(named).Struct(next, jen.Id(w.guard).Op("*").Qual(runtimePath, "Guard"))
}

func (w *wrapper) fingerprintName() string {
	if w.object.Pkg().Path() == w.output.to.path {
		return w.object.Name()
	}
	return w.object.Pkg().Path() + "." + w.object.Name()
}

func (w *wrapper) ifaceName() string {
	if w.narrow != nil && !w.narrow.embedded {
		return w.narrow.name
	}
	return w.object.Name()
}

func (w *wrapper) printConstructor(f *jen.File) {
	declaration, _ := w.convert.typeParams(w.params)
	used := predeclared()
	used.addAll(w.output.to.scope)
	for _, alias := range w.output.imports.alias {
		used.add(alias)
	}
	for _, name := range w.convert.params {
		used.add(name)
	}
	used.add(w.typeName)
	next, guards, r := used.fresh("next"), used.fresh("guards"), w.receiver
	name := jen.Id(w.constructor)
	if len(declaration) > 0 {
		name = name.Types(declaration...)
	}
	f.Line()
	f.Comment("// " + w.constructor + " returns next with the guard of " + strconv.Quote(w.service) + " round every method that can fail.")
	f.Comment("// Without guards, those methods return resilient.ErrNilGuard.")
	f.Func().Add(name).Params(
		jen.Id(next).Add(w.ifaceType()),
		jen.Id(guards).Qual(runtimePath, "Guards"),
	).Add(w.ifaceType()).Block(
		jen.Id(r).Op(":=").Op("&").Add(w.self()).Values(jen.Dict{jen.Id(w.next): jen.Id(next)}),
		jen.If(jen.Id(guards).Op("!=").Nil()).Block(
			jen.Id(r).Dot(w.guard).Op("=").Id(guards).Dot("Guard").Call(jen.Lit(w.service)),
		),
		jen.Return(jen.Id(r)),
	)
}

func (w *wrapper) printAssertion(f *jen.File) {
	declaration, _ := w.convert.typeParams(w.params)
	assert := jen.Var().Id("_").Add(w.ifaceType()).Op("=").Parens(jen.Op("*").Add(w.self())).Parens(jen.Nil())
	f.Line()
	if len(declaration) == 0 {
		f.Add(assert)
		return
	}
	f.Func().Id("_").Types(declaration...).Params().Block(assert)
}

// printNarrow declares the interface of //resilient:from.
func (w *wrapper) printNarrow(f *jen.File) {
	if w.narrow == nil {
		return
	}
	var list []jen.Code
	for _, m := range w.methods {
		list = append(list, jen.Id(m.name).Add(w.convert.signature(m.signature)))
	}
	f.Line()
	f.Comment("// " + w.narrow.name + " is what " + w.narrow.of + " is used for.")
	f.Type().Id(w.narrow.name).Interface(list...)
}
