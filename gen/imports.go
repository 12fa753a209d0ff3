package gen

import (
	"cmp"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// imports decides the name of every package before anything is printed.
type imports struct {
	packages map[string]string // by import path, the package's own name
	ours     map[string]bool   // those that only generated code needs
	alias    map[string]string
}

func newImports() *imports {
	return &imports{packages: map[string]string{}, ours: map[string]bool{}, alias: map[string]string{}}
}

// types takes note of a package that a user's type is from.
func (im *imports) types(p *types.Package) {
	im.packages[p.Path()] = p.Name()
	delete(im.ours, p.Path())
}

// need takes note of a package that generated code calls.
func (im *imports) need(importPath, name string) {
	if _, ok := im.packages[importPath]; !ok {
		im.packages[importPath] = name
		im.ours[importPath] = true
	}
}

// decide gives each package its name: first the one that the source file uses, then
// its own, then one made of its path. What only generated code needs gives way to
// what users named. The order is that of the paths, so that the result does not
// depend on chance.
func (im *imports) decide(files []*ast.File, reserved taken) {
	used := taken{}
	used.addAll(reserved)
	used.add("init", "err") // no import may be called init, and the printer keeps err back
	wish := wishes(files)
	paths := slices.SortedFunc(maps.Keys(im.packages), func(a, b string) int {
		return cmp.Or(cmp.Compare(im.rank(a, wish), im.rank(b, wish)), cmp.Compare(a, b))
	})
	for _, p := range paths {
		candidates := slices.Clone(wish[p])
		for i, candidate := range candidates {
			candidates[i] = cmp.Or(candidate, im.packages[p])
		}
		candidates = append(candidates, im.packages[p])
		if !im.ours[p] {
			candidates = append(candidates, fromPath(p))
		}
		name := ""
		for _, candidate := range candidates {
			if candidate != "" && !used[candidate] {
				name = candidate
				break
			}
		}
		if name == "" {
			name = used.renamed(im.packages[p])
		}
		used.add(name)
		im.alias[p] = name
	}
}

func (im *imports) rank(p string, wish map[string][]string) int {
	switch {
	case im.ours[p]:
		return 2
	case len(wish[p]) == 0:
		return 1
	}
	return 0
}

// wishes are the names that the source files give to packages.
func wishes(files []*ast.File) map[string][]string {
	wish := map[string][]string{}
	for _, file := range files {
		for _, spec := range file.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			switch {
			case err != nil || spec.Name != nil && (spec.Name.Name == "_" || spec.Name.Name == "."):
			case spec.Name == nil:
				wish[p] = append(wish[p], "") // its own
			default:
				wish[p] = append(wish[p], spec.Name.Name)
			}
		}
	}
	return wish
}

// fromPath makes a name of the last two elements of a path: k8s.io/api/batch/v1 is
// batchv1.
func fromPath(p string) string {
	name := path.Base(path.Dir(p)) + path.Base(p)
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimLeft(name, "0123456789./"))
}
