package vet

import (
	"go/ast"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// service is what the directives of an interface come to. It is a fact about the interface's name: packages that import
// it see no comments.
type service struct {
	Name        string
	Fingerprint string
	Writers     []string // methods that are guarded and not idempotent; what we are not sure of is in neither list
	Guarded     []string // all methods that are guarded
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
		marked := markedIdempotent(pass)
		for _, file := range pass.ResultOf[directives].([]*directive.File) {
			for _, t := range file.Types {
				if s, obj := serviceOf(pass.TypesInfo, t, marked); s != nil {
					pass.ExportObjectFact(obj, s)
				}
			}
		}
		known := map[types.Object]*service{}
		for _, fact := range pass.AllObjectFacts() {
			known[fact.Object] = fact.Fact.(*service)
		}
		return known, nil
	},
}

// serviceOf returns what is said about one declared type; nil if it is no service interface.
func serviceOf(info *types.Info, t *directive.Type, marked map[*types.Func]bool) (*service, types.Object) {
	named := directive.Find(t.Directives, directive.Service)
	obj := info.Defs[t.Spec.Name]
	if named == nil || obj == nil {
		return nil, nil
	}
	iface, ok := obj.Type().Underlying().(*types.Interface)
	if !ok {
		return nil, nil
	}
	said := methodsSaid(t)
	s := &service{Name: named.Name}
	var marks []string
	for method := range iface.Methods() {
		name := method.Name()
		if marked[method.Origin()] {
			said[name] = append(said[name], directive.Idempotent)
			marks = append(marks, name)
		}
		if isGuarded(method, said[name]) {
			s.Guarded = append(s.Guarded, name)
			if !slices.Contains(said[name], directive.Idempotent) && isReviewed(t, method, len(marks) > 0) {
				s.Writers = append(s.Writers, name)
			}
		}
	}
	s.Fingerprint = fingerprint.OfService(iface, typeParams(obj.Type()), t, marks)
	return s, obj
}

func typeParams(t types.Type) *types.TypeParamList {
	if t, ok := t.(interface{ TypeParams() *types.TypeParamList }); ok {
		return t.TypeParams()
	}
	return nil
}

// methodsSaid lists the verbs for each method, wherever they stand.
func methodsSaid(t *directive.Type) map[string][]directive.Verb {
	said := map[string][]directive.Verb{}
	for _, d := range t.Directives {
		if d.Verb == directive.From {
			continue
		}
		for _, method := range d.Methods {
			said[method] = append(said[method], d.Verb)
		}
	}
	for _, line := range t.Lines {
		for _, name := range line.Field.Names {
			for _, d := range line.Directives {
				said[name.Name] = append(said[name.Name], d.Verb)
			}
		}
	}
	return said
}

// isGuarded reports whether a wrapper surely guards the method: it takes a context and returns an error, and is neither
// excluded nor one of those that are always forwarded.
func isGuarded(method *types.Func, said []directive.Verb) bool {
	sig := method.Signature()
	switch {
	case slices.Contains(said, directive.Skip), slices.Contains(said, directive.Stream):
		return false
	case method.Name() == "Close", method.Name() == "Shutdown":
		return false
	}
	return returnsError(sig) && sig.Params().Len() > 0 && isContext(sig.Params().At(0).Type())
}

// isReviewed reports whether a method without annotation is one on purpose. Those that are written in the interface
// are. Those of an embedded one are when others of them are named in a list; a service of protobuf says it in a place
// that we do not see.
func isReviewed(t *directive.Type, method *types.Func, marked bool) bool {
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
	if t.Has(directive.Inherit) || isRemoteProcedure(method.Signature()) {
		return false
	}
	return marked || t.Has(directive.Idempotent)
}

// isRemoteProcedure recognises methods of generated gRPC and Connect clients by the types in their signatures.
func isRemoteProcedure(sig *types.Signature) bool {
	text := types.TypeString(sig, nil)
	return strings.Contains(text, "google.golang.org/grpc.") || strings.Contains(text, "connectrpc.com/connect.")
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
