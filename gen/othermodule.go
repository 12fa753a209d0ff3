package gen

import (
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

// otherModule checks an output in another module than its source: that one must
// require both what is wrapped and the library.
func (r *run) otherModule(o *output) {
	t := o.targets[0]
	from, to := moduleRoot(filepath.Dir(t.source)), moduleRoot(o.to.dir)
	if from == to {
		return
	}
	dir := o.to.dir
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	found, err := packages.Load(&packages.Config{Mode: packages.NeedName, Dir: dir, Env: r.config.Env}, runtimePath, t.pkg.PkgPath)
	if err != nil {
		r.problems.add(t.pos, "cannot write "+r.relative(o.path), err.Error(), "write the wrapper into the module of its interface")
		return
	}
	for _, pkg := range found {
		if len(pkg.Errors) > 0 {
			r.problems.add(t.pos, "cannot write "+r.relative(o.path), "the module there does not require "+pkg.PkgPath, "run go get "+pkg.PkgPath+" there, or write the wrapper into the module of its interface")
		}
	}
}
