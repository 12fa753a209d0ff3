package shape

import (
	"go/types"
	"slices"
)

// nesting is how many containers in one another are looked through. A type can contain
// itself: type Tree []Tree.
const nesting = 8

// visits remembers what has been looked at, and how far: types that refer to one another
// have more ways through them than anybody can wait for.
type visits map[visit]bool

type visit struct {
	t                  types.Type
	fields, containers int
}

func (v visits) before(t types.Type, fields, containers int) bool {
	at := visit{t, fields, containers}
	if v[at] {
		return true
	}
	v[at] = true
	return false
}

// terms are the types that a type parameter's constraint lists, of which each argument is
// one or has one for its underlying type. There are none of other types.
func terms(t types.Type) []types.Type {
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return nil
	}
	return listed(p.Constraint(), nesting)
}

func listed(t types.Type, depth int) []types.Type {
	iface, ok := t.Underlying().(*types.Interface)
	if !ok || depth == 0 {
		return nil
	}
	var found []types.Type
	for embedded := range iface.EmbeddedTypes() {
		union, ok := types.Unalias(embedded).(*types.Union)
		if !ok {
			union = types.NewUnion([]*types.Term{types.NewTerm(false, embedded)})
		}
		for term := range union.Terms() {
			if types.IsInterface(term.Type()) {
				found = append(found, listed(term.Type(), depth-1)...)
			} else {
				found = append(found, term.Type())
			}
		}
	}
	return found
}

// AnyTerm reports whether something holds for a type, or for one of those that a type
// parameter stands for.
func AnyTerm(t types.Type, holds func(types.Type) bool) bool {
	return holds(t) || slices.ContainsFunc(terms(t), holds)
}

// element is what a slice, an array or a map holds, nil of other types.
func element(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		return t.Elem()
	}
	return nil
}

// contained is the element of a container, and what a pointer points to, but for a
// struct, whose fields are looked at through its pointer too.
func contained(t types.Type) types.Type {
	if elem := element(t); elem != nil {
		return elem
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	if _, isStruct := p.Elem().Underlying().(*types.Struct); isStruct {
		return nil
	}
	return p.Elem()
}

// exportedFields are those of a struct, or of a pointer to one, with those that a field
// without a name promotes.
func exportedFields(t types.Type) func(yield func(*types.Var) bool) {
	return func(yield func(*types.Var) bool) { promoted(t, 3, visits{}, yield) }
}

func promoted(t types.Type, depth int, seen visits, yield func(*types.Var) bool) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || seen.before(t, depth, 0) {
		return true
	}
	for field := range s.Fields() {
		switch {
		case field.Exported():
			if !yield(field) {
				return false
			}
		case field.Embedded() && depth > 0:
			if !promoted(field.Type(), depth-1, seen, yield) {
				return false
			}
		}
	}
	return true
}
