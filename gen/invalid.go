package gen

import "go/types"

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
	case *types.Tuple:
		for v := range t.Variables() {
			if hasInvalid(v.Type()) {
				return true
			}
		}
	case *types.Map:
		return hasInvalid(t.Key()) || hasInvalid(t.Elem())
	case *types.Struct:
		for field := range t.Fields() {
			if hasInvalid(field.Type()) {
				return true
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if hasInvalid(m.Signature()) {
				return true
			}
		}
		for e := range t.EmbeddedTypes() {
			if hasInvalid(e) {
				return true
			}
		}
	case *types.Union:
		for term := range t.Terms() {
			if hasInvalid(term.Type()) {
				return true
			}
		}
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return hasInvalid(t.Elem())
	}
	return false
}

func anyInvalid(list *types.TypeList) bool {
	for t := range list.Types() {
		if hasInvalid(t) {
			return true
		}
	}
	return false
}
