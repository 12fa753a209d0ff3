package gen

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"
)

// converter writes types down as the destination has to. It runs twice over
// everything: first to learn which packages are needed, then to print.
type converter struct {
	to      *destination
	imports *imports
	params  map[*types.TypeParam]string // what type parameters are called in the output
	aliases func(*types.TypeName) *types.TypeName

	// used are the identifiers that the types printed since it was set refer to.
	used taken
	// bad is the first type that cannot be written down.
	bad *refusal
}

func (c *converter) fail(fix, format string, a ...any) *jen.Statement {
	if c.bad == nil {
		c.bad = &refusal{why: fmt.Sprintf(format, a...), fix: fix}
	}
	return jen.Id("_")
}

// typ converts a type of any kind.
func (c *converter) typ(t types.Type) *jen.Statement {
	switch t := t.(type) {
	case *types.Basic:
		return c.basic(t)
	case *types.Alias:
		return c.alias(t)
	case *types.Named:
		return c.name(t.Obj(), t.TypeArgs(), t)
	case *types.TypeParam:
		name := t.Obj().Name()
		if renamed, ok := c.params[t]; ok {
			name = renamed
		}
		c.used.add(name)
		return jen.Id(name)
	case *types.Pointer:
		return jen.Op("*").Add(c.typ(t.Elem()))
	case *types.Slice:
		return jen.Index().Add(c.typ(t.Elem()))
	case *types.Array:
		return jen.Index(jen.Id(strconv.FormatInt(t.Len(), 10))).Add(c.typ(t.Elem()))
	case *types.Map:
		return jen.Map(c.typ(t.Key())).Add(c.typ(t.Elem()))
	case *types.Chan:
		return c.channel(t)
	case *types.Signature:
		return jen.Func().Add(c.signature(t))
	case *types.Struct:
		return c.structure(t)
	case *types.Interface:
		return c.iface(t)
	case *types.Union:
		return c.union(t)
	case *types.Tuple: // of a signature only, which signature() takes apart
		return jen.Params(c.tuple(t, false)...)
	}
	return c.fail("report this type to the authors of resilientgen", "it has a type of a kind that is not known here: %s", t)
}

func (c *converter) basic(t *types.Basic) *jen.Statement {
	switch {
	case t.Kind() == types.UnsafePointer:
		c.imports.types(types.Unsafe)
		return c.qualified("unsafe", "Pointer")
	case t.Kind() == types.Invalid || t.Info()&types.IsUntyped != 0:
		return c.fail("mend that first", "its signature holds a type that does not resolve")
	}
	return c.universal(t.Name())
}

// universal is a predeclared name, unless the destination uses the name for something
// else.
func (c *converter) universal(name string) *jen.Statement {
	if c.to.scope[name] {
		return c.fail("rename that declaration", "package %s declares %s itself, so that the predeclared type of that name cannot be written down there", c.to.name, name)
	}
	c.used.add(name)
	return jen.Id(name)
}

func (c *converter) alias(t *types.Alias) *jen.Statement {
	object := t.Obj()
	if object.Pkg() == nil {
		return c.universal(object.Name())
	}
	if c.nameable(object) {
		return c.name(object, t.TypeArgs(), t)
	}
	// An alias that the destination cannot name is written as what it stands for.
	return c.typ(t.Rhs())
}

// nameable reports whether the destination can use a type's own name.
func (c *converter) nameable(object *types.TypeName) bool {
	pkg := object.Pkg()
	return pkg == nil || pkg.Path() == c.to.path || object.Exported() && c.reachable(pkg)
}

func (c *converter) reachable(p *types.Package) bool {
	return c.to.mayImport(p.Path()) && p.Name() != "main"
}

// name writes a declared type.
func (c *converter) name(object *types.TypeName, args *types.TypeList, t types.Type) *jen.Statement {
	pkg := object.Pkg()
	switch {
	case pkg == nil:
		return c.universal(object.Name())
	case strings.HasPrefix(object.Name(), "_C"): // _Ctype_int and its like
		return c.fail("declare Go types and convert in the implementation", "its signature holds a type of package C, which cgo gives a name that no other file may use (%s)", object.Name())
	}
	var s *jen.Statement
	switch {
	case pkg.Path() == c.to.path:
		c.used.add(object.Name())
		s = jen.Id(object.Name())
	case object.Exported() && c.reachable(pkg):
		c.imports.types(pkg)
		s = c.qualified(pkg.Path(), object.Name())
	default:
		if public := c.aliases(object); public != nil && args.Len() == 0 {
			c.imports.types(public.Pkg())
			return c.qualified(public.Pkg().Path(), public.Name())
		}
		return c.unreachable(object)
	}
	if args.Len() > 0 {
		var list []jen.Code
		for arg := range args.Types() {
			list = append(list, c.typ(arg))
		}
		s = s.Types(list...)
	}
	return s
}

func (c *converter) unreachable(object *types.TypeName) *jen.Statement {
	pkg := object.Pkg()
	full := pkg.Path() + "." + object.Name()
	switch {
	case pkg.Name() == "main":
		return c.fail("write the wrapper into that package", "its signature holds %s, and package main cannot be imported", full)
	case !c.to.mayImport(pkg.Path()):
		return c.fail("write the wrapper into a package that may import it, or give it a public alias", "its signature holds %s, which package %s may not import", full, c.to.path)
	}
	return c.fail("leave the method out of the interface, or ask for the type to be exported", "its signature holds %s, which is not exported, so that package %s cannot name it", full, c.to.path)
}

func (c *converter) qualified(importPath, name string) *jen.Statement {
	alias := c.imports.alias[importPath]
	c.used.add(alias)
	return jen.Qual(importPath, name)
}

func (c *converter) channel(t *types.Chan) *jen.Statement {
	elem := c.typ(t.Elem())
	switch t.Dir() {
	case types.SendOnly:
		return jen.Chan().Op("<-").Add(elem)
	case types.RecvOnly:
		return jen.Op("<-").Chan().Add(elem)
	}
	if inner, ok := types.Unalias(t.Elem()).(*types.Chan); ok && inner.Dir() == types.RecvOnly {
		return jen.Chan().Parens(elem)
	}
	return jen.Chan().Add(elem)
}

func (c *converter) signature(t *types.Signature) *jen.Statement {
	s := jen.Params(c.tuple(t.Params(), t.Variadic())...)
	return s.Add(c.results(t.Results()))
}

// results is what follows the parameters.
func (c *converter) results(t *types.Tuple) *jen.Statement {
	list := c.tuple(t, false)
	switch len(list) {
	case 0:
		return jen.Null()
	case 1:
		return jen.Add(list[0])
	}
	return jen.Params(list...)
}

func (c *converter) tuple(t *types.Tuple, variadic bool) []jen.Code {
	var list []jen.Code
	for i := range t.Len() {
		list = append(list, c.parameter(t.At(i).Type(), variadic && i == t.Len()-1))
	}
	return list
}

// parameter is the type of one, with the dots of the last one of a variadic function.
func (c *converter) parameter(t types.Type, variadic bool) *jen.Statement {
	if s, ok := t.(*types.Slice); ok && variadic {
		return jen.Op("...").Add(c.typ(s.Elem()))
	}
	return c.typ(t)
}

func (c *converter) structure(t *types.Struct) *jen.Statement {
	var fields []jen.Code
	for i := range t.NumFields() {
		field := t.Field(i)
		if !field.Exported() && field.Pkg() != nil && field.Pkg().Path() != c.to.path {
			return c.fail("give the struct a name, or write the wrapper into that package", "its signature holds a struct without a name whose field %s belongs to package %s", field.Name(), field.Pkg().Path())
		}
		s := jen.Null()
		switch {
		case !field.Embedded():
			s = jen.Id(field.Name())
		case c.embeddedAs(field.Type()) != field.Name():
			return c.fail("give the struct a name, or write the wrapper into a package that may name what it embeds",
				"its signature holds a struct without a name that embeds %s, whose name package %s cannot use: the field would have another", field.Name(), c.to.path)
		}
		s = s.Add(c.typ(field.Type()))
		if tag := t.Tag(i); tag != "" {
			s = s.Id(quoted(tag))
		}
		fields = append(fields, s)
	}
	return jen.Struct(fields...)
}

// embeddedAs is the name that a field without one of its own has once its type is written
// down: that of the type, or of what had to be written in its place.
func (c *converter) embeddedAs(t types.Type) string {
	switch t := t.(type) {
	case *types.Pointer:
		return c.embeddedAs(t.Elem())
	case *types.Alias:
		if !c.nameable(t.Obj()) {
			return c.embeddedAs(t.Rhs())
		}
		return t.Obj().Name()
	case *types.Named:
		if c.nameable(t.Obj()) {
			return t.Obj().Name()
		}
		if public := c.aliases(t.Obj()); public != nil {
			return public.Name()
		}
		return t.Obj().Name() // which is refused where it is written
	case *types.Basic:
		return t.Name()
	}
	return ""
}

func quoted(tag string) string {
	if strconv.CanBackquote(tag) {
		return "`" + tag + "`"
	}
	return strconv.Quote(tag)
}

func (c *converter) iface(t *types.Interface) *jen.Statement {
	var list []jen.Code
	for e := range t.EmbeddedTypes() {
		list = append(list, c.typ(e))
	}
	for m := range t.ExplicitMethods() {
		if !m.Exported() && m.Pkg() != nil && m.Pkg().Path() != c.to.path {
			return c.fail("give the interface a name", "its signature holds an interface without a name whose method %s belongs to package %s", m.Name(), m.Pkg().Path())
		}
		list = append(list, jen.Id(m.Name()).Add(c.signature(m.Signature())))
	}
	return jen.Interface(list...)
}

func (c *converter) union(t *types.Union) *jen.Statement {
	s := jen.Null()
	for i := range t.Len() {
		if i > 0 {
			s = s.Op("|")
		}
		if t.Term(i).Tilde() {
			s = s.Op("~")
		}
		s = s.Add(c.typ(t.Term(i).Type()))
	}
	return s
}

// constraint writes a type parameter's constraint. An interface that the source left
// out ([T ~int | ~string]) stays out, unless what remains could be read as an array's
// length.
func (c *converter) constraint(t types.Type) *jen.Statement {
	iface, ok := t.(*types.Interface)
	if !ok || !iface.IsImplicit() || iface.NumEmbeddeds() != 1 {
		return c.typ(t)
	}
	if union, ok := iface.EmbeddedType(0).(*types.Union); ok && union.Term(0).Tilde() {
		return c.union(union)
	}
	return c.iface(iface)
}

// typeParams writes the list of a declaration, and the names alone for a use.
func (c *converter) typeParams(list *types.TypeParamList) (declaration, use []jen.Code) {
	for p := range list.TypeParams() {
		name := c.params[p]
		declaration = append(declaration, jen.Id(name).Add(c.constraint(p.Constraint())))
		use = append(use, jen.Id(name))
	}
	return declaration, use
}

// nameParams decides what type parameters are called: as in the source, unless the
// name is blank or hides a predeclared one that the signatures need.
func nameParams(list *types.TypeParamList, scope taken) map[*types.TypeParam]string {
	names, used := map[*types.TypeParam]string{}, predeclared()
	for p := range list.TypeParams() {
		if name := p.Obj().Name(); name != "_" && !used[name] {
			names[p] = name
			used.add(name)
		}
	}
	used.addAll(scope)
	for p := range list.TypeParams() {
		if names[p] != "" {
			continue
		}
		base := p.Obj().Name()
		if base == "_" {
			base = "T"
		}
		names[p] = used.renamed(base)
		used.add(names[p])
	}
	return names
}
