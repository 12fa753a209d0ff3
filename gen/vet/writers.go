package vet

import (
	"go/ast"
	"go/types"
	"slices"
)

// writer is a method of a service interface that is guarded and not annotated idempotent.
type writer struct {
	Method string // with its interface; "" for anything else, and where we are not sure
	Way    way
}

// writerCalled returns the writer that an expression names, be it by a variable that holds the method.
func writerCalled(info *types.Info, d *definitions, known map[types.Object]*service, e ast.Expr) writer {
	sel, ok := d.resolve(info, e).(*ast.SelectorExpr)
	if !ok {
		return writer{}
	}
	through := receiver(info, sel)
	if through == nil {
		return writer{}
	}
	name := sel.Sel.Name
	found := behind(func(obj types.Object) *service { return known[obj] }, through, name)
	if found.service == nil || !slices.Contains(found.service.Writers, name) {
		return writer{}
	}
	return writer{Method: found.name + "." + name, Way: wayOf(info.Selections[sel].Obj())}
}

// receiver returns the type that a selected method is called through, also by way of an embedded field; nil if it is no
// method.
func receiver(info *types.Info, sel *ast.SelectorExpr) types.Type {
	selection := info.Selections[sel]
	if selection == nil || selection.Kind() == types.FieldVal {
		return nil
	}
	through := selection.Recv()
	index := selection.Index()
	for _, i := range index[:len(index)-1] {
		structure, ok := deref(through).Underlying().(*types.Struct)
		if !ok {
			return nil
		}
		through = structure.Field(i).Type()
	}
	return through
}

// found is a service, and what the type is called that has it.
type found struct {
	name    string
	service *service
}

// behind returns the service that has a method when it is called through a type: the type's own, or else that of an
// interface that it embeds. Of several, one by which the method may be repeated.
func behind(read func(types.Object) *service, t types.Type, method string) (best found) {
	if param, ok := types.Unalias(t).(*types.TypeParam); ok {
		t = param.Constraint()
	}
	for obj := nameOf(t); obj != nil; obj = nameOf(t) {
		if s := read(obj); s != nil {
			return found{obj.Name(), s}
		}
		alias, ok := t.(*types.Alias)
		if !ok {
			break
		}
		t = alias.Rhs()
	}
	iface, ok := t.Underlying().(*types.Interface)
	if !ok {
		return found{}
	}
	for embedded := range iface.EmbeddedTypes() {
		if !hasMethods(embedded, method) {
			continue
		}
		if one := behind(read, embedded, method); one.service != nil {
			best = one
			if !slices.Contains(one.service.Writers, method) {
				return best
			}
		}
	}
	return best
}

// serviceNamed returns what is said about a type, be it an instance of a generic one; nil if it is no service.
func serviceNamed(known map[types.Object]*service, t types.Type) *service {
	for {
		if s := known[nameOf(t)]; s != nil {
			return s
		}
		alias, ok := t.(*types.Alias)
		if !ok {
			return nil
		}
		t = alias.Rhs()
	}
}

func methodOf(iface *types.Interface, name string) *types.Func {
	for method := range iface.Methods() {
		if method.Name() == name {
			return method
		}
	}
	return nil
}
