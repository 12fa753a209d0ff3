package marker_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
)

const root = "../.."

// A91: one list names every package that says something, and each of them has its test.
func TestEveryRoomHasItsTest(t *testing.T) {
	seen := map[string]bool{}
	for _, room := range marker.Rooms {
		t.Run(room.Folder, func(t *testing.T) {
			assert.False(t, seen[room.Folder], "twice")
			seen[room.Folder] = true
			assert.NotEmpty(t, room.Inputs)
			assert.NotEmpty(t, room.Sinks)
			assert.True(t, begins(t, room), "no %s in %s that calls marker.New(t, %q)", room.Test, room.Folder, room.Folder)
		})
	}
}

// begins reports whether the room's test is there, and begins with marker.New.
func begins(t *testing.T, room marker.Room) (found bool) {
	files, err := filepath.Glob(filepath.Join(root, room.Folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			test, ok := decl.(*ast.FuncDecl)
			if !ok || test.Name.Name != room.Test {
				continue
			}
			ast.Inspect(test.Body, func(n ast.Node) bool {
				found = found || isNew(n, room.Folder)
				return true
			})
		}
	}
	return found
}

// isNew reports whether it is the call marker.New(t, folder).
func isNew(n ast.Node, folder string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return false
	}
	name, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || name.Sel.Name != "New" || fmt.Sprint(name.X) != "marker" {
		return false
	}
	text, ok := call.Args[1].(*ast.BasicLit)
	return ok && text.Value == strconv.Quote(folder)
}

// A new package is in the list, or says why it need not be.
func TestEveryPackageIsListed(t *testing.T) {
	used := map[string]bool{}
	listed := func(folder string) bool {
		if slices.ContainsFunc(marker.Rooms, func(r marker.Room) bool { return r.Folder == folder }) {
			return true
		}
		for silent := range marker.Silent {
			tree, whole := strings.CutSuffix(silent, "/...")
			if folder == tree || whole && strings.HasPrefix(folder, tree+"/") {
				used[silent] = true
				return true
			}
		}
		return false
	}
	for _, folder := range packages(t) {
		assert.True(t, listed(folder), "%s: it is neither in Rooms nor in Silent of internal/marker/rooms.go", folder)
	}
	for silent, why := range marker.Silent {
		assert.True(t, used[silent], "%s: there is no such package", silent)
		assert.NotEmpty(t, why)
	}
}

// packages are the folders with code, of all modules.
func packages(t *testing.T) (folders []string) {
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") {
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if folder = filepath.ToSlash(folder); err == nil && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
			return err
		}
		return nil
	}))
	require.Greater(t, len(folders), 30)
	return folders
}

// witness is a test that is told to fail.
type witness struct {
	testing.TB
	name     string
	errors   []string
	cleanups []func()
}

func (w *witness) Name() string     { return w.name }
func (*witness) Helper()            { /* it has no lines */ }
func (w *witness) Cleanup(f func()) { w.cleanups = append(w.cleanups, f) }
func (w *witness) Failed() bool     { return len(w.errors) > 0 }
func (*witness) Skipped() bool      { return false }
func (w *witness) Errorf(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}
func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	panic(w)
}

// told is what a test of resilient/resilienttest, which has the smallest table, says.
func told(use func(w *witness, s *marker.Sinks)) string {
	room := marker.Rooms[slices.IndexFunc(marker.Rooms, func(r marker.Room) bool { return r.Folder == "resilient/resilienttest" })]
	w := &witness{name: room.Test}
	func() {
		defer func() { _ = recover() }()
		use(w, marker.New(w, room.Folder))
	}()
	for _, f := range w.cleanups {
		f()
	}
	return strings.Join(w.errors, "\n")
}

// all seeds every input and reaches every sink.
func all(w *witness, s *marker.Sinks) {
	for _, input := range marker.Rooms[slices.IndexFunc(marker.Rooms, func(r marker.Room) bool { return r.Folder == "resilient/resilienttest" })].Inputs {
		s.Seed(w, input).Put("report", "password=***")
	}
}

type fields struct{ Password string }

func (f fields) Error() string { return "password=***" }

// The check finds what it is for.
func TestTheMarkerIsFound(t *testing.T) {
	assert.Empty(t, told(all))
	assert.Contains(t, told(func(*witness, *marker.Sinks) {}), `nothing came of the input "operation name"`)
	assert.Contains(t, told(func(w *witness, s *marker.Sinks) { s.Seed(w, "nothing") }), `"nothing" of resilient/resilienttest is not in the table`)
	assert.Contains(t, told(func(w *witness, s *marker.Sinks) { s.Seed(w, "second's error").Put("nowhere", "x") }), `"nowhere" of`)
	for name, value := range map[string]any{
		"text": marker.Text, "error": errors.New(marker.Pair), "fields by %#v and JSON": fields{marker.Secret},
		"fields of a pointer": &fields{marker.Secret}, "list": []string{"a", marker.Secret},
	} {
		assert.Contains(t, told(func(w *witness, s *marker.Sinks) {
			all(w, s)
			s.Seed(w, "second's error").Put("report", value)
		}), `from "second's error" through "report"`, name)
	}
	w := &witness{name: "TestOfAnotherName"}
	assert.Panics(t, func() { marker.New(w, "resilient/resilienttest") })
	_, err := os.Stat(filepath.Join(root, "go.mod"))
	require.NoError(t, err, "the root is where it is said to be")
}
