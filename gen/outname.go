package gen

import (
	"go/token"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mayHold checks whether the file of -out is one that the wrapper of a target can be
// in. Without -out the file stands beside its source and is called after it.
func (r *run) mayHold(path string, t *target) bool {
	if r.config.Out == "" {
		return true
	}
	refuse := func(why, fix string) bool {
		r.problems.add(t.pos, "cannot write "+r.config.Out, why, fix)
		return false
	}
	base := filepath.Base(path)
	fix := "choose another name"
	switch {
	case strings.HasPrefix(base, "_") || strings.HasPrefix(base, "."):
		return refuse("the go command passes over files whose names begin so", fix)
	case len(tagsOf(path)) > 0:
		return refuse("the name of the file limits it to "+strings.Join(tagsOf(path), " and "), fix)
	case strings.HasSuffix(t.source, "_test.go") && !strings.HasSuffix(base, "_test.go"):
		return refuse(t.object.Name()+" is declared in a test file, which only tests can use", "let the name end in _test.go")
	}
	to := r.destination(filepath.Dir(path), t.pkg)
	switch {
	case to.path == "":
		return refuse("its folder is in no module", "choose a folder of a module that requires "+strings.TrimSuffix(runtimePath, "/resilient"))
	case !token.IsIdentifier(to.name):
		return refuse("package "+to.path+" would be called "+to.name+", which is no name of a package", "write a file with a package clause there, or choose another folder")
	case to.path != t.pkg.PkgPath && !strings.HasSuffix(base, "_test.go") && importsPackage(t.pkg, to.path):
		return refuse("package "+t.pkg.PkgPath+" imports "+to.path+", which cannot import it too", "write the wrapper into another package")
	}
	return true
}

// importsPackage reports whether a package imports another, itself or through others.
func importsPackage(pkg *packages.Package, path string) bool {
	seen := map[string]bool{}
	var search func(p *packages.Package) bool
	search = func(p *packages.Package) bool {
		if seen[p.PkgPath] {
			return false
		}
		seen[p.PkgPath] = true
		for _, imported := range p.Imports {
			if imported.PkgPath == path || search(imported) {
				return true
			}
		}
		return false
	}
	return search(pkg)
}
