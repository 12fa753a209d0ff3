package gen

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// outputs prints the files.
func (r *run) outputs() {
	r.outFile, r.to = map[*target]string{}, map[string]*destination{}
	if r.config.Out != "" && !r.onePackage() {
		return
	}
	byPath := map[string]*output{}
	var order []string
	for _, t := range r.targets {
		path := r.pathFor(t)
		r.outFile[t] = path
		if !r.mayHold(path, t) {
			continue
		}
		o := byPath[path]
		if o == nil {
			o = &output{path: path, to: r.destination(filepath.Dir(path), t.pkg), build: buildOf(t.source, t.file)}
			byPath[path] = o
			order = append(order, path)
		} else if o.build != buildOf(t.source, t.file) {
			r.problems.add(t.pos, "cannot wrap "+t.object.Name(), "its file has another build constraint than those that share the output "+filepath.Base(path), "run without -out, which writes one output for each source file")
		}
		o.targets = append(o.targets, t)
	}
	slices.Sort(order)
	var planned []*output
	for _, path := range order {
		if o := byPath[path]; r.free(o) {
			r.otherModule(o)
			r.oldLanguage(o)
			o.plan(r.problems)
			planned = append(planned, o)
		}
	}
	doubles := r.doubles(planned)
	if len(r.problems.list) > 0 {
		return
	}
	for _, o := range planned {
		if content, ok := o.render(r.problems); ok {
			r.files = append(r.files, File{Path: o.path, Content: content, Old: o.old})
		}
	}
	r.files = append(append(r.files, doubles...), r.orphans()...)
}

// destination is the same one for all outputs in it, so that they do not declare the
// same names.
func (r *run) destination(dir string, pkg *packages.Package) *destination {
	key := dir + " " + pkg.PkgPath
	if r.to[key] == nil {
		r.to[key] = destinationOf(dir, r.loaded.fset, pkg)
	}
	return r.to[key]
}

// free reports whether an output may be written where it should go.
func (r *run) free(o *output) bool {
	o.old, _ = os.ReadFile(o.path) // no file is no old text
	if len(o.old) > 0 && !written(o.old) {
		r.problems.add(o.pos(), "cannot write "+filepath.Base(o.path), "there is such a file, and it was not written by resilientgen", "move it away, or choose another with -out")
		return false
	}
	return true
}

// onePackage checks that one file is enough for all wrappers.
func (r *run) onePackage() bool {
	for _, t := range r.targets {
		if t.pkg != r.targets[0].pkg {
			r.problems.add(t.pos, "cannot write "+r.config.Out, "the interfaces are in more than one package", "name one package, or leave -out away")
			return false
		}
	}
	return true
}

// written reports whether a file's text is one of ours.
func written(text []byte) bool { return strings.HasPrefix(string(text), directive.Generated) }

// outPath is the file of -out.
func outPath(config *Config) string {
	if filepath.IsAbs(config.Out) {
		return filepath.Clean(config.Out)
	}
	return filepath.Join(config.Dir, config.Out)
}

// pathFor is where the wrapper of a target goes: beside its source file, for that is
// what carries the build constraint. There are as many outputs as sources.
func (r *run) pathFor(t *target) string {
	if r.config.Out != "" {
		return outPath(r.config)
	}
	base := strings.TrimSuffix(t.source, ".go")
	if short, ok := strings.CutSuffix(base, "_test"); ok {
		return short + "_resilient_test.go"
	}
	return base + "_resilient.go"
}
