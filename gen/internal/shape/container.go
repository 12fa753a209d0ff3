package shape

import "go/types"

// nesting is how many containers in one another are looked through. A type can contain
// itself: type Tree []Tree.
const nesting = 8

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

// exportedFields are those of a struct, or of a pointer to one, with those that a field
// without a name promotes.
func exportedFields(t types.Type) func(yield func(*types.Var) bool) {
	return func(yield func(*types.Var) bool) { promoted(t, 3, yield) }
}

func promoted(t types.Type, depth int, yield func(*types.Var) bool) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for field := range s.Fields() {
		switch {
		case field.Exported():
			if !yield(field) {
				return false
			}
		case field.Embedded() && depth > 0:
			if !promoted(field.Type(), depth-1, yield) {
				return false
			}
		}
	}
	return true
}
