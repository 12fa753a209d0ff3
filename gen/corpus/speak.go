package main

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// unspeakable says why another module cannot write a type down; "" if it can. It goes as deep as the type's text does.
func unspeakable(t types.Type) string {
	switch t := t.(type) {
	case *types.Named:
		return cmp.Or(unnameable(t.Obj()), firstOf(t.TypeArgs().Types(), unspeakable))
	case *types.Alias:
		if unnameable(t.Obj()) != "" {
			return unspeakable(t.Rhs())
		}
		return firstOf(t.TypeArgs().Types(), unspeakable)
	case *types.Map:
		return cmp.Or(unspeakable(t.Key()), unspeakable(t.Elem()))
	case *types.Signature:
		return cmp.Or(unspeakable(t.Params()), unspeakable(t.Results()))
	case *types.Tuple:
		return firstOf(t.Variables(), func(v *types.Var) string { return unspeakable(v.Type()) })
	case *types.Struct:
		return firstOf(t.Fields(), unspeakableField)
	case *types.Interface:
		return cmp.Or(firstOf(t.ExplicitMethods(), unspeakableMethod), firstOf(t.EmbeddedTypes(), unspeakable))
	case *types.Union:
		return firstOf(t.Terms(), func(term *types.Term) string { return unspeakable(term.Type()) })
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return unspeakable(t.Elem())
	}
	return ""
}

func unspeakableField(v *types.Var) string {
	if !v.Exported() {
		return fmt.Sprintf("struct without a name whose field %s belongs to package %s", v.Name(), v.Pkg().Path())
	}
	return unspeakable(v.Type())
}

func unspeakableMethod(m *types.Func) string {
	if !m.Exported() {
		return fmt.Sprintf("interface without a name whose method %s belongs to package %s", m.Name(), m.Pkg().Path())
	}
	return unspeakable(m.Signature())
}

// unnameable says why a declared type cannot be named, as the generator would.
func unnameable(object *types.TypeName) string {
	switch {
	case object.Pkg() == nil || object.Pkg() == types.Unsafe:
		return ""
	case slices.Contains(strings.Split(object.Pkg().Path(), "/"), "internal"):
		return fmt.Sprintf("%s.%s, which package", object.Pkg().Path(), object.Name())
	case !object.Exported():
		return fmt.Sprintf("%s.%s, which is not exported", object.Pkg().Path(), object.Name())
	}
	return ""
}

// firstOf is the first answer that is not empty.
func firstOf[T any](all func(func(T) bool), ask func(T) string) string {
	for item := range all {
		if answer := ask(item); answer != "" {
			return answer
		}
	}
	return ""
}
