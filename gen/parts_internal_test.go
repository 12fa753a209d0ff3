package gen

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"GetPlan": "get_plan", "GetURLByID": "get_url_by_id", "HTTPGet": "http_get", "Do": "do", "do": "do",
		"XRead": "x_read", "ZRangeByScore": "z_range_by_score", "Get_It": "get_it", "V2List": "v2_list", "ÜberGet": "über_get",
	} {
		assert.Equal(t, want, snake(name))
	}
}

// TestBuildOf (A95): the constraint of a file's line and of its name.
func TestBuildOf(t *testing.T) {
	for name, test := range map[string]struct{ path, text, want string }{
		"none":         {"svc.go", "package p", ""},
		"line":         {"svc.go", "//go:build a && !b\n\npackage p", "a && !b"},
		"old line":     {"svc.go", "// +build a\n\npackage p", ""}, // which the go command does not read any more
		"both":         {"svc.go", "//go:build a\n// +build a\n\npackage p", "a"},
		"too late":     {"svc.go", "package p\n\n//go:build a", ""},
		"system":       {"svc_linux.go", "package p", "linux"},
		"architecture": {"svc_arm64.go", "package p", "arm64"},
		"system, arch": {"svc_linux_arm64.go", "package p", "linux && arm64"},
		"test":         {"svc_windows_test.go", "package p", "windows"},
		"only a name":  {"linux.go", "package p", ""},
		"no system":    {"svc_resilient.go", "package p", ""},
		"line, name":   {"svc_linux.go", "//go:build a || b\n\npackage p", "(a || b) && linux"},
		"same twice":   {"svc_linux.go", "//go:build linux\n\npackage p", "linux"},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), test.path, test.text, parser.ParseComments)
		require.NoError(t, err)
		assert.Equal(t, test.want, buildOf(test.path, file), name)
	}
}

// TestDiff: the old text and the diff make the new one.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n", "d\n"})
		from := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(r, "old"), "")
		to := strings.Join(rapid.SliceOfN(line, 0, 40).Draw(r, "new"), "")
		if rapid.Bool().Draw(r, "no newline") {
			to += "end"
		}
		require.Equal(r, to, apply(r, from, unified("a", "b", from, to)))
	})
}

// apply does what patch does.
func apply(t require.TestingT, old, diff string) string {
	rest := lines(old)
	var out []string
	at := 0
	for i, line := range lines(diff)[2:] {
		switch line[0] {
		case '@':
			start := number(strings.TrimPrefix(strings.Fields(line)[1], "-"))
			if !strings.Contains(strings.Fields(line)[1], ",0") {
				start--
			}
			require.GreaterOrEqual(t, start, at)
			out = append(out, rest[at:start]...)
			at = start
		case ' ':
			require.Equal(t, rest[at], line[1:], "line %d of the diff", i)
			out, at = append(out, line[1:]), at+1
		case '-':
			require.Equal(t, rest[at], line[1:], "line %d of the diff", i)
			at++
		case '+':
			out = append(out, line[1:])
		case '\\':
			out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "\n")
		}
	}
	return strings.Join(append(out, rest[at:]...), "")
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "svc_resilient.go")
	f := File{Path: path, Content: []byte("a\n")}
	assert.True(t, f.Changed())
	require.NoError(t, f.Write())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a\n", string(text))

	require.NoError(t, os.Chmod(path, 0o600))
	f = File{Path: path, Content: []byte("b\n"), Old: text}
	require.NoError(t, f.Write())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the file keeps its mode")

	assert.False(t, File{Path: path, Content: []byte("b\n"), Old: []byte("b\r\n")}.Changed())
	require.NoError(t, File{Path: path, Old: []byte("b\n")}.Write())
	assert.NoFileExists(t, path)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Empty(t, entries)

	blocked := File{Path: filepath.Join(t.TempDir(), "x"), Content: []byte("a\n")}
	require.NoError(t, os.Mkdir(blocked.Path, 0o777))
	require.Error(t, blocked.Write())
	left, err := os.ReadDir(filepath.Dir(blocked.Path))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left")
}

// TestDescriptor: whatever the bytes, reading them ends.
func TestDescriptor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fileDescriptor(rapid.SliceOf(rapid.Byte()).Draw(t, "raw"), map[string]bool{})
	})
}
