package gen

import (
	"cmp"
	"go/parser"
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
	if err := r.runtimeMissing(); err != nil {
		return err
	}
	r.unread()
	return nil
}

// find loads packages once and finds their targets.
func (r *run) find(extra []string, overlay map[string][]byte, fromSource bool) error {
	l, err := load(r.config, extra, r.loaded, r.config.Source || fromSource, overlay)
	if err != nil {
		return err
	}
	if !r.config.Tests && needsTests(l) {
		r.config.Tests = true
		if l, err = load(r.config, extra, r.loaded, r.config.Source || fromSource, overlay); err != nil {
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
			if r.ownFile(pos.Filename) {
				broken = true
				continue
			}
			r.problems.add(pos, "cannot read package "+cmp.Or(pkg.PkgPath, pkg.ID), strings.TrimSpace(e.Msg), "mend that first")
			broken = true
			break // what follows is most often the same
		}
	}
	return broken
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
			case v.kind == stream && m.says.op != "":
				r.notes.add(pos, "//resilient:op "+m.says.op+" does nothing", "only the opening of "+t.object.Name()+"."+m.name+" is guarded, which is no op", "take the name away")
			}
		}
		r.accessorUnused(t)
		distinctOps(t)
	}
	r.sameOps()
}

// accessorUnused mentions an accessor that no method has; its function must be there all
// the same.
func (r *run) accessorUnused(t *target) {
	d := directive.Find(t.decl.Directives, directive.Error)
	if d == nil || slices.ContainsFunc(t.methods, func(m *method) bool { return m.verdict.accessor != "" }) {
		return
	}
	pos := r.finder.position(d.Pos)
	if d.New != "" && findFunc(t, d.New) == nil {
		r.problems.add(pos, "//resilient:error "+d.Name+" new="+d.New, "there is no function "+d.New, "name one of this package, or of an imported one")
	}
	r.notes.add(pos, "//resilient:error "+d.Name+" does nothing", "no method of "+t.object.Name()+" that can be guarded has one result with a method "+d.Name+"() error", "name the right one, or take it away")
}

// ownName reports whether a file is called like one of our outputs.
func ownName(path string) bool {
	return strings.HasSuffix(path, "_resilient.go") || strings.HasSuffix(path, "_resilient_test.go")
}

// ours reports whether a file is one of our outputs: by its text, or empty after a crash.
// A name alone is not enough: anybody may call a file so.
func ours(path string, text []byte) bool {
	return written(text) || ownName(path) && !strings.Contains(string(text), "package ")
}

// ownFile is ours for a file that is still to be read.
func (r *run) ownFile(path string) bool {
	if path == "" {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.config.Dir, path)
	}
	text, err := os.ReadFile(path)
	return err == nil && ours(path, text)
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
			if err == nil && ours(path, text) {
				overlay[path] = []byte("package " + packageClause(path, text, pkg.Name) + "\n")
			}
		}
	}
	return overlay
}

// packageClause is the name that an output gives to its package. In a folder with tests
// there may be two packages; outside of tests it is the one of the other files.
func packageClause(path string, text []byte, name string) string {
	if !strings.HasSuffix(path, "_test.go") {
		return strings.TrimSuffix(name, "_test")
	}
	if file, _ := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly); file != nil && file.Name.Name != "_" {
		return file.Name.Name
	}
	return name
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
