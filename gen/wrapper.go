package gen

import (
	"strconv"

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
	w.printAssertion(f)
	w.printConstructor(f)
	for _, m := range w.methods {
		w.printMethod(f, m)
	}
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

// taken are the names that a function beside the wrapper finds taken.
func (w *wrapper) taken() taken {
	used := predeclared()
	used.addAll(w.output.to.scope)
	for _, alias := range w.output.imports.alias {
		used.add(alias)
	}
	for _, name := range w.convert.params {
		used.add(name)
	}
	return used
}

func (w *wrapper) printConstructor(f *jen.File) {
	declaration, _ := w.convert.typeParams(w.params)
	used := w.taken()
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

// printAssertion comes before all that fails to compile once the interface has changed:
// the compiler's first message has the name of the alias in it, and so what to do. The
// assignment is for methods that were added or changed; that there is nothing to forward
// to any more shows only where a method is named.
func (w *wrapper) printAssertion(f *jen.File) {
	declaration, _ := w.convert.typeParams(w.params)
	used := w.taken()
	stale := used.fresh("staleRunGoGenerate")
	assert := jen.Func().Id("_")
	if len(declaration) > 0 {
		assert = assert.Types(declaration...)
	}
	statements := []jen.Code{
		jen.Type().Id(stale).Op("=").Add(w.ifaceType()),
		jen.Var().Id("_").Id(stale).Op("=").Parens(jen.Op("*").Add(w.self())).Parens(jen.Nil()),
	}
	for _, m := range w.forwardedTo() {
		statements = append(statements, jen.Id("_").Op("=").Id(stale).Dot(m.name))
	}
	f.Line()
	f.Add(assert.Params().Block(statements...))
}

// forwardedTo are the methods that the interface could lose behind the wrapper's back. One
// that is printed beside the wrapper is as old as the wrapper.
func (w *wrapper) forwardedTo() []*method {
	if w.narrow != nil && !w.narrow.embedded {
		return nil
	}
	return w.methods
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
