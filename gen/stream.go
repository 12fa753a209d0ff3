package gen

import "github.com/dave/jennifer/jen"

// stream guards the opening: a permit is held while it is opened, and settled with how
// that ended. There is one attempt, with the caller's own context, for what is handed
// out lives on when the call has returned.
func (b *body) stream() []jen.Code {
	permit := b.aux["permit"]
	values := b.valueIndexes()
	refused := []jen.Code{}
	back := make([]jen.Code, b.m.signature.Results().Len())
	for _, i := range values {
		refused = append(refused, jen.Var().Id(b.values[i]).Add(b.convert.typ(b.resultType(i))))
	}
	for i := range back {
		back[i] = jen.Id(b.values[i])
	}
	return []jen.Code{
		jen.List(jen.Id(permit), jen.Id(b.err)).Op(":=").Id(b.receiver).Dot(b.guard).Dot("Acquire").Call(b.outerContext()),
		jen.If(jen.Id(b.err).Op("!=").Nil()).Block(append(refused, jen.Return(back...))...),
		// A permit counts once: this is for an opening that panics.
		jen.Defer().Id(permit).Dot("Settle").Call(jen.Op("&").Qual(runtimePath, "PanicError").Values(jen.Dict{
			jen.Id("Value"): jen.Lit("the call did not return"),
		})),
		b.assign().Add(b.call(nil)),
		jen.Id(permit).Dot("Settle").Call(jen.Id(b.err)),
		jen.Return(back...),
	}
}

// assign takes the results; the error's name is in use already.
func (b *body) assign() *jen.Statement {
	if len(b.values) == 1 {
		return jen.Id(b.err).Op("=")
	}
	return jen.List(ids(b.values)...).Op(":=")
}
