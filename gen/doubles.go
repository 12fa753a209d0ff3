package gen

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// doubles are outputs of an earlier run that wrap what this one wraps into another
// file: a source was renamed, or -out is given now and was not before. Left alone, both
// would declare the same names. One whose source is gone is to be removed; any other is
// refused, for it may be the one that is meant.
func (r *run) doubles(planned []*output) []File {
	made := map[string]bool{}
	for _, o := range planned {
		made[filepath.Clean(o.path)] = true
	}
	var found []File
	seen := map[string]bool{}
	for _, o := range planned {
		matches, _ := filepath.Glob(filepath.Join(filepath.Dir(o.path), "*.go"))
		for _, path := range matches {
			if made[path] || seen[path] {
				continue
			}
			fset, text, mark, all := o.double(path)
			if mark == nil {
				continue
			}
			seen[path] = true
			if all && ownName(path) && !asks(sourceOf(path)) {
				found = append(found, File{Path: path, Old: text})
				continue
			}
			r.problems.add(fset.Position(mark.Pos), "cannot write "+filepath.Base(o.path), "this file of an earlier run wraps "+mark.Interface+" too, so that its names would be declared twice",
				"remove it, or write to it with -out "+filepath.Base(path))
		}
	}
	return found
}

// double reads a file, and returns the mark in it, if it is an output of ours that would
// be compiled together with o and wraps an interface that o wraps, and whether it wraps
// no other.
func (o *output) double(path string) (fset *token.FileSet, text []byte, mark *fingerprint.Mark, all bool) {
	text, err := os.ReadFile(path)
	if err != nil || !written(text) {
		return nil, nil, nil, false
	}
	fset = token.NewFileSet()
	file, _ := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil || file.Name.Name != o.to.name || !overlap(o.build, buildOf(path, file)) {
		return nil, nil, nil, false
	}
	mark, all = o.wrapsAgain(file)
	return fset, text, mark, all
}

// wrapsAgain returns the first mark in an output that names an interface which o wraps,
// and whether all of them do.
func (o *output) wrapsAgain(file *ast.File) (again *fingerprint.Mark, all bool) {
	marks, n := fingerprint.Marks(file), 0
	for i, mark := range marks {
		if !slices.ContainsFunc(o.wrappers, func(w *wrapper) bool { return w.fingerprintName() == mark.Interface }) {
			continue
		}
		if n++; again == nil {
			again = &marks[i]
		}
	}
	return again, n == len(marks)
}

// overlap reports whether two build constraints can hold at once, as far as trying
// shows: when in doubt, they can.
func overlap(a, b string) bool {
	var exprs []constraint.Expr
	tags := map[string]bool{}
	for _, text := range []string{a, b} {
		if text == "" {
			continue
		}
		expr, err := constraint.Parse("//go:build " + text)
		if err != nil {
			return true
		}
		exprs = append(exprs, expr)
		collectTags(expr, tags)
	}
	names := slices.Sorted(maps.Keys(tags))
	if len(names) > 12 {
		return true
	}
	for set := range 1 << len(names) {
		on := func(tag string) bool {
			i, ok := slices.BinarySearch(names, tag)
			return ok && set&(1<<i) != 0
		}
		if possible(names, on) && !slices.ContainsFunc(exprs, func(e constraint.Expr) bool { return !e.Eval(on) }) {
			return true
		}
	}
	return false
}

func collectTags(expr constraint.Expr, tags map[string]bool) {
	switch expr := expr.(type) {
	case *constraint.TagExpr:
		tags[expr.Tag] = true
	case *constraint.NotExpr:
		collectTags(expr.X, tags)
	case *constraint.AndExpr:
		collectTags(expr.X, tags)
		collectTags(expr.Y, tags)
	case *constraint.OrExpr:
		collectTags(expr.X, tags)
		collectTags(expr.Y, tags)
	}
}

// possible reports whether tags can hold together: a build has one system and one
// architecture, though android is a linux, ios a darwin and illumos a solaris as well.
func possible(names []string, on func(string) bool) bool {
	os, arch := 0, 0
	for _, name := range names {
		switch {
		case !on(name):
		case name == "android" && on("linux"), name == "ios" && on("darwin"), name == "illumos" && on("solaris"):
		case slices.Contains(systems(), name):
			os++
		case slices.Contains(architectures(), name):
			arch++
		}
	}
	return os <= 1 && arch <= 1
}
