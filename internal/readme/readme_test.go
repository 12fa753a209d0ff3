package readme

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// documents are the files whose links and make targets are checked; all of them must exist.
var documents = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"}

// pages are the Markdown files in docs.
func pages(t *testing.T) (pages []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		pages = append(pages, "docs/"+filepath.Base(file))
	}
	return pages
}

// TestCode: every block of Go code in the README and in docs is a copy of code that is compiled.
func TestCode(t *testing.T) {
	for _, name := range append(pages(t), "README.md") {
		t.Run(name, func(t *testing.T) {
			blocks := 0
			for _, block := range read(t, name).Blocks {
				if block.Lang != "go" && block.Lang != "golang" {
					continue
				}
				blocks++
				if err := CheckCode(root, block); err != nil {
					t.Errorf("%s:%d: %v", name, block.Line, err)
				}
			}
			if blocks == 0 {
				t.Errorf("%s has no block of Go code: nothing was compared", name)
			}
		})
	}
}

func TestLinks(t *testing.T) {
	for _, name := range append(pages(t), documents...) {
		t.Run(name, func(t *testing.T) {
			for target, line := range Links(read(t, name)) {
				if err := CheckLink(root, name, target); err != nil {
					t.Errorf("%s:%d: %v", name, line, err)
				}
			}
		})
	}
}

func TestMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := Targets(string(makefile))
	for _, name := range append(pages(t), documents...) {
		t.Run(name, func(t *testing.T) {
			for _, target := range MakeCalls(read(t, name)) {
				if !slices.Contains(targets, target) {
					t.Errorf("%s names make %s, which the Makefile does not have", name, target)
				}
			}
		})
	}
}

func read(t *testing.T, name string) Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatalf("%s must exist: %v", name, err)
	}
	return Parse(string(text))
}

const program = `package main

// greet is friendly.
func greet() {
	// region hello
	if true {
		// region inner
		println("hello")
		// endregion
	}
	// endregion hello
}

type box[T any] struct{ v T }

func (b *box[T]) get() T { return b.v }

const (
	one = 1
	two = 2
)
`

// TestCheckCode shows which blocks pass and which do not, on a tree of its own.
func TestCheckCode(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.go", program)
	write(t, dir, "ignored.go", "//go:build ignore\n\n"+program)
	write(t, dir, "testdata/main.go", program)
	write(t, dir, "open.go", "package main\n\n// region hello\n")
	write(t, dir, "stray.go", "package main\n\n// endregion\n")
	write(t, dir, "twice.go", "package main\n\n// region a\n// endregion\n// region a\n// endregion\n")

	for name, test := range map[string]struct {
		source, code string
		fault        string // a part of the error; "" for none
	}{
		"region":               {"main.go#hello", "if true {\n\tprintln(\"hello\")\n}\n", ""},
		"region, indented":     {"main.go#hello", "\t\tif true {\n\t\t\tprintln(\"hello\")\n\t\t}\n", ""},
		"region within":        {"main.go#inner", "println(\"hello\")", ""},
		"function":             {"main.go#box.get", "func (b *box[T]) get() T { return b.v }", ""},
		"type":                 {"main.go#box", "type box[T any] struct{ v T }", ""},
		"group":                {"main.go#two", "const (\n\tone = 1\n\ttwo = 2\n)", ""},
		"other text":           {"main.go#inner", "println(\"goodbye\")", "line 1 of the block is\n\tprintln(\"goodbye\")\nand"},
		"a line more":          {"main.go#inner", "println(\"hello\")\nreturn", "and in the file\n\t(nothing)"},
		"a line less":          {"main.go#hello", "if true {\n\tprintln(\"hello\")", "line 3 of the block is\n\t(nothing)"},
		"indented otherwise":   {"main.go#hello", "if true {\nprintln(\"hello\")\n}", "line 2"},
		"no source":            {"", "x", "no known origin"},
		"no region":            {"main.go", "x", "names no region"},
		"unknown region":       {"main.go#nowhere", "x", "neither a region nor a declaration"},
		"no such file":         {"other.go#hello", "x", "other.go"},
		"not Go":               {"main.txt#hello", "x", "not the path of a Go file"},
		"outside":              {"../main.go#hello", "x", "not the path of a Go file"},
		"left out by a tag":    {"ignored.go#inner", "println(\"hello\")", "not compiled"},
		"test data":            {"testdata/main.go#inner", "println(\"hello\")", "not compiled"},
		"region left open":     {"open.go#hello", "", "not closed"},
		"endregion by itself":  {"stray.go#hello", "", "without a region"},
		"two regions, a name":  {"twice.go#a", "", "twice"},
		"function, no comment": {"main.go#main", "x", "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckCode(dir, Block{Source: test.source, Code: test.code})
			switch {
			case test.fault == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
				t.Errorf("got %v, want an error with %q", err, test.fault)
			}
		})
	}
}

func TestParse(t *testing.T) {
	doc := Parse(strings.Join([]string{
		"Text",                               // 1
		"<!-- code: a.go#b -->", "", "```go", // 4
		"x := 1", "```", // 6
		"<!-- code: a.go#c -->", "in between,", // 8
		"````Go title", "```", "y", "````", // 12
		"- item", "  ~~~sh", "  make x", "    y", "  ~~~", // 17
		"```go", "open",
	}, "\n"))
	want := []Block{
		{Line: 4, Lang: "go", Source: "a.go#b", Code: "x := 1\n"},
		{Line: 9, Lang: "go", Code: "```\ny\n"},
		{Line: 14, Lang: "sh", Code: "make x\n  y\n"},
		{Line: 18, Lang: "go", Code: "open\n"},
	}
	if !slices.Equal(doc.Blocks, want) {
		t.Errorf("got %+v\nwant %+v", doc.Blocks, want)
	}
	if len(doc.Prose) != 19 || doc.Prose[4] != "" || doc.Prose[12] != "- item" {
		t.Errorf("got prose %q", doc.Prose)
	}
}

func TestCheckLink(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "README.md", "# The `Guard`, a handle\n## Twice\n## Twice\n```\n# code\n```\n")
	write(t, dir, "docs/a b.md", "# Other [link](x)")
	for target, ok := range map[string]bool{
		"docs":                                true,
		"docs/a%20b.md":                       true,
		"docs/a%20b.md#other-link":            true,
		"docs/a%20b.md#other":                 false,
		"#the-guard-a-handle":                 true,
		"#twice-1":                            true,
		"#twice-2":                            false,
		"#code":                               false,
		"missing.md":                          false,
		"../README.md":                        false,
		"https://example.com/missing.md":      true,
		"mailto:someone@example.com":          true,
		"docs/missing.go#L1":                  false,
		"README.md#the-guard-a-handle-indeed": false,
	} {
		if err := CheckLink(dir, "README.md", target); (err == nil) != ok {
			t.Errorf("%s: got %v, want ok = %t", target, err, ok)
		}
	}
}

func TestFindLinks(t *testing.T) {
	got := Links(Parse("[a](x.md) and [b](<y.md> \"title\") but not `[c](z.md)`\n[d]: w.md\n<img src=\"v.png\">\n```\n[e](u.md)\n```\n"))
	want := map[string]int{"x.md": 1, "y.md": 1, "w.md": 2, "v.png": 3}
	if len(got) != len(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for target, line := range want {
		if got[target] != line {
			t.Errorf("%s: got line %d, want %d", target, got[target], line)
		}
	}
}

func TestFindMake(t *testing.T) {
	targets := Targets("X := a:b\nY=1\n.PHONY: all\nall: one ## doc\n\techo x: y\none two:\n")
	if want := []string{"all", "one", "two"}; !slices.Equal(targets, want) {
		t.Errorf("targets: got %q, want %q", targets, want)
	}
	calls := MakeCalls(Parse("We make sure that `make demo V=1` and `cd x && make -j2 test lint` run, not `make -C bench all`.\n" +
		"```sh\nmake fuzz FUZZTIME=1m # and make merry\n```\n```go\n// make nothing\n```\n"))
	if want := []string{"demo", "test", "lint", "fuzz"}; !slices.Equal(calls, want) {
		t.Errorf("calls: got %q, want %q", calls, want)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
