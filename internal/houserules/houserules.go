// Package houserules keeps the rules about who may import whom, and about which modules there are. They are data
// (rules.go); this file reads the repository and compares, and the tests report what differs.
package houserules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Package is what go list says about a package of the root module, with the imports that build tags hide from it.
type Package struct {
	ImportPath   string
	Dir          string
	Imports      []string // of the code
	TestImports  []string // of the tests inside the package
	XTestImports []string // of the tests beside it

	IgnoredGoFiles []string // left out by build tags or by the platform: the rules hold there too
}

// Packages lists the packages of the module in the folder root, nested modules not among them.
func Packages(root string) ([]Package, error) {
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,IgnoredGoFiles", "./...")
	list.Dir = root
	list.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	list.Stdout, list.Stderr = &stdout, &stderr
	if err := list.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &stderr)
	}
	var packages []Package
	for decoder := json.NewDecoder(&stdout); ; {
		var pkg Package
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if err := pkg.addIgnored(); err != nil {
			return nil, err
		}
		packages = append(packages, pkg)
	}
}

// addIgnored adds the imports of the files that go list leaves out.
func (p *Package) addIgnored() error {
	for _, name := range p.IgnoredGoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, "_test.go") {
				p.TestImports = append(p.TestImports, imported)
			} else {
				p.Imports = append(p.Imports, imported)
			}
		}
	}
	return nil
}

// Check compares packages with the rules and returns one line for each breach.
func Check(packages []Package, rules map[string]Rule) []string {
	var breaches []string
	for _, pkg := range packages {
		name := local(pkg.ImportPath)
		rule, ok := rules[name]
		if !ok {
			breaches = append(breaches, fmt.Sprintf(
				"%s has no rule: add a row to Rules in internal/houserules/rules.go that says what it may import", name))
			continue
		}
		for _, imported := range unique(pkg.Imports) {
			if why := rule.refuses(imported); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s", name, local(imported), why))
			}
		}
		for _, imported := range unique(pkg.TestImports, pkg.XTestImports) {
			if why := rule.refusesInTests(imported); why != "" {
				breaches = append(breaches, fmt.Sprintf("a test of %s imports %s: %s", name, local(imported), why))
			}
		}
	}
	return breaches
}

// refuses says why code under the rule may not import a package; nothing if it may.
func (r Rule) refuses(imported string) string {
	switch {
	case standard(imported):
		if slices.Contains(r.Never, imported) {
			return "this package must not know about it (" + r.Why + ")"
		}
		return ""
	case inModule(imported) && strings.HasPrefix(local(imported), "internal/"):
		return "internal packages are for the tests of this repository"
	case matches(TestOnly, imported):
		return "only tests use it; users of the library would inherit it"
	case matches(r.May, local(imported)):
		return ""
	}
	return "not among what its rule allows (" + r.Why + ")"
}

// refusesInTests says why tests of a package under the rule may not import a package; nothing if they may. Tests may
// use every package of the module, for the compiler forbids cycles already.
func (r Rule) refusesInTests(imported string) string {
	if standard(imported) || inModule(imported) || matches(TestOnly, imported) || matches(r.May, imported) {
		return ""
	}
	return "neither in TestOnly nor among what its rule allows (" + r.Why + ")"
}

// standard tells the standard library's packages by their first element, which has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func inModule(imported string) bool {
	return imported == Module || strings.HasPrefix(imported, Module+"/")
}

// local shortens a package of the module to its folder, and leaves others as they are.
func local(imported string) string {
	if imported == Module {
		return "."
	}
	return strings.TrimPrefix(imported, Module+"/")
}

// matches reports whether one of the patterns is imported, or is a tree ("x/...") that imported is in.
func matches(patterns []string, imported string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		tree, isTree := strings.CutSuffix(pattern, "/...")
		return imported == tree || isTree && strings.HasPrefix(imported, tree+"/")
	})
}

func unique(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Modules finds the folders below root that hold a go.mod, as slash-separated paths with "." for root itself.
func Modules(root string) ([]string, error) {
	var found []string
	err := walk(root, func(name string) {
		if path.Base(name) == "go.mod" {
			found = append(found, path.Dir(name))
		}
	})
	return found, err
}

// walk calls visit with every file below root that is neither hidden nor test data.
func walk(root string, visit func(name string)) error {
	return filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != root
		if entry.IsDir() && (hidden || entry.Name() == "testdata" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			visit(filepath.ToSlash(relative))
		}
		return nil
	})
}

// Workspace returns the folders that the go.work file in root uses, written like those of Modules.
func Workspace(root string) ([]string, error) {
	edit := exec.Command("go", "work", "edit", "-json", filepath.Join(root, "go.work"))
	out, err := edit.Output()
	if err != nil {
		return nil, fmt.Errorf("go work edit: %w", err)
	}
	var work struct {
		Use []struct{ DiskPath string }
	}
	if err := json.Unmarshal(out, &work); err != nil {
		return nil, fmt.Errorf("go work edit: %w", err)
	}
	var used []string
	for _, use := range work.Use {
		used = append(used, path.Clean(use.DiskPath))
	}
	return used, nil
}
