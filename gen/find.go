package gen

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// finder collects the targets of loaded packages.
type finder struct {
	config    *Config
	loaded    *loaded
	problems  *problems
	notes     *problems
	places    *places
	marked    marks
	protocols map[string]map[string]bool
	extra     []string // packages that //resilient:from names and that are not loaded
	invalid   bool     // a signature holds a type that does not resolve
}

// find returns the targets of all packages, each with its methods and what is said of
// them.
func (f *finder) find() []*target {
	f.marked = findMarks(f.loaded, f.problems)
	var found []*target
	for _, pkg := range f.loaded.packages {
		for i, file := range pkg.Syntax {
			if i >= len(pkg.CompiledGoFiles) { // no file without its name
				break
			}
			found = append(found, f.inFile(pkg, file)...)
		}
	}
	f.marked.unused(f.notes)
	inFunctions(f.loaded, f.notes)
	return found
}

func (f *finder) inFile(pkg *packages.Package, file *ast.File) []*target {
	read := directive.Read(file)
	for _, p := range read.Problems {
		f.problems.addDirective(f.loaded.fset, p)
	}
	if len(read.Problems) > 0 {
		return nil
	}
	var found []*target
	for _, decl := range read.Types {
		service := directive.Find(decl.Directives, directive.Service)
		if service == nil {
			f.withoutService(decl)
			continue
		}
		object, ok := pkg.TypesInfo.Defs[decl.Spec.Name].(*types.TypeName)
		if !ok {
			continue // a type error has been reported
		}
		t := &target{
			pkg: pkg, file: file, decl: decl, object: object, service: service.Name,
			pos: f.loaded.fset.Position(decl.Spec.Name.Pos()),
		}
		t.source = pathOf(f.loaded.fset, pkg, file)
		if f.fill(t) {
			found = append(found, t)
		}
	}
	return found
}

// withoutService reports directives of the interface itself that nothing reads when
// it is not wrapped. Those on its methods may be read by others that embed it.
func (f *finder) withoutService(decl *directive.Type) {
	for _, d := range decl.Directives {
		f.problems.add(f.loaded.fset.Position(d.Pos), "//resilient:"+string(d.Verb)+" does nothing",
			decl.Spec.Name.Name+" has no //resilient:service NAME, so no wrapper is written for it", "add it, or take this one away")
		return
	}
}

// fill finds a target's methods.
func (f *finder) fill(t *target) bool {
	refuse := func(why, fix string) bool {
		f.problems.add(t.pos, "cannot wrap "+t.object.Name(), why, fix)
		return false
	}
	if from := directive.Find(t.decl.Directives, directive.From); from != nil {
		return f.fromType(t, from)
	}
	if t.object.Name() == "_" {
		return refuse("it has no name that the wrapper could refer to", "give it one")
	}
	typ := t.object.Type()
	switch typ := typ.(type) {
	case *types.Alias:
		t.params = typ.TypeParams()
	case *types.Named:
		t.params = typ.TypeParams()
	}
	iface, ok := typ.Underlying().(*types.Interface)
	switch {
	case isInvalid(typ.Underlying()):
		f.invalid = true
		return refuse("its type does not resolve"+f.typeError(t), "mend that first")
	case !ok:
		return refuse("it is no interface", "only interfaces are wrapped; declare one with the methods that are used, or use //resilient:from on an empty one")
	case !iface.IsMethodSet():
		return refuse("it is a constraint; it has no values to wrap", "wrap an interface that has methods only")
	case iface.NumMethods() == 0:
		return refuse("it has no methods", "add some, or name those of a type with //resilient:from pkg.Type Method,…")
	}
	t.iface = iface
	f.methods(t, iface)
	return true
}

// methods fills in the methods of a target, in the order of their names.
func (f *finder) methods(t *target, iface *types.Interface) {
	said := newMerger(f, t)
	for i := range iface.NumMethods() {
		m := iface.Method(i)
		if !m.Exported() && m.Pkg() != nil && (m.Pkg().Path() != t.pkg.PkgPath || f.elsewhere(t)) {
			t.sealed = true
			continue
		}
		found := &method{name: m.Name(), signature: m.Signature(), pos: t.pos, declared: f.loaded.fset.Position(m.Pos())}
		if hasInvalid(m.Signature()) {
			f.invalid = true
			f.problems.add(f.loaded.fset.Position(m.Pos()), "cannot wrap "+t.object.Name()+"."+m.Name(),
				"its signature holds a type that does not resolve"+f.typeError(t), f.mend(t))
			continue
		}
		said.method(found, m)
		t.methods = append(t.methods, found)
	}
	said.unused()
	said.idle()
	t.print = fingerprint.OfType(t.iface, t.params, t.decl)
}

// elsewhere reports whether the wrapper of a target goes into another package than its
// own.
func (f *finder) elsewhere(t *target) bool {
	if f.config.Out == "" {
		return false
	}
	return filepath.Dir(outPath(f.config)) != filepath.Dir(t.source)
}

// mend is what to do about a type that does not resolve. One that is generated is not
// there yet in a first run, but the interface that it is made for is.
func (f *finder) mend(t *target) string {
	for _, file := range t.pkg.Syntax {
		for _, decl := range directive.Read(file).Types {
			name := decl.Spec.Name.Name
			if !decl.Has(directive.From) || !slices.ContainsFunc(t.pkg.Errors, func(e packages.Error) bool { return e.Msg == "undefined: "+name+narrowSuffix }) {
				continue
			}
			return name + narrowSuffix + " is generated: let " + name + ", the interface with //resilient:from, embed it, and use " + name
		}
	}
	return "mend that first"
}

// typeError is the first type error of a target's package, for a message.
func (f *finder) typeError(t *target) string {
	errs := slices.Clone(t.pkg.Errors)
	for _, e := range errs {
		if e.Kind == packages.TypeError || e.Kind == packages.ParseError {
			return " (" + filepath.Base(e.Pos) + ": " + e.Msg + ")"
		}
	}
	return ""
}

func (f *finder) position(pos token.Pos) token.Position { return f.loaded.fset.Position(pos) }

// constructFor finds the functions that directives of a target name.
func (f *finder) constructFor(t *target) func(string, types.Type) (fill, *refusal) {
	return func(name string, result types.Type) (fill, *refusal) { return f.fillFor(t, name, result) }
}
