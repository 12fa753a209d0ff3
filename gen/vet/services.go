package vet

import (
	"go/ast"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

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
	Requires:   []*analysis.Analyzer{directives},
	FactTypes:  []analysis.Fact{(*service)(nil)},
	ResultType: reflect.TypeFor[map[types.Object]*service](),
	Run: func(pass *analysis.Pass) (any, error) {
		r := &serviceReader{pass: pass, marked: markedIdempotent(pass)}
		var own []*directive.Type
		for _, file := range pass.ResultOf[directives].([]*directive.File) {
			own = append(own, file.Types...)
		}
		for _, t := range own { // what they say themselves, before what others say who embed them
			r.export(t, &service{Said: slices.Collect(maps.Keys(methodsSaid(t)))})
		}
		for _, t := range own {
			if s := r.service(t); s != nil {
				r.export(t, s)
			}
		}
		known := map[types.Object]*service{}
		for _, fact := range pass.AllObjectFacts() {
			if s := fact.Fact.(*service); s.Name != "" {
				known[fact.Object] = s
			}
		}
		return known, nil
	},
}

type serviceReader struct {
	pass   *analysis.Pass
	marked map[*types.Func]bool
}

func (r *serviceReader) export(t *directive.Type, s *service) {
	slices.Sort(s.Said)
	if obj := r.pass.TypesInfo.Defs[t.Spec.Name]; obj != nil {
		r.pass.ExportObjectFact(obj, s)
	}
}

// service returns what is said about one declared type; nil if it is no service interface.
func (r *serviceReader) service(t *directive.Type) *service {
	named := directive.Find(t.Directives, directive.Service)
	obj := r.pass.TypesInfo.Defs[t.Spec.Name]
	if named == nil || obj == nil {
		return nil
	}
	iface, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	all := methodsSaid(t)
	s := &service{Name: named.Name, Said: slices.Collect(maps.Keys(all))}
	accessor := ""
	if d := directive.Find(t.Directives, directive.Error); d != nil {
		accessor = d.Name
	}
	for method := range iface.Methods() {
		name := method.Name()
		if !isGuarded(method, all[name], accessor) || r.saidBelow(obj.Type(), name) {
			continue
		}
		s.Guarded = append(s.Guarded, name)
		if !all[name].idempotent && !r.marked[method.Origin()] && r.isReviewed(t, method) {
			s.Writers = append(s.Writers, name)
		}
	}
	if !t.Has(directive.From) { // whose methods are another type's
		s.Fingerprint = fingerprint.OfType(iface, typeParams(obj.Type()), t)
	}
	return s
}

// saidBelow reports whether an interface that t embeds says something about a method. Whether that counts depends on whose
// module it is.
func (r *serviceReader) saidBelow(t types.Type, method string) bool {
	iface, ok := t.Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for embedded := range iface.EmbeddedTypes() {
		if named, ok := types.Unalias(embedded).(*types.Named); ok {
			fact := new(service)
			if r.pass.ImportObjectFact(named.Origin().Obj(), fact) && slices.Contains(fact.Said, method) {
				return true
			}
		}
		if r.saidBelow(embedded, method) {
			return true
		}
	}
	return false
}

func typeParams(t types.Type) *types.TypeParamList {
	if t, ok := t.(interface{ TypeParams() *types.TypeParamList }); ok {
		return t.TypeParams()
	}
	return nil
}

// said is what directives say of one method, as far as it decides whether the method is guarded and repeated.
type said struct {
	idempotent, unguarded, byHand bool

	errorNr  int    // which of several errors counts, from 1
	accessor string // the method of the result that returns the error
}

// methodsSaid lists the methods that directives speak of.
func methodsSaid(t *directive.Type) map[string]said {
	all := map[string]said{}
	for _, d := range t.Directives {
		for _, method := range d.Methods {
			all[method] = all[method].and(d)
		}
	}
	for _, line := range t.Lines {
		for _, name := range line.Field.Names {
			for _, d := range line.Directives {
				all[name.Name] = all[name.Name].and(d)
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, s said) bool { return s == said{} })
	return all
}

// and adds a directive.
func (s said) and(d directive.Directive) said {
	switch d.Verb {
	case directive.Idempotent:
		s.idempotent = true
	case directive.Skip, directive.Stream:
		s.unguarded = true
	case directive.Op:
		s.byHand = true
	case directive.Error:
		s.accessor = d.Name
	}
	s.errorNr = max(s.errorNr, d.ErrorResult)
	return s
}

// isReviewed reports whether a method without annotation is one on purpose. Those that are written in the interface
// are. Those of an embedded one are when others of them are named in a list; a service of protobuf says it in a place
// that we do not see.
func (r *serviceReader) isReviewed(t *directive.Type, method *types.Func) bool {
	if iface, ok := t.Spec.Type.(*ast.InterfaceType); ok {
		for _, field := range iface.Methods.List {
			for _, name := range field.Names {
				if name.Name == method.Name() {
					return true
				}
			}
		}
	}
	for _, line := range t.Lines {
		if directive.Find(line.Directives, directive.Inherit) != nil {
			return false
		}
	}
	return t.Has(directive.Idempotent) && !t.Has(directive.Inherit) && !r.isRemoteProcedure(method)
}

// isRemoteProcedure recognises the methods of clients that a protobuf compiler's plugin has written, by their file.
func (r *serviceReader) isRemoteProcedure(method *types.Func) bool {
	file := r.pass.Fset.Position(method.Pos()).Filename
	return slices.ContainsFunc([]string{".pb.go", ".connect.go", ".twirp.go"}, func(suffix string) bool { return strings.HasSuffix(file, suffix) })
}

// markedIdempotent returns the methods that MarkIdempotent is given anywhere in the package. An interface that embeds
// the one they belong to has the same ones.
func markedIdempotent(pass *analysis.Pass) map[*types.Func]bool {
	marked := map[*types.Func]bool{}
	for _, file := range pass.Files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				noteMarks(pass.TypesInfo, decl, marked)
			}
		}
	}
	return marked
}

func noteMarks(info *types.Info, decl *ast.GenDecl, marked map[*types.Func]bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isFunc(callee(info, call), libraryPath, "MarkIdempotent") {
			return true
		}
		for _, arg := range call.Args {
			if sel, ok := ast.Unparen(arg).(*ast.SelectorExpr); ok {
				if method, ok := info.Uses[sel.Sel].(*types.Func); ok {
					marked[method.Origin()] = true
				}
			}
		}
		return false
	})
}
