package gen

import (
	"go/types"

	"github.com/dave/jennifer/jen"
)

// guarded makes the call through Execute, or Do where there is no result but the
// error. Several results travel in a struct: nothing outside of the function is
// assigned from within it.
func (b *body) guarded() []jen.Code {
	values := b.valueIndexes()
	before, op := b.prepare()
	call := func(entry string, results *jen.Statement) *jen.Statement {
		inner := jen.Qual("context", "Context")
		if b.usesInner() {
			inner = jen.Id(b.inner).Add(inner)
		}
		return jen.Qual(runtimePath, entry).Call(b.outerContext(), jen.Id(b.receiver).Dot(b.guard), op,
			jen.Func().Params(inner).Add(results).Block(b.attempt(values)...))
	}
	withError := func(t jen.Code) *jen.Statement { return jen.Params(t, jen.Error()) }
	switch {
	case b.m.verdict.accessor != "":
		made := call("Execute", withError(b.convert.typ(b.resultType(0))))
		return append(append(before, jen.List(jen.Id(b.value), jen.Id(b.err)).Op(":=").Add(made)), b.filled()...)
	case len(values) == 0:
		return append(before, jen.Return(call("Do", jen.Error())))
	case len(values) == 1:
		made := call("Execute", withError(b.convert.typ(b.resultType(values[0]))))
		if b.m.verdict.err == 1 {
			return append(before, jen.Return(made))
		}
		return append(before,
			jen.List(jen.Id(b.value), jen.Id(b.err)).Op(":=").Add(made),
			jen.Return(jen.Id(b.err), jen.Id(b.value)))
	}
	var fields, back []jen.Code
	for _, i := range values {
		fields = append(fields, jen.Id(field(i)).Add(b.convert.typ(b.resultType(i))))
	}
	for i := range b.m.signature.Results().Len() {
		if i == b.m.verdict.err {
			back = append(back, jen.Id(b.err))
			continue
		}
		back = append(back, jen.Id(b.value).Dot(field(i)))
	}
	return append(before,
		jen.Type().Id(b.results).Struct(fields...),
		jen.List(jen.Id(b.value), jen.Id(b.err)).Op(":=").Add(call("Execute", withError(jen.Id(b.results)))),
		jen.Return(back...))
}

func field(i int) string { return "v" + string(rune('0'+i%10)) + suffix(i/10) }

func suffix(n int) string {
	if n == 0 {
		return ""
	}
	return "_" + string(rune('0'+n%10)) + suffix(n/10)
}

// usesInner reports whether an attempt is given its own context.
func (b *body) usesInner() bool {
	use := b.m.verdict.ctx
	return use.param >= 0 && !use.original
}

// attempt is the function that the guard runs.
func (b *body) attempt(values []int) []jen.Code {
	replace := map[int]jen.Code{}
	if use := b.m.verdict.ctx; b.usesInner() {
		replace[use.param] = jen.Id(b.inner)
		if use.request {
			replace[use.param] = jen.Qual(runtimePath, "WithContext").Call(jen.Id(b.inner), jen.Id(b.params[use.param]))
		}
	}
	list := b.rewind(values, replace)
	call := b.call(replace)
	switch {
	case b.m.verdict.accessor != "":
		list = append(list, jen.Id(b.value).Op(":=").Add(call))
		if dereferenced(b.resultType(0)) {
			list = append(list, jen.If(jen.Id(b.value).Op("==").Nil()).Block(jen.Return(jen.Id(b.value), jen.Nil())))
		}
		return append(list, jen.Return(jen.Id(b.value), jen.Id(b.value).Dot(b.m.verdict.accessor).Call()))
	case len(values) == 0, len(values) == 1 && b.m.verdict.err == 1:
		return append(list, jen.Return(call))
	case len(values) == 1:
		return append(list,
			jen.List(ids(b.values)...).Op(":=").Add(call),
			jen.Return(jen.Id(b.values[values[0]]), jen.Id(b.err)))
	}
	var carried []jen.Code
	for _, i := range values {
		carried = append(carried, jen.Id(b.values[i]))
	}
	return append(list,
		jen.List(ids(b.values)...).Op(":=").Add(call),
		jen.Return(jen.Id(b.results).Values(carried...), jen.Id(b.err)))
}

// filled makes a rejection into a result, where the error stands behind an accessor.
// What an attempt returned is kept: it may hold more than its error.
func (b *body) filled() []jen.Code {
	t := b.resultType(0)
	fill := b.m.verdict.fill
	made := jen.Id(b.value).Op("=").Add(b.constructed(fill))
	none := jen.Id(b.err).Op("!=").Nil()
	if fill.setErr {
		elem := types.Unalias(t).(*types.Pointer).Elem()
		return []jen.Code{
			jen.If(none).Block(
				jen.If(jen.Id(b.value).Op("==").Nil()).Block(jen.Id(b.value).Op("=").New(b.convert.typ(elem))),
				jen.Id(b.value).Dot("SetErr").Call(jen.Id(b.err)),
			),
			jen.Return(jen.Id(b.value)),
		}
	}
	if nilable(t) {
		none = none.Op("&&").Id(b.value).Op("==").Nil()
	}
	return []jen.Code{jen.If(none).Block(made), jen.Return(jen.Id(b.value))}
}

func (b *body) constructed(fill fill) *jen.Statement {
	f := fill.construct
	if f == nil {
		return jen.Null()
	}
	s := jen.Qual(f.Pkg().Path(), f.Name())
	if len(fill.targs) > 0 {
		var list []jen.Code
		for _, t := range fill.targs {
			list = append(list, b.convert.typ(t))
		}
		s = s.Types(list...)
	}
	if fill.context {
		return s.Call(b.outerContext(), jen.Id(b.err))
	}
	return s.Call(jen.Id(b.err))
}

// dereferenced reports whether a method of a nil one would most likely panic.
func dereferenced(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface:
		return true
	}
	return false
}

func nilable(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Interface, *types.Map, *types.Slice, *types.Chan, *types.Signature:
		return true
	}
	return false
}
