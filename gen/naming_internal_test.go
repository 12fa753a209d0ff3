package gen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
	"pgregory.net/rapid"
)

// imported are the packages that the interfaces below use, read once.
var imported = sync.OnceValues(func() (map[string]*types.Package, error) {
	found, err := packages.Load(&packages.Config{Mode: packages.LoadTypes},
		"context", "io", "net/http", "time", "iter", "unsafe", runtimePath)
	if err != nil {
		return nil, err
	}
	all := map[string]*types.Package{"unsafe": types.Unsafe}
	for _, pkg := range found {
		if len(pkg.Errors) > 0 {
			return nil, pkg.Errors[0]
		}
		all[pkg.PkgPath] = pkg.Types
	}
	return all, nil
})

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

func importer(t require.TestingT) types.Importer {
	all, err := imported()
	require.NoError(t, err)
	return importerFunc(func(path string) (*types.Package, error) {
		if pkg := all[path]; pkg != nil {
			return pkg, nil
		}
		return nil, fmt.Errorf("no package %s", path)
	})
}

// generate wraps the interfaces of one file without a go command, and type-checks what
// comes out.
func generate(t require.TestingT, source string) {
	fset := token.NewFileSet()
	name := "/nowhere/svc.go"
	file, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err, source)
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
	config := types.Config{Importer: importer(t)}
	checked, err := config.Check("example.com/p", fset, []*ast.File{file}, info)
	require.NoError(t, err, source)
	pkg := &packages.Package{
		PkgPath: "example.com/p", Name: "p", GoFiles: []string{name}, CompiledGoFiles: []string{name},
		Syntax: []*ast.File{file}, Types: checked, TypesInfo: info,
	}
	r := newRun(&Config{Dir: "/nowhere"})
	r.loaded = &loaded{fset: fset, packages: []*packages.Package{pkg}}
	r.look()
	r.judge()
	r.outputs()
	require.Empty(t, r.problems.list, source)
	require.Len(t, r.files, 1)

	output, err := parser.ParseFile(fset, "/nowhere/svc_resilient.go", r.files[0].Content, parser.SkipObjectResolution)
	require.NoError(t, err)
	_, err = config.Check("example.com/p", fset, []*ast.File{file, output}, nil)
	require.NoError(t, err, "%s\n%s", source, r.files[0].Content)
}

// pool holds every name that stands for something in what is generated.
func pool() []string {
	names := strings.Fields(`context time resilient io http iter unsafe stdctx
		r r2 r3 w err err2 v v2 v0 v1 v2 v02 results results2 permit permit2 start start2 op attempt body zero ctx ctx2 ctx3
		next guard guards guard2 next2 resilientSvc resilientSvcOps NewResilientSvc resilientSvc_ resilientSvcOps_
		K V T Item Svc Gen p0 p1 p2 p3 p1_ type_ func_ range_ context_ time_ resilient_ io_ http_ error_ string_ init main
		GeneratedV1 Execute Do Op Guard Attempt_ _x é`)
	return append(names, types.Universe.Names()...)
}

// shapes are methods of every kind, with names to be filled in.
var methodShapes = []string{
	"Error(%s context.Context, %s time.Duration, %s Item) error",
	"One(%s context.Context, %s time.Duration, %s string) (time.Time, error)",
	"Two(%s context.Context, %s string, %s bool) (Item, *string, error)",
	"First(%s string, %s context.Context, %s int) (error, int)",
	"Values(%s context.Context, %s int, %s Item) (time.Time, bool)",
	"Open(%s context.Context, %s string, %s Item) (io.ReadCloser, error)",
	"OpenTwo(%s Item, %s int, %s string) (int, <-chan string, error)",
	"None(%s string, %s []byte, %s ...any) (rune, error)",
	"Request(%s string, %s *http.Request, %s error) (any, error)",
	"//resilient:idempotent rewind\n\tRewind(%s context.Context, %s io.ReadSeeker, %s *http.Request) (uint, int, error)",
	"//resilient:idempotent rewind\n\tSend(%s string, %s *http.Request, %s io.ReadSeeker) error",
	"//resilient:idempotent rewind\n\tRequests(%s *http.Request, %s *http.Request, %s context.Context) (int, error)",
	"//resilient:idempotent ctx=CTX\n\tContexts(CTX context.Context, %s context.Context, %s, %s uint8) (complex64, error)",
	"//resilient:error Err new=failed\n\tAccessor(%s context.Context, %s int, %s string) *Item",
	"//resilient:error Err\n\tSetErr(%s context.Context, %s int, %s string) *Settable",
	"//resilient:timeout 2s\n\tTimeout(%s, %s int, %s context.Context) (unsafe.Pointer, error)",
	"Generic(%s K, %s V, %s map[K]V) (V, K, error)",
	"Seq(%s K, %s V, %s int) (iter.Seq2[K, V], error)",
}

const frame = `package p

import (
	"context"
	"io"
	"iter"
	"net/http"
	"time"
	"unsafe"
)

type Item struct{}

func (*Item) Err() error { return nil }

type Settable struct{ Item }

func (*Settable) SetErr(error) {}

func failed(error) *Item { return nil }

var (
	_ time.Time
	_ context.Context
	_ io.Reader
	_ iter.Seq[int]
	_ http.Request
	_ unsafe.Pointer
)

//resilient:service s
type Svc[K comparable, V any] interface {
	%s
}
`

// method fills names into a shape. Equal names in one list of parameters are no Go.
func fillShape(shape string, names [3]string) string {
	for i := range names {
		for j := range i {
			if names[i] == names[j] {
				names[i] += "_"
			}
		}
	}
	if names[0] == "CTX" || names[0] == names[2] {
		names[2] += "_"
	}
	return fmt.Sprintf(shape, names[0], names[1], names[2])
}

// TestNames gives each parameter of each shape each name: always it compiles.
func TestNames(t *testing.T) {
	for i, name := range pool() {
		others := [3]string{"a", "b", "c"}
		var methods []string
		for _, shape := range methodShapes {
			for at := range others {
				names := others
				names[at] = name
				method := fillShape(shape, names)
				open := strings.LastIndex(method[:strings.Index(method, "(")], "\t") + 1
				if strings.HasPrefix(method, "//") {
					methods = append(methods, method[:open]+fmt.Sprintf("M%d_%d", i, at)+method[open:])
				} else {
					methods = append(methods, fmt.Sprintf("M%d_%d", i, at)+method)
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			generate(t, fmt.Sprintf(frame, strings.Join(methods, "\n\t")))
		})
	}
}

// TestNamesAtRandom mixes names, method names, and names of the package.
func TestNamesAtRandom(t *testing.T) {
	names := rapid.SampledFrom(pool())
	rapid.Check(t, func(t *rapid.T) {
		var methods []string
		for i, shape := range rapid.SliceOfNDistinct(rapid.SampledFrom(methodShapes), 1, 6, rapid.ID[string]).Draw(t, "shapes") {
			three := [3]string{names.Draw(t, "a"), names.Draw(t, "b"), names.Draw(t, "c")}
			if three[0] == three[1] || three[1] == three[2] || three[0] == three[2] {
				three = [3]string{three[0], "other", "another"}
			}
			methods = append(methods, fillShape(shape, three))
			if extra := names.Draw(t, "method"); token.IsIdentifier(extra) && i == 0 {
				methods = append(methods, extra+"("+names.Draw(t, "p")+" context.Context) (string, error)")
			}
		}
		source := fmt.Sprintf(frame, strings.Join(methods, "\n\t"))
		// A package may declare most of the names itself.
		for _, name := range rapid.SliceOfNDistinct(names, 0, 5, rapid.ID[string]).Draw(t, "scope") {
			if types.Universe.Lookup(name) == nil && !strings.Contains(" context time io http iter unsafe Item Svc NewResilientSvc init main failed Settable ", " "+name+" ") {
				source += "\nvar " + name + " int\n"
			}
		}
		generate(t, source)
	})
}
