package houserules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// TestImports keeps the rules. Where it fails, either the import is wrong, or the row in rules.go is to be changed, which
// changes the architecture.
func TestImports(t *testing.T) {
	trackSources(t)
	packages, err := Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) == 0 {
		t.Fatal("go list found no package: the rules were not checked")
	}
	for _, breach := range Check(packages, Rules) {
		t.Error(breach)
	}
}

// trackSources reads every Go file of the repository: go list runs in another process, so without this go test would
// not see that a cached result is out of date.
func trackSources(t *testing.T) {
	t.Helper()
	err := walk(root, func(name string) {
		if strings.HasSuffix(name, ".go") {
			// A file that is gone already, as some editors' are, imports nothing.
			if _, err := os.ReadFile(filepath.Join(root, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Error(err)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSentinels holds the core to the names of Sentinels.
func TestSentinels(t *testing.T) {
	for _, dir := range SentinelsOnly {
		breaches, err := CheckSentinels(filepath.Join(root, dir), Sentinels)
		if err != nil {
			t.Error(err)
		}
		for _, breach := range breaches {
			t.Error(breach)
		}
	}
}

// TestWorkspace: make finds modules by their go.mod, editors by go.work. Both see the same ones.
func TestWorkspace(t *testing.T) {
	if _, err := os.ReadFile(filepath.Join(root, "go.work")); err != nil { // read here, so that the test cache sees it
		t.Fatal(err)
	}
	found, err := Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	used, err := Workspace(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range found {
		switch inWork, unworked := slices.Contains(used, module), slices.Contains(Unworked, module); {
		case !inWork && !unworked:
			t.Errorf("module %s is not in go.work: add it there", module)
		case inWork && unworked:
			t.Errorf("module %s is in go.work, but is to stay out of it (Unworked in internal/houserules/rules.go)", module)
		}
	}
	for _, module := range used {
		if !slices.Contains(found, module) {
			t.Errorf("go.work uses %s, which has no go.mod", module)
		}
	}
}

// TestCheck shows that each kind of breach is found, and that what is allowed is not.
func TestCheck(t *testing.T) {
	rules := map[string]Rule{
		"leaf": {Why: leaf},
		"core": {May: []string{"leaf", "example.com/lib", "example.com/tree/..."}, Never: []string{"os"}, Why: "a core"},
	}
	for name, test := range map[string]struct {
		folder      string
		code, tests []string
		breach      string // the beginning of the only one; "" for none
	}{
		"standard library":         {"leaf", []string{"fmt", "net/http", "C"}, nil, ""},
		"leaf imports the module":  {"leaf", []string{Module + "/core"}, nil, "leaf imports core:"},
		"leaf imports the root":    {"leaf", []string{Module}, nil, "leaf imports .:"},
		"leaf imports a library":   {"leaf", []string{"example.com/lib"}, nil, "leaf imports example.com/lib:"},
		"allowed":                  {"core", []string{Module + "/leaf", "example.com/lib", "example.com/tree/x"}, nil, ""},
		"below, but no tree":       {"core", []string{"example.com/lib/x"}, nil, "core imports example.com/lib/x:"},
		"beside the tree":          {"core", []string{"example.com/trees"}, nil, "core imports example.com/trees:"},
		"never":                    {"core", []string{"os"}, nil, "core imports os:"},
		"never holds for code":     {"core", nil, []string{"os"}, ""},
		"internal":                 {"core", []string{Module + "/internal/x"}, nil, "core imports internal/x: internal"},
		"internal in tests":        {"core", nil, []string{Module + "/internal/x"}, ""},
		"test library":             {"core", []string{"pgregory.net/rapid"}, nil, "core imports pgregory.net/rapid: only"},
		"test library in tests":    {"core", nil, []string{"pgregory.net/rapid", "github.com/stretchr/testify/require"}, ""},
		"other library in tests":   {"leaf", nil, []string{"example.com/lib"}, "a test of leaf imports example.com/lib:"},
		"allowed library in tests": {"core", nil, []string{"example.com/lib"}, ""},
		"no row":                   {"new", nil, nil, "new has no rule: add a row"},
		"twice is one breach":      {"leaf", []string{"example.com/lib", "example.com/lib"}, nil, "leaf imports example.com/lib:"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Check([]Package{{ImportPath: Module + "/" + test.folder, Imports: test.code, XTestImports: test.tests}}, rules)
			switch {
			case test.breach == "" && len(got) > 0:
				t.Errorf("got %q, want none", got)
			case test.breach != "" && (len(got) != 1 || !strings.HasPrefix(got[0], test.breach)):
				t.Errorf("got %q, want one that begins with %q", got, test.breach)
			}
		})
	}
}

// TestIgnoredFiles: a build tag hides a file from go list, but not from the rules.
func TestIgnoredFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "go.mod", "module "+Module+"\n\ngo 1.26\n")
	write(t, dir, "a.go", "package a\n")
	write(t, dir, "b.go", "//go:build never\n\npackage a\n\nimport _ \"example.com/hidden\"\n")
	write(t, dir, "b_test.go", "//go:build never\n\npackage a\n\nimport _ \"example.com/hiddentoo\"\n")

	packages, err := Packages(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 || !slices.Contains(packages[0].Imports, "example.com/hidden") ||
		!slices.Contains(packages[0].TestImports, "example.com/hiddentoo") {
		t.Errorf("got %+v", packages)
	}
}

// TestCheckSentinels: the sentinel passes, also under another name; anything else of its package does not.
func TestCheckSentinels(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "good.go", "package a\n\nimport db \"database/sql\"\n\nvar _ = db.ErrNoRows\n")
	write(t, dir, "bad.go", "package a\n\nimport \"database/sql\"\n\nvar _ sql.DB\n")
	write(t, dir, "a_test.go", "package a\n\nimport \"database/sql\"\n\nvar _ sql.Tx\n")

	got, err := CheckSentinels(dir, Sentinels)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || !strings.Contains(got[0], "bad.go:5:7: DB") {
		t.Errorf("got %q, want only DB in bad.go", got)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestNamedLibrariesDoTheirWork (R34): the libraries that this project is built on are direct dependencies, and each is
// imported by the package whose work it does.
func TestNamedLibrariesDoTheirWork(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for library, file := range map[string]string{
		"github.com/avast/retry-go/v4": "../../resilient/pipeline.go",
		"github.com/sony/gobreaker/v2": "../../resilient/breaker/counter.go",
		"github.com/stretchr/testify":  "../../resilient/execute_test.go",
	} {
		if !regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(library) + ` v\S+$`).Match(mod) {
			t.Errorf("go.mod does not require %s directly", library)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"`+library) {
			t.Errorf("%s does not import %s", file, library)
		}
	}
	for _, folder := range []string{"resilient", "policies", "nesting", "sanitize", "examples/services"} {
		if info, err := os.Stat("../../" + folder); err != nil || !info.IsDir() {
			t.Errorf("there is no folder %s", folder)
		}
	}
}
