package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// narrowSuffix is what the interface that //resilient:from makes is called, after the one
// that the directive stands on.
const narrowSuffix = "Methods"

// fromType makes a target of some methods of a type, which need not be an interface.
//
// A generated file cannot add methods to an interface that is declared elsewhere, so it
// declares one, XMethods for X. X may embed it; then the wrapper is an X.
func (f *finder) fromType(t *target, from *directive.Directive) bool {
	refuse := func(why, fix string) bool {
		f.problems.add(f.position(from.Pos), "cannot wrap "+t.object.Name(), why, fix)
		return false
	}
	if pointed, isPointer := strings.CutPrefix(from.Name, "*"); isPointer {
		return refuse("//resilient:from takes the name of a type, not of a pointer", "write "+pointed+"; its pointer's methods count as well")
	}
	name := t.object.Name() + narrowSuffix
	embeds, ok := emptyBut(t.decl.Spec, name)
	if !ok {
		return refuse("//resilient:from needs an interface without methods and type parameters of its own", "empty it; it may embed "+name+", which is generated")
	}
	dot := strings.LastIndex(from.Name, ".")
	pkg, missing := f.packageFor(t, from.Name[:dot])
	if missing {
		f.extra = append(f.extra, from.Name[:dot])
		return refuse("there is no package "+from.Name[:dot]+" among what its module requires", "import the package, or write its import path in full")
	}
	object, _ := pkg.Scope().Lookup(from.Name[dot+1:]).(*types.TypeName)
	if object == nil || !object.Exported() && pkg != t.pkg.Types {
		return refuse("package "+pkg.Path()+" has no exported type "+from.Name[dot+1:], "name one of its types")
	}
	if n, isNamed := object.Type().(*types.Named); isNamed && n.TypeParams().Len() > 0 {
		return refuse(from.Name+" is generic", "declare the interface by hand")
	}
	var funcs []*types.Func
	for _, methodName := range from.Methods {
		found, _, _ := types.LookupFieldOrMethod(object.Type(), true, pkg, methodName)
		method, isMethod := found.(*types.Func)
		if !isMethod || !method.Exported() {
			return refuse(from.Name+" has no exported method "+methodName, "name its methods")
		}
		s := method.Signature()
		funcs = append(funcs, types.NewFunc(method.Pos(), method.Pkg(), methodName, types.NewSignatureType(nil, nil, nil, s.Params(), s.Results(), s.Variadic())))
		f.narrowed(t, method)
	}
	slices.SortFunc(t.methods, func(a, b *method) int { return strings.Compare(a.name, b.name) })
	t.narrow = &narrow{name: name, base: t.object.Name(), of: pkg.Name() + "." + object.Name(), embedded: embeds}
	t.iface = types.NewInterfaceType(nil, nil).Complete() // as the analyzers see it
	if embeds {
		t.iface = types.NewInterfaceType(funcs, nil).Complete()
	}
	said := newMerger(f, t)
	for _, m := range t.methods {
		said.lists(m)
		said.settle(m, nil)
	}
	said.unused()
	t.print = fingerprint.OfType(t.iface, t.params, t.decl)
	return true
}

// narrowed adds one method.
func (f *finder) narrowed(t *target, declared *types.Func) {
	for _, m := range t.methods {
		if m.name == declared.Name() {
			return // named twice
		}
	}
	m := &method{name: declared.Name(), signature: declared.Signature(), pos: t.pos, declared: f.position(declared.Pos())}
	m.doc = f.places.function(declared)
	if pos, ok := f.marked.has(t.pkg, declared); ok {
		m.marked, m.markedAt = true, pos
	}
	t.methods = append(t.methods, m)
}

// emptyBut reports whether a type is an interface with nothing in it, or only the
// embedded one of that name.
func emptyBut(spec *ast.TypeSpec, name string) (embeds, ok bool) {
	iface, ok := ast.Unparen(spec.Type).(*ast.InterfaceType)
	if !ok || spec.TypeParams != nil || spec.Assign.IsValid() {
		return false, false
	}
	switch len(iface.Methods.List) {
	case 0:
		return false, true
	case 1:
		id, isName := iface.Methods.List[0].Type.(*ast.Ident)
		return true, isName && id.Name == name && len(iface.Methods.List[0].Names) == 0
	}
	return false, false
}

// packageFor finds a package by its import path, or by the name that the file gives
// it.
func (f *finder) packageFor(t *target, name string) (found *types.Package, missing bool) {
	if token.IsIdentifier(name) {
		if imported := importNamed(t, name); imported != nil {
			return imported, false
		}
	}
	if name == t.pkg.PkgPath || name == t.pkg.Name {
		return t.pkg.Types, false
	}
	for _, imported := range t.pkg.Types.Imports() {
		if imported.Path() == name {
			return imported, false
		}
	}
	if extra := f.loaded.extra[name]; extra != nil && extra.Types != nil && len(extra.GoFiles) > 0 {
		return extra.Types, false
	}
	return nil, true
}
