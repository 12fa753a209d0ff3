package main

import (
	"cmp"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// corpus is what there is to wrap.
type corpus struct {
	entries  []*entry
	packages int
	modules  []string
	facts    *facts
}

// entry is one exported interface.
type entry struct {
	module string
	pkg    *types.Package
	object *types.TypeName
	iface  *types.Interface
	params *types.TypeParamList

	folder int    // of its module
	file   string // that its package's interfaces are embedded in
	name   string // of the one that embeds it

	unwritable string // why no source can embed it
	methods    map[string]*types.Func

	refused bool // as it is
	asks    asks
	wrapped [2]bool
	sealed  bool // has methods of its own package
}

// asks are the directives that are asked for.
type asks struct {
	idempotent, timeout, skip []string
	accessor                  bool
}

func (e *entry) full() string { return e.pkg.Path() + "." + e.object.Name() }

// collect loads packages, by their export data, and finds their exported interfaces.
func collect(w *work, pattern *regexp.Regexp) (*corpus, error) {
	paths, out, err := complete()
	if err != nil {
		return nil, err
	}
	for path, why := range out {
		fmt.Printf("left out: %s: %s\n", path, why)
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return !pattern.MatchString(path) && !slices.Contains(needed(), path) })
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedModule | packages.NeedExportFile,
		Dir:  w.dir,
	}, paths...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(loaded, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	all := &corpus{packages: len(loaded), facts: &facts{}}
	for _, pkg := range loaded {
		if len(pkg.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", pkg.PkgPath, pkg.Errors[0])
		}
		module := standard
		if pkg.Module != nil {
			module = pkg.Module.Path
		}
		if !slices.Contains(all.modules, module) {
			all.modules = append(all.modules, module)
		}
		all.facts.learn(pkg.Types)
		all.entries = append(all.entries, interfaces(module, slices.Index(all.modules, module), pkg.Types)...)
	}
	for i, e := range all.entries {
		e.name = fmt.Sprintf("W%d", i)
	}
	slices.Sort(all.modules)
	return all, nil
}

func interfaces(module string, folder int, pkg *types.Package) []*entry {
	var found []*entry
	for _, name := range pkg.Scope().Names() {
		object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !object.Exported() {
			continue
		}
		iface, ok := object.Type().Underlying().(*types.Interface)
		if !ok {
			continue
		}
		e := &entry{module: module, pkg: pkg, object: object, iface: iface, folder: folder, methods: map[string]*types.Func{}}
		e.file = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return 'x'
		}, strings.ToLower(pkg.Path())) + fmt.Sprintf("x%d", len(pkg.Path())) // x: no GOOS, no _test at its end
		switch t := object.Type().(type) {
		case *types.Named:
			e.params = t.TypeParams()
		case *types.Alias:
			e.params = t.TypeParams()
		}
		for m := range iface.Methods() {
			if m.Exported() {
				e.methods[m.Name()] = m
			} else {
				e.sealed = true
			}
		}
		for p := range e.params.TypeParams() {
			e.unwritable = cmp.Or(e.unwritable, unspeakable(p.Constraint()))
		}
		found = append(found, e)
	}
	return found
}
