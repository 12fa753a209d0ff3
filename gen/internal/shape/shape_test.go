package shape_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

const source = `package p

import ("bufio"; "bytes"; "context"; "encoding/csv"; "encoding/json"; "io"; "iter"; "reflect"; "strings"; "time")

type Tree []Tree
type Object struct { Size int; Body io.ReadCloser }
type Rows interface { Next() bool; Scan(...any) error; Close() error; Err() error }
type Raw interface { Context() context.Context; SendMsg(any) error; RecvMsg(any) error; CloseSend() error }
type Watch interface { Stop(); ResultChan() <-chan string }
type Session interface { context.Context; Commit() error }
type Node struct { Value int }
func (*Node) Next() *Node { return nil }

type Streams struct {
	A chan int
	B []io.ReadCloser
	C *Object
	D Rows
	E Raw
	F Watch
	G Session
	H func() (int, bool)
	I interface{ Close() error }
	J io.Reader
	K *struct{ Body io.Reader }
	L *bufio.Reader
	M *bufio.Scanner
	N *json.Decoder
	O *csv.Reader
}
type Plain struct {
	A Tree
	B *Node
	C map[string]time.Time
	D error
	E *bytes.Buffer
	F iter.Seq[int]
	G *bytes.Reader
	H []*strings.Reader
	I interface{ Decode(v any) error }
	J reflect.Value
}
type Once struct {
	A io.Reader
	B chan<- int
	C []io.Writer
	D func() io.Reader
	E *struct{ Body io.Reader }
	F *csv.Reader
}
type Again struct {
	A Tree
	B func() int
	C []byte
	D reflect.Value
}
`

func fields(t *testing.T, of string) []*types.Var {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := config.Check("p", fset, []*ast.File{file}, nil)
	require.NoError(t, err)
	structure := pkg.Scope().Lookup(of).Type().Underlying().(*types.Struct)
	var all []*types.Var
	for field := range structure.Fields() {
		all = append(all, field)
	}
	return all
}

func TestStreams(t *testing.T) {
	for _, field := range fields(t, "Streams") {
		assert.NotEmpty(t, shape.Streams(field.Type()), field)
	}
	for _, field := range fields(t, "Plain") {
		assert.Empty(t, shape.Streams(field.Type()), field)
	}
}

func TestConsumes(t *testing.T) {
	for _, field := range fields(t, "Once") {
		assert.NotEmpty(t, shape.Consumes(field.Type()), field)
	}
	for _, field := range fields(t, "Again") {
		assert.Empty(t, shape.Consumes(field.Type()), field)
	}
}
