package gen

import (
	"go/types"
	"slices"
)

func isInvalid(t types.Type) bool {
	b, ok := t.(*types.Basic)
	return ok && b.Kind() == types.Invalid
}

// hasInvalid reports whether a type that did not resolve is part of t, as far as its
// text goes: what a named type is made of is no concern of a wrapper.
func hasInvalid(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Alias:
		return anyInvalid(t.TypeArgs()) || isInvalid(types.Unalias(t))
	case *types.Named:
		return anyInvalid(t.TypeArgs())
	case *types.Signature:
		return hasInvalid(t.Params()) || hasInvalid(t.Results())
	case *types.Map:
		return hasInvalid(t.Key()) || hasInvalid(t.Elem())
	case *types.Tuple, *types.Struct, *types.Interface, *types.Union:
		return slices.ContainsFunc(parts(t), hasInvalid)
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return hasInvalid(t.Elem())
	}
	return false
}

// parts are the types that a type without a name is made of.
func parts(t types.Type) []types.Type {
	var list []types.Type
	switch t := t.(type) {
	case *types.Tuple:
		for v := range t.Variables() {
			list = append(list, v.Type())
		}
	case *types.Struct:
		for field := range t.Fields() {
			list = append(list, field.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			list = append(list, m.Signature())
		}
		list = slices.AppendSeq(list, t.EmbeddedTypes())
	case *types.Union:
		for term := range t.Terms() {
			list = append(list, term.Type())
		}
	}
	return list
}

func anyInvalid(list *types.TypeList) bool {
	return slices.ContainsFunc(slices.Collect(list.Types()), hasInvalid)
}
