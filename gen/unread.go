package gen

import (
	"bytes"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// unread looks for directives in files that the go command left out: they would be
// passed over in silence.
func (r *run) unread() {
	for _, pkg := range r.loaded.packages {
		for _, path := range pkg.IgnoredFiles {
			r.unreadIn(path)
		}
	}
	for _, pattern := range r.config.Patterns {
		if tree, ok := strings.CutSuffix(filepath.ToSlash(pattern), "..."); ok && (strings.HasPrefix(tree, ".") || filepath.IsAbs(tree)) {
			if !filepath.IsAbs(tree) {
				tree = filepath.Join(r.config.Dir, tree)
			}
			r.beyond(tree)
		}
	}
}

// mentions reads a file if it may hold a directive.
func mentions(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".go") || !bytes.Contains(bytes.ToLower(text), []byte("resilien")) {
		return nil
	}
	return text
}

// first returns the first directive in a file, well formed or not, and the verb.
func first(path string) (token.Position, directive.Verb, string) {
	text := mentions(path)
	if text == nil {
		return token.Position{}, "", ""
	}
	fset := token.NewFileSet()
	file, _ := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return token.Position{}, "", ""
	}
	build := buildOf(path, file)
	read := directive.Read(file)
	for _, t := range read.Types {
		for _, d := range t.Directives {
			return fset.Position(d.Pos), d.Verb, build
		}
	}
	for _, p := range read.Problems {
		return fset.Position(p.Pos), "", build
	}
	return token.Position{}, "", build
}

func (r *run) unreadIn(path string) {
	pos, verb, build := first(path)
	if !pos.IsValid() {
		return
	}
	what := "a directive"
	if verb != "" {
		what = "//resilient:" + string(verb)
	}
	if never(build) {
		r.problems.add(pos, what+" is never read", "the file's build constraint is "+build, "move the interface into a file that is built")
		return
	}
	r.notes.add(pos, what+" is left out", "the file's build constraint does not hold here", "run with -tags or another GOOS to have it, too")
}

// never reports whether a constraint is the customary one for files that belong to no
// package.
func never(build string) bool {
	expr, err := constraint.Parse("//go:build " + build)
	return err == nil && expr.Eval(func(string) bool { return true }) && !expr.Eval(func(tag string) bool { return tag != "ignore" })
}

// beyond looks below the folder of a pattern for modules of their own.
func (r *run) beyond(tree string) {
	_ = filepath.WalkDir(tree, func(path string, entry fs.DirEntry, err error) error { // what cannot be read holds no module
		if err != nil {
			return fs.SkipDir
		}
		if entry.IsDir() {
			if name := entry.Name(); path != tree && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "vendor" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		dir := filepath.Dir(path)
		if entry.Name() == "go.mod" && dir != filepath.Clean(tree) {
			r.mentionModule(dir)
			return fs.SkipDir
		}
		return nil
	})
}

func (r *run) mentionModule(dir string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if pos, verb, _ := first(path); pos.IsValid() {
			what := "a directive"
			if verb != "" {
				what = "//resilient:" + string(verb)
			}
			r.notes.add(pos, what+" is not read", "it belongs to the module in "+r.relative(dir)+", and ... stops at its border", "run resilientgen there, too")
			return fs.SkipAll
		}
		return nil
	})
}

// needsTests reports whether a test file asks for a wrapper: then tests are loaded
// too, which takes longer.
func needsTests(l *loaded) bool {
	seen := map[string]bool{}
	for _, pkg := range l.packages {
		dir := pkg.Dir // a package may have nothing but tests
		if dir == "" || seen[dir] {
			continue
		}
		seen[dir] = true
		matches, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
		for _, path := range matches {
			if pos, _, _ := first(path); pos.IsValid() {
				return true
			}
		}
	}
	return false
}
