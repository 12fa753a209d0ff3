package fingerprint_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// load type-checks a file's text and returns its interface S.
func load(t *testing.T, path, source string) (*types.Interface, *types.TypeParamList) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "s.go", "package p\n"+source, 0)
	require.NoError(t, err)
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check(path, fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	named := pkg.Scope().Lookup("S").Type().(*types.Named)
	return named.Underlying().(*types.Interface), named.TypeParams()
}

func of(t *testing.T, source string, directives ...fingerprint.Directive) string {
	t.Helper()
	iface, params := load(t, "p", source)
	return fingerprint.Of(iface, params, directives)
}

func TestWhatDoesNotCount(t *testing.T) {
	base := of(t, "type S interface { A(x int, f func(y string) error) (n int, err error); B() }")
	for name, same := range map[string]string{
		"names of parameters": "type S interface { A(int, func(string) error) (int, error); B() }",
		"order and comments":  "type S interface {\n// B does.\nB()\n A(x int, f func(y string) error) (int, error) }",
		"embedding":           "type S interface { A(x int, f func(y string) error) (int, error); E }; type E interface{ B() }",
		"an alias":            "type S interface { A(x N, f func(y string) error) (int, error); B() }; type N = int",
	} {
		assert.Equal(t, base, of(t, same), name)
	}
}

func TestWhatCounts(t *testing.T) {
	seen := map[string]string{}
	for _, source := range []string{
		"type S interface { A(x int) error }",
		"type S interface { A(x int) }",
		"type S interface { A(x ...int) error }",
		"type S interface { A(x []int) error }",
		"type S interface { A(x [2]int) error }",
		"type S interface { A(x *int) error }",
		"type S interface { A(x N) error }; type N int",
		"type S interface { A(x G[int]) error }; type G[T any] struct{}",
		"type S interface { A(x G[string]) error }; type G[T any] struct{}",
		"type S interface { A(x map[int]bool) error }",
		"type S interface { A(x chan int) error }",
		"type S interface { A(x <-chan int) error }",
		"type S interface { A(x chan<- int) error }",
		"type S interface { A(x chan (<-chan int)) error }",
		"type S interface { A(x chan<- (chan int)) error }",
		"type S interface { A(x struct{ N int }) error }",
		"type S interface { A(x struct{ N int `json:\"n\"` }) error }",
		"type S interface { A(x struct{ M int }) error }",
		"type S interface { A(x interface{ M() }) error }",
		"type S interface { A(x any) error }",
		"type S interface { A(x int) error; b() }",
		"type S interface { A(x int) error; B() }",
		"type S[T any] interface { A(x T) error }",
		"type S[T comparable] interface { A(x T) error }",
		"type S[T ~int | string] interface { A(x T) error }",
		"type S[T int | string] interface { A(x T) error }",
		"type S[T interface{ ~int; M() }] interface { A(x T) error }",
		"type S[U any] interface { A(x U) error }",
	} {
		sum := of(t, source)
		assert.Len(t, sum, 16)
		assert.Empty(t, seen[sum], "the same as of %s", source)
		seen[sum] = source
	}
}

func TestDirectives(t *testing.T) {
	const source = "type S interface { Get() error; List() error }"
	get := fingerprint.Directive{Method: "Get", Text: "idempotent"}
	list := fingerprint.Directive{Method: "List", Text: "idempotent"}
	timeout := fingerprint.Directive{Method: "Get", Text: "timeout 2s"}

	assert.Equal(t, of(t, source, get, list, timeout), of(t, source, timeout, list, get), "their order")
	assert.Equal(t, of(t, source, timeout), of(t, source, fingerprint.Directive{Method: "Get", Text: " timeout \t 2s\r"}))

	assert.NotEqual(t, of(t, source), of(t, source, get))
	assert.NotEqual(t, of(t, source, list), of(t, source, get))
	assert.NotEqual(t, of(t, source, get), of(t, source, timeout))
}

// What the directives of a type say is what counts, not what surrounds them.
func TestOfType(t *testing.T) {
	const base = "//resilient:service plans\ntype S interface {\n//resilient:idempotent\nGet() error\n//resilient:timeout 2s attempt=500ms\nSet() error\n}"
	of := func(source string) string {
		t.Helper()
		file, err := parser.ParseFile(token.NewFileSet(), "s.go", "package p\n"+source, parser.ParseComments)
		require.NoError(t, err)
		read := directive.Read(file)
		require.Empty(t, read.Problems)
		iface, params := load(t, "p", source)
		return fingerprint.OfType(iface, params, read.Types[0])
	}
	for _, same := range []string{
		"// S is.\n//\n//resilient:service  plans\ntype S interface {\n// Set sets.\n//\n//resilient:timeout 2s  attempt=500ms\nSet() error\n//resilient:idempotent\nGet() error\n}",
		strings.ReplaceAll(base, "\n", "\r\n"),
	} {
		assert.Equal(t, of(base), of(same), same)
	}
	for _, other := range []string{
		"//resilient:service plan\ntype S interface {\n//resilient:idempotent\nGet() error\n//resilient:timeout 2s attempt=500ms\nSet() error\n}",
		"//resilient:service plans\ntype S interface {\n//resilient:idempotent rewind\nGet() error\n//resilient:timeout 2s attempt=500ms\nSet() error\n}",
		"//resilient:service plans\ntype S interface {\n//resilient:idempotent\nGet() error\n//resilient:timeout 2s\nSet() error\n}",
		"//resilient:service plans\ntype S interface {\nGet() error\n//resilient:timeout 2s attempt=500ms\nSet() error\n}",
	} {
		assert.NotEqual(t, of(base), of(other), other)
	}
}

// A package that is compiled with its tests is called "p [p.test]" by some loaders.
func TestTestVariant(t *testing.T) {
	const source = "type S interface { Get() (T, error) }; type T struct{}"
	plain, _ := load(t, "example.com/p", source)
	variant, _ := load(t, "example.com/p [example.com/p.test]", source)
	assert.Equal(t, fingerprint.Of(plain, nil, nil), fingerprint.Of(variant, nil, nil))
}

func TestMarks(t *testing.T) {
	source := "package p\n\n" + fingerprint.Line("S", "0123456789abcdef") + "\ntype W struct{}\n\n" +
		fingerprint.Line("example.com/q.T", "fedcba9876543210") + "\r\ntype X struct{}\n// resilientgen:fingerprint no one\n//resilientgen:fingerprint none\n\n"
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	require.NoError(t, err)
	marks := fingerprint.Marks(file)
	require.Len(t, marks, 2)
	assert.Equal(t, "S", marks[0].Interface)
	assert.Equal(t, "0123456789abcdef", marks[0].Hex)
	assert.Equal(t, "example.com/q.T", marks[1].Interface)
	assert.Equal(t, "fedcba9876543210", marks[1].Hex)
	assert.True(t, marks[0].Pos.IsValid())
}
