package fingerprint

import (
	"cmp"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// writer writes types in a form that does not depend on how they were loaded: package paths in full, no names of
// parameters, methods and embedded types in the order of their text.
type writer struct{ strings.Builder }

func (w *writer) put(parts ...string) {
	for _, part := range parts {
		w.WriteString(part) // never fails
	}
}

func (w *writer) typ(t types.Type) {
	switch t := t.(type) {
	case *types.Basic:
		w.put(t.Name())
	case *types.Pointer:
		w.put("*")
		w.typ(t.Elem())
	case *types.Slice:
		w.put("[]")
		w.typ(t.Elem())
	case *types.Array:
		w.put("[", strconv.FormatInt(t.Len(), 10), "]")
		w.typ(t.Elem())
	case *types.Map:
		w.put("map[")
		w.typ(t.Key())
		w.put("]")
		w.typ(t.Elem())
	case *types.Chan:
		w.put([...]string{types.SendRecv: "chan(", types.SendOnly: "chan<-(", types.RecvOnly: "<-chan("}[t.Dir()])
		w.typ(t.Elem())
		w.put(")")
	case *types.Signature:
		w.put("func")
		w.signature(t)
	case *types.Struct:
		w.structure(t)
	case *types.Interface:
		w.iface(t)
	case *types.Union:
		w.union(t)
	case *types.TypeParam:
		w.put(t.Obj().Name())
	case *types.Named:
		w.name(t.Obj())
		w.args(t.TypeArgs())
	case *types.Alias: // whether a name is an alias is no matter, and not every loader knows
		w.typ(types.Unalias(t))
	case *types.Tuple:
		w.tuple(t, false)
	}
}

// name writes a type's name with its package. A package that is compiled together with its tests has the same name.
func (w *writer) name(name *types.TypeName) {
	if pkg := name.Pkg(); pkg != nil {
		path, _, _ := strings.Cut(pkg.Path(), " ")
		w.put(path, ".")
	}
	w.put(name.Name())
}

func (w *writer) args(list *types.TypeList) {
	if list.Len() == 0 {
		return
	}
	w.put("[")
	for arg := range list.Types() {
		w.typ(arg)
		w.put(",")
	}
	w.put("]")
}

func (w *writer) signature(s *types.Signature) {
	w.tuple(s.Params(), s.Variadic())
	w.tuple(s.Results(), false)
}

func (w *writer) tuple(t *types.Tuple, variadic bool) {
	w.put("(")
	for v := range t.Variables() {
		w.typ(v.Type())
		w.put(",")
	}
	if variadic {
		w.put("...")
	}
	w.put(")")
}

func (w *writer) structure(s *types.Struct) {
	w.put("struct{")
	for i := range s.NumFields() {
		field := s.Field(i)
		if field.Embedded() {
			w.put("embedded ")
		}
		w.put(field.Name(), " ")
		w.typ(field.Type())
		w.put(strconv.Quote(s.Tag(i)), ";")
	}
	w.put("}")
}

// iface writes an interface by what it comes to, so that a method counts the same whether it is embedded or written out.
func (w *writer) iface(t *types.Interface) {
	w.put("interface")
	w.methods(t)
	if !t.IsMethodSet() {
		w.put("{")
		if t.IsComparable() {
			w.put("comparable;")
		}
		for _, text := range sorted(t.EmbeddedTypes(), (*writer).typ) {
			w.put(text, ";")
		}
		w.put("}")
	}
}

func (w *writer) methods(t *types.Interface) {
	w.put("{")
	for _, text := range sorted(t.Methods(), (*writer).method) {
		w.put("\n\t", text)
	}
	w.put("}")
}

func (w *writer) method(m *types.Func) {
	w.put(m.Id())
	w.signature(m.Signature())
}

func (w *writer) union(t *types.Union) {
	for _, text := range sorted(t.Terms(), (*writer).term) {
		w.put("|", text)
	}
}

func (w *writer) term(t *types.Term) {
	if t.Tilde() {
		w.put("~")
	}
	w.typ(t.Type())
}

// sorted returns the texts of the elements in their own order.
func sorted[T any](elements func(yield func(T) bool), write func(*writer, T)) []string {
	var texts []string
	for element := range elements {
		one := &writer{}
		write(one, element)
		texts = append(texts, one.String())
	}
	slices.SortFunc(texts, cmp.Compare[string])
	return texts
}
