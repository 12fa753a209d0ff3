package vet

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// service is what the directives of an interface come to. It is a fact about the interface's name: packages that import
// it see no comments. What we are not sure of is in none of the lists.
type service struct {
	Name        string // "" if it has directives for others that embed it, and no wrapper of its own
	Fingerprint string // "" if it cannot be told from here
	Guarded     []string
	Writers     []string // those of Guarded that are not idempotent
	Derived     bool     // it has no directives of its own, and is declared as a service

	// Said are the methods of which its own directives say whether they are guarded and repeated.
	Said []string
}

// AFact makes service a fact.
func (*service) AFact() {}

func (s *service) String() string {
	return "service " + s.Name + " writers(" + strings.Join(s.Writers, ",") + ")"
}

// directives reads the directives of a package, its own files only.
var directives = &analysis.Analyzer{
	Name:       "resilientdirectives",
	Doc:        "the directives of a package, for the other analyzers",
	ResultType: reflect.TypeFor[[]*directive.File](),
	Run: func(pass *analysis.Pass) (any, error) {
		var read []*directive.File
		for _, file := range pass.Files {
			read = append(read, directive.Read(file))
		}
		return read, nil
	},
}

// services knows the annotated interfaces, of this package and of those that it imports, by their names.
var services = &analysis.Analyzer{
	Name:       "resilientservices",
	Doc:        "what directives say about service interfaces, for the other analyzers and for importing packages",
	Requires:   []*analysis.Analyzer{directives, inspect.Analyzer},
	FactTypes:  []analysis.Fact{(*service)(nil)},
	ResultType: reflect.TypeFor[map[types.Object]*service](),
	Run: func(pass *analysis.Pass) (any, error) {
		r := newServiceReader(pass)
		for obj := range r.specs {
			r.read(obj)
		}
		return r.known(), nil
	},
}

// serviceReader reads what the types of a package come to, each after those that it is made of.
type serviceReader struct {
	pass   *analysis.Pass
	marked map[*types.Func]bool
	specs  map[types.Object]*ast.TypeSpec // the types that the package declares
	own    map[types.Object]*directive.Type
	done   map[types.Object]*service
}

func newServiceReader(pass *analysis.Pass) *serviceReader {
	r := &serviceReader{
		pass:   pass,
		marked: markedIdempotent(pass),
		specs:  map[types.Object]*ast.TypeSpec{},
		own:    map[types.Object]*directive.Type{},
		done:   map[types.Object]*service{},
	}
	for node := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).PreorderSeq((*ast.TypeSpec)(nil)) {
		spec := node.(*ast.TypeSpec)
		if obj := pass.TypesInfo.Defs[spec.Name]; obj != nil {
			r.specs[obj] = spec
		}
	}
	for _, file := range pass.ResultOf[directives].([]*directive.File) {
		for _, t := range file.Types {
			if obj := pass.TypesInfo.Defs[t.Spec.Name]; obj != nil {
				r.own[obj] = t
			}
		}
	}
	return r
}

// known is what has been read here and in the packages that this one imports. What this package marks idempotent is no
// writer here.
func (r *serviceReader) known() map[types.Object]*service {
	known := map[types.Object]*service{}
	for _, fact := range r.pass.AllObjectFacts() {
		if s := fact.Fact.(*service); s.Name != "" {
			known[fact.Object] = s.without(r.marked, fact.Object)
		}
	}
	return known
}

// read returns what is known of a type; nil if it is no service.
func (r *serviceReader) read(obj types.Object) *service {
	if obj.Pkg() != r.pass.Pkg {
		s := new(service)
		if obj.Pkg() == nil || !r.pass.ImportObjectFact(obj, s) || s.Name == "" {
			return nil
		}
		return s
	}
	if s, ok := r.done[obj]; ok {
		return s
	}
	r.done[obj] = nil // it may contain itself in code that does not compile
	s := r.service(obj)
	if s == nil {
		s = r.derived(obj)
	}
	r.done[obj] = s
	switch {
	case s != nil:
		r.pass.ExportObjectFact(obj, s)
	default:
		if said := r.saysOf(obj); len(said) > 0 {
			r.pass.ExportObjectFact(obj, &service{Said: said})
		}
	}
	return s
}

// madeOf returns the type that a type of this package is declared as, if that has a name: type Plans Service.
func (r *serviceReader) madeOf(obj types.Object) types.Object {
	spec := r.specs[obj]
	if spec == nil {
		return nil
	}
	return nameOf(r.pass.TypesInfo.TypeOf(spec.Type))
}

// nameOf returns what declares a type; nil if nothing does.
func nameOf(t types.Type) types.Object {
	switch t := t.(type) {
	case *types.Alias:
		return t.Origin().Obj()
	case *types.Named:
		return t.Origin().Obj()
	}
	return nil
}

// derived returns what holds for a type that has no directives of a service, and is declared as one that has.
func (r *serviceReader) derived(obj types.Object) *service {
	from := r.madeOf(obj)
	if from == nil {
		return nil
	}
	s := r.read(from)
	if s == nil {
		return nil
	}
	return &service{Name: s.Name, Derived: true, Guarded: s.Guarded, Writers: s.Writers, Said: r.saysOf(obj)}
}

// saysOf lists the methods that the directives of a type speak of, and those of the one that it is declared as.
func (r *serviceReader) saysOf(obj types.Object) []string {
	if obj.Pkg() != r.pass.Pkg {
		s := new(service)
		if obj.Pkg() != nil {
			r.pass.ImportObjectFact(obj, s)
		}
		return s.Said
	}
	said := slices.Collect(maps.Keys(r.methodsSaid(obj)))
	for range len(r.specs) { // it may be declared as itself in code that does not compile
		if obj = r.madeOf(obj); obj == nil {
			break
		}
		if obj.Pkg() != r.pass.Pkg {
			said = append(said, r.saysOf(obj)...)
			break
		}
	}
	slices.Sort(said)
	return slices.Compact(said)
}

// service returns what is said about one declared type; nil if it is no service interface.
func (r *serviceReader) service(obj types.Object) *service {
	t := r.own[obj]
	if t == nil || !t.Has(directive.Service) {
		return nil
	}
	iface, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	all := r.methodsSaid(obj)
	s := &service{Name: directive.Find(t.Directives, directive.Service).Name, Said: r.saysOf(obj)}
	accessor := ""
	if d := directive.Find(t.Directives, directive.Error); d != nil {
		accessor = d.Name
	}
	for method := range iface.Methods() {
		name := method.Name()
		if !isGuarded(method, all[name], accessor) || r.saidBelow(obj, name) {
			continue
		}
		s.Guarded = append(s.Guarded, name)
		if !all[name].idempotent && !r.marked[method.Origin()] && (r.isReviewed(obj, method) || r.writtenBelow(obj, name)) {
			s.Writers = append(s.Writers, name)
		}
	}
	if !t.Has(directive.From) { // whose methods are another type's
		s.Fingerprint = fingerprint.OfType(iface, typeParams(obj.Type()), t)
	}
	return s
}

// below yields the types of other packages, and those embedded, whose methods a type has.
func (r *serviceReader) below(obj types.Object) []types.Type {
	for range len(r.specs) {
		from := r.madeOf(obj)
		if from == nil {
			break
		}
		if from.Pkg() != r.pass.Pkg {
			return []types.Type{from.Type()}
		}
		obj = from
	}
	iface, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	return slices.Collect(iface.EmbeddedTypes())
}

// saidBelow reports whether an interface that a type embeds says something about a method. Whether that counts depends on
// whose module it is.
func (r *serviceReader) saidBelow(obj types.Object, method string) bool {
	return slices.ContainsFunc(r.below(obj), func(t types.Type) bool { return r.says(t, method) })
}

func (r *serviceReader) says(t types.Type, method string) bool {
	if obj := nameOf(types.Unalias(t)); obj != nil && obj.Pkg() != nil && slices.Contains(r.saysOf(obj), method) {
		return true
	}
	iface, ok := t.Underlying().(*types.Interface)
	return ok && slices.ContainsFunc(slices.Collect(iface.EmbeddedTypes()), func(e types.Type) bool { return r.says(e, method) })
}

// writtenBelow reports whether a method is a writer of a service that a type embeds: what is not annotated there is not
// here, unless it is named here.
func (r *serviceReader) writtenBelow(obj types.Object, method string) bool {
	written := false
	for _, t := range r.below(obj) {
		if !hasMethods(t, method) {
			continue
		}
		if found := behind(r.read, t, method); found.service != nil {
			if !slices.Contains(found.service.Writers, method) {
				return false
			}
			written = true
		}
	}
	return written
}

func typeParams(t types.Type) *types.TypeParamList {
	if t, ok := t.(interface{ TypeParams() *types.TypeParamList }); ok {
		return t.TypeParams()
	}
	return nil
}
