package gen

import (
	"cmp"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// Run loads the packages, judges their interfaces and prints the wrappers. Nothing is
// written: that is for the caller, file by file. The error is for what has no place in
// a source: a go command that does not run, patterns that match nothing.
func Run(config *Config) (*Result, error) {
	dir, err := filepath.Abs(config.Dir)
	if err != nil {
		return nil, err
	}
	own := *config
	own.Dir = dir
	own.Env = config.environment()
	r := newRun(&own)
	if err := r.load(); err != nil {
		return nil, err
	}
	r.judge()
	r.outputs()
	return r.result(), nil
}

type run struct {
	config   *Config
	problems *problems
	notes    *problems
	loaded   *loaded
	targets  []*target
	finder   *finder
	broken   bool // a package could not be read
	files    []File
	outFile  map[*target]string
	to       map[string]*destination
}

func newRun(config *Config) *run {
	return &run{config: config, problems: &problems{dir: config.Dir}, notes: &problems{dir: config.Dir}}
}

// load finds the targets. The first try is the cheap one; only if a signature does not
// resolve, everything is read from source, and with our own outputs empty: one that is
// stale or broken must not be the reason.
func (r *run) load() error {
	var extra []string
	for _, again := range []bool{false, true} {
		var overlay map[string][]byte
		if again {
			overlay = emptied(r.loaded)
		}
		if err := r.find(extra, overlay, again); err != nil {
			return err
		}
		if len(r.finder.extra) > 0 && len(extra) == 0 {
			// The packages that //resilient:from names are known only now.
			extra = r.finder.extra
			if err := r.find(extra, overlay, again); err != nil {
				return err
			}
		}
		if !r.finder.invalid && !r.broken {
			break
		}
	}
	r.runtimeMissing()
	r.unread()
	return nil
}

// find loads packages once and finds their targets.
func (r *run) find(extra []string, overlay map[string][]byte, fromSource bool) error {
	l, err := load(r.config, extra, r.config.Source || fromSource, overlay)
	if err != nil {
		return err
	}
	if !r.config.Tests && needsTests(l) {
		r.config.Tests = true
		if l, err = load(r.config, extra, r.config.Source || fromSource, overlay); err != nil {
			return err
		}
	}
	r.loaded = l
	r.look()
	return nil
}

// look finds the targets of what is loaded.
func (r *run) look() {
	r.problems.list, r.notes.list = nil, nil
	r.broken = r.listErrors()
	r.finder = &finder{config: r.config, loaded: r.loaded, problems: r.problems, notes: r.notes, places: newPlaces(r.config, r.loaded)}
	r.targets = r.finder.find()
}

// listErrors reports packages that could not be listed or read. Type errors are none
// of ours.
func (r *run) listErrors() (broken bool) {
	for _, pkg := range r.loaded.packages {
		for _, e := range pkg.Errors {
			if e.Kind == packages.TypeError {
				continue
			}
			pos := parsePosition(e.Pos)
			if ownName(pos.Filename) {
				broken = true
				continue
			}
			r.problems.add(pos, "cannot read package "+cmp.Or(pkg.PkgPath, pkg.ID), strings.TrimSpace(e.Msg), "")
			broken = true
		}
	}
	return broken
}

// runtimeMissing explains a module that does not require the library.
func (r *run) runtimeMissing() {
	if len(r.targets) == 0 || r.loaded.runtime == nil || !slices.ContainsFunc(r.loaded.runtime.Errors, func(e packages.Error) bool {
		return e.Kind == packages.ListError
	}) {
		return
	}
	r.problems.add(r.targets[0].pos, "cannot wrap "+r.targets[0].object.Name(),
		"the module does not require github.com/seed42274fcc/stoic, which the wrapper calls", "run go get github.com/seed42274fcc/stoic")
}

// judge decides about every method.
func (r *run) judge() {
	for _, t := range r.targets {
		for _, m := range t.methods {
			v, refused := judge(m, r.finder.constructFor(t))
			m.verdict = v
			pos := m.pos
			if m.says.from.IsValid() {
				pos = m.says.from
			}
			switch {
			case refused != nil:
				r.problems.add(pos, "cannot guard "+t.object.Name()+"."+m.name, refused.why, refused.fix)
			case r.config.Strict && v.unguardable:
				r.problems.add(m.pos, "cannot guard "+t.object.Name()+"."+m.name, v.why, "-strict asks for all of them: say //resilient:skip to leave it unguarded")
			}
		}
	}
}

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
			o.plan(r.problems)
			planned = append(planned, o)
		}
	}
	if len(r.problems.list) > 0 {
		return
	}
	for _, o := range planned {
		if content, ok := o.render(r.problems); ok {
			r.files = append(r.files, File{Path: o.path, Content: content, Old: o.old})
		}
	}
	r.files = append(r.files, r.orphans()...)
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

// pathFor is where the wrapper of a target goes: beside its source file, for that is
// what carries the build constraint. There are as many outputs as sources.
func (r *run) pathFor(t *target) string {
	if out := r.config.Out; out != "" {
		if !filepath.IsAbs(out) {
			out = filepath.Join(r.config.Dir, out)
		}
		return out
	}
	base := strings.TrimSuffix(t.source, ".go")
	if short, ok := strings.CutSuffix(base, "_test"); ok {
		return short + "_resilient_test.go"
	}
	return base + "_resilient.go"
}

// ownName reports whether a file is called like one of our outputs.
func ownName(path string) bool {
	return strings.HasSuffix(path, "_resilient.go") || strings.HasSuffix(path, "_resilient_test.go")
}

// emptied are bare package clauses in the place of our outputs, to load packages as
// they would be without.
func emptied(l *loaded) map[string][]byte {
	overlay := map[string][]byte{}
	for _, pkg := range l.packages {
		dir := ""
		for _, file := range slices.Concat(pkg.GoFiles, pkg.OtherFiles, pkg.IgnoredFiles) {
			dir = filepath.Dir(file)
			break
		}
		if dir == "" {
			continue
		}
		matches, _ := filepath.Glob(filepath.Join(dir, "*.go"))
		for _, path := range matches {
			text, err := os.ReadFile(path)
			if err == nil && (written(text) || ownName(path) && !strings.Contains(string(text), "package ")) {
				overlay[path] = []byte("package " + pkg.Name + "\n")
			}
		}
	}
	return overlay
}

func parsePosition(text string) token.Position {
	var pos token.Position
	parts := strings.Split(text, ":")
	if len(parts) >= 1 && text != "-" {
		pos.Filename = parts[0]
	}
	if len(parts) >= 2 {
		pos.Line = number(parts[1])
	}
	if len(parts) >= 3 {
		pos.Column = number(parts[2])
	}
	return pos
}

func number(text string) int {
	n := 0
	for _, r := range text {
		if r < '0' || r > '9' || n > 1<<24 {
			return n
		}
		n = n*10 + int(r-'0')
	}
	return n
}

// result sums up.
func (r *run) result() *Result {
	out := &Result{Problems: r.problems.sorted(), Notes: r.notes.sorted()}
	if len(out.Problems) == 0 {
		out.Files = r.files
	}
	for _, t := range r.targets {
		out.Services = append(out.Services, t.describe(r.relative(r.outFile[t]), r.finder.short(t.pos)))
	}
	return out
}

func (r *run) relative(path string) string {
	if relative, err := filepath.Rel(r.config.Dir, path); err == nil {
		return filepath.ToSlash(relative)
	}
	return path
}

func (t *target) describe(output, pos string) Service {
	s := Service{Package: t.pkg.PkgPath, Interface: t.object.Name(), Service: t.service, Position: pos, Output: output}
	for _, m := range t.methods {
		d := Method{Name: m.name, Kind: string(m.verdict.kind), Idempotent: m.verdict.idempotent, Why: m.verdict.why}
		if m.verdict.kind == guarded {
			d.Op = m.verdict.op
			if m.says.total > 0 {
				d.Total = m.says.total.String()
			}
			if m.says.attempt > 0 {
				d.Attempt = m.says.attempt.String()
			}
		}
		s.Methods = append(s.Methods, d)
	}
	return s
}
