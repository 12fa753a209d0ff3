package gen

import "github.com/dave/jennifer/jen"

// prepare is what comes before a guarded call: the place that readers are rewound to.
// It returns the op too, which is not repeated if a request turns out to have a body
// that cannot be had again.
func (b *body) prepare() (before []jen.Code, op *jen.Statement) {
	op = jen.Id(b.opsName).Dot(b.m.name)
	if len(b.attempts) > 0 {
		before, op = append(before, jen.Id(b.aux["op"]).Op(":=").Add(op)), jen.Id(b.aux["op"])
	}
	for _, i := range b.m.verdict.rewind {
		p := b.params[i]
		if b.attempts[i] != "" {
			before = append(before,
				jen.If(b.present(i).Add(jen.Id(p).Dot("Body").Op("!=").Nil().Op("&&").Id(p).Dot("Body").Op("!=").Qual("net/http", "NoBody"))).Block(
					jen.If(jen.Id(p).Dot("GetBody").Op("!=").Nil()).Block(
						jen.Defer().Id(p).Dot("Body").Dot("Close").Call().Comment("each attempt is given another"),
					).Else().Block(
						jen.Id(b.aux["op"]).Op("=").Add(b.wrapper.op(b.m, false)).Comment("the body cannot be had again"),
					),
				))
			continue
		}
		seek := jen.Id(p).Dot("Seek").Call(jen.Lit(0), jen.Qual("io", "SeekCurrent"))
		failed := jen.Id(b.err).Op("!=").Nil()
		begun := jen.List(jen.Id(b.starts[i]), jen.Id(b.err))
		if !nilable(b.m.signature.Params().At(i).Type()) {
			before = append(before, begun.Op(":=").Add(seek), jen.If(failed).Block(b.failed(b.err)...))
			continue
		}
		before = append(before,
			jen.Var().Id(b.starts[i]).Int64(),
			jen.If(jen.Id(p).Op("!=").Nil()).Block(
				jen.Var().Id(b.err).Error(),
				jen.If(begun.Op("=").Add(seek), failed).Block(b.failed(b.err)...),
			))
	}
	return before, op
}

// present begins a condition with a request's being there: what one that is nil comes to
// is for the next implementation to say.
func (b *body) present(i int) *jen.Statement {
	return jen.Id(b.params[i]).Op("!=").Nil().Op("&&")
}

// failed returns zero values and an error from the method.
func (b *body) failed(err string) []jen.Code {
	var list []jen.Code
	for _, i := range b.valueIndexes() {
		list = append(list, jen.Var().Id(b.values[i]).Add(b.convert.typ(b.resultType(i))))
	}
	back := make([]jen.Code, len(b.values))
	for i, name := range b.values {
		back[i] = jen.Id(name)
		if i == b.m.verdict.err {
			back[i] = jen.Id(err)
		}
	}
	return append(list, jen.Return(back...))
}

// rewind is what comes before each attempt. It puts what an attempt is given in place
// of a request.
func (b *body) rewind(values []int, replace map[int]jen.Code) []jen.Code {
	var list []jen.Code
	for _, i := range b.m.verdict.rewind {
		p := b.params[i]
		if b.attempts[i] == "" {
			seek := jen.If(
				jen.List(jen.Id("_"), jen.Id(b.err)).Op(":=").Id(p).Dot("Seek").Call(jen.Id(b.starts[i]), jen.Qual("io", "SeekStart")),
				jen.Id(b.err).Op("!=").Nil(),
			).Block(b.permanent(values)...)
			if nilable(b.m.signature.Params().At(i).Type()) {
				seek = jen.If(jen.Id(p).Op("!=").Nil()).Block(seek)
			}
			list = append(list, seek)
			continue
		}
		attempt, body := b.attempts[i], b.aux["body"]
		made := jen.Id(p).Dot("WithContext").Call(jen.Id(p).Dot("Context").Call())
		if r, ok := replace[i]; ok {
			made = jen.Add(r)
		}
		again := jen.If(b.present(i).Add(jen.Id(p).Dot("GetBody").Op("!=").Nil())).Block(
			jen.List(jen.Id(body), jen.Id(b.err)).Op(":=").Id(p).Dot("GetBody").Call(),
			jen.If(jen.Id(b.err).Op("!=").Nil()).Block(b.permanent(values)...),
			jen.Id(attempt).Dot("Body").Op("=").Id(body),
		)
		if _, ok := replace[i]; ok {
			list = append(list, jen.Id(attempt).Op(":=").Add(made), again)
		} else {
			list = append(list, jen.Id(attempt).Op(":=").Id(p), jen.If(jen.Id(p).Op("!=").Nil()).Block(
				jen.Id(attempt).Op("=").Add(made)), again)
		}
		replace[i] = jen.Id(attempt)
	}
	return list
}

// permanent ends the call from within an attempt: what cannot be rewound now cannot
// be rewound later.
func (b *body) permanent(values []int) []jen.Code {
	err := jen.Qual(runtimePath, "Permanent").Call(jen.Id(b.err))
	if len(values) == 0 {
		return []jen.Code{jen.Return(err)}
	}
	zero := jen.Var().Id(b.aux["zero"])
	if len(values) == 1 {
		zero = zero.Add(b.convert.typ(b.resultType(values[0])))
	} else {
		zero = zero.Id(b.results)
	}
	return []jen.Code{zero, jen.Return(jen.Id(b.aux["zero"]), err)}
}
