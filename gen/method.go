package gen

import (
	"go/types"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// body prints one method. All of its names are decided when it is made.
type body struct {
	*wrapper
	m       *method
	params  []string
	inner   string // the context of an attempt
	value   string
	err     string
	results string
	values  []string // the results in the order of the signature
	aux     map[string]string
	starts  map[int]string // where readers began
	// attempts are the requests, of those among the parameters, that an attempt is given.
	attempts map[int]string
}

func (w *wrapper) printMethod(f *jen.File, m *method) {
	b := &body{wrapper: w, m: m}
	b.names()
	f.Line()
	for _, line := range b.doc() {
		f.Add(line)
	}
	f.Func().Params(jen.Id(w.receiver).Op("*").Add(w.self())).Id(m.name).
		Params(b.parameters()...).Add(w.convert.results(m.signature.Results())).Block(b.statements()...)
}

// doc is the method's own comment, and what becomes of it.
func (b *body) doc() []jen.Code {
	var list []jen.Code
	if b.m.doc != "" {
		list = append(comments(b.m.doc), jen.Comment("//"))
	}
	var text string
	switch v := b.m.verdict; v.kind {
	case forwarded:
		text = "Forwarded: " + v.why + "."
	case stream:
		text = "Only its opening is guarded: " + v.why + "."
	default:
		text = "Guarded, and made once."
		if v.idempotent {
			text = "Guarded, and repeated after a failure."
			if b.m.signature.Variadic() {
				text += " All attempts share the slice of the last argument."
			}
		}
	}
	return append(list, comments(text)...)
}

// names decides the name of every parameter and local. A parameter keeps its own
// unless the body needs it for something else.
func (b *body) names() {
	used := taken{}
	used.add(b.receiver)
	for _, name := range b.convert.params {
		used.add(name) // a type parameter and a parameter are in one scope
	}
	b.mentions(used)
	own := b.m.signature.Params()
	b.params = make([]string, own.Len())
	for i := range own.Len() {
		if name := own.At(i).Name(); name != "" && name != "_" {
			b.params[i] = used.renamed(name)
			used.add(b.params[i])
		}
	}
	for i := range own.Len() {
		if b.params[i] != "" {
			continue
		}
		name := "p" + strconv.Itoa(i)
		if i == b.m.verdict.ctx.param && !b.m.verdict.ctx.request && !used["ctx"] {
			name = "ctx"
		}
		b.params[i] = used.renamed(name)
		used.add(b.params[i])
	}
	b.locals(used)
}

// mentions adds what the body refers to besides its parameters.
func (b *body) mentions(used taken) {
	v := b.m.verdict
	if v.kind == forwarded {
		return
	}
	c := b.convert
	c.used = used
	c.results(b.m.signature.Results())
	for _, t := range v.fill.targs {
		c.typ(t)
	}
	alias := b.output.imports.alias
	used.add("error", "nil", "new", b.opsName, alias[runtimePath])
	if v.kind == guarded || v.ctx.param < 0 {
		used.add(alias["context"])
	}
	if f := v.fill.construct; f != nil {
		used.add(f.Name(), alias[f.Pkg().Path()])
	}
	for _, i := range v.rewind {
		if shape.IsRequest(b.m.signature.Params().At(i).Type()) {
			used.add(alias["net/http"], "byte", "int")
			continue
		}
		used.add(alias["io"], "int64")
	}
	c.used = taken{}
}

func (b *body) locals(used taken) {
	// The attempt's context may hide the caller's, whose place it takes, and nothing else.
	b.inner = "ctx"
	if use := b.m.verdict.ctx; used["ctx"] && (!b.usesInner() || use.request || b.params[use.param] != "ctx") {
		b.inner = used.fresh("ctx2")
	}
	used.add(b.inner)
	local := func(name string) string {
		name = used.fresh(name)
		used.add(name)
		return name
	}
	b.err, b.value, b.results = local("err"), local("v"), local("results")
	results := b.m.signature.Results()
	for i := range results.Len() {
		switch {
		case i == b.m.verdict.err:
			b.values = append(b.values, b.err)
		default:
			b.values = append(b.values, local("v"+strconv.Itoa(i)))
		}
	}
	b.starts, b.attempts = map[int]string{}, map[int]string{}
	for _, i := range b.m.verdict.rewind {
		if shape.IsRequest(b.m.signature.Params().At(i).Type()) {
			b.attempts[i] = local("attempt")
		} else {
			b.starts[i] = local("start")
		}
	}
	b.aux = map[string]string{}
	for _, name := range []string{"permit", "body", "op", "zero"} {
		b.aux[name] = local(name)
	}
}

func (b *body) parameters() []jen.Code {
	own := b.m.signature.Params()
	list := make([]jen.Code, own.Len())
	for i := range own.Len() {
		list[i] = jen.Id(b.params[i]).Add(b.convert.parameter(own.At(i).Type(), b.m.signature.Variadic() && i == own.Len()-1))
	}
	return list
}

// call calls the method of the next implementation; replace stands in for parameters.
func (b *body) call(replace map[int]jen.Code) *jen.Statement {
	own := b.m.signature.Params()
	args := make([]jen.Code, own.Len())
	for i := range own.Len() {
		s := jen.Id(b.params[i])
		if b.m.signature.Variadic() && i == own.Len()-1 {
			s = s.Op("...")
		}
		args[i] = s
		if r, ok := replace[i]; ok {
			args[i] = r
		}
	}
	return jen.Id(b.receiver).Dot(b.next).Dot(b.m.name).Call(args...)
}

func (b *body) statements() []jen.Code {
	switch b.m.verdict.kind {
	case guarded:
		return b.guarded()
	case stream:
		return b.stream()
	}
	if b.m.signature.Results().Len() == 0 {
		return []jen.Code{b.call(nil)}
	}
	return []jen.Code{jen.Return(b.call(nil))}
}

// outerContext is the caller's context.
func (b *body) outerContext() *jen.Statement {
	switch use := b.m.verdict.ctx; {
	case use.param < 0:
		return jen.Qual("context", "Background").Call()
	case use.request:
		return jen.Qual(runtimePath, "ContextOf").Call(jen.Id(b.params[use.param]))
	default:
		return jen.Id(b.params[use.param])
	}
}

// valueIndexes are the results that are not the error.
func (b *body) valueIndexes() []int {
	var list []int
	for i := range b.m.signature.Results().Len() {
		if i != b.m.verdict.err {
			list = append(list, i)
		}
	}
	return list
}

func (b *body) resultType(i int) types.Type { return b.m.signature.Results().At(i).Type() }

func ids(names []string) []jen.Code {
	list := make([]jen.Code, len(names))
	for i, name := range names {
		list[i] = jen.Id(name)
	}
	return list
}
