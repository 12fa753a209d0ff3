package gen

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"

	"golang.org/x/tools/go/packages"
)

// runtimeMissing explains a module that does not require the library. Most modules say
// so in their go.mod, and then that is all there is to do: to load the library as well
// would take a good part of a run's time. A workspace may have it all the same.
func (r *run) runtimeMissing() error {
	if len(r.targets) == 0 || requiresRuntime(r.targets[0].pkg.Module) {
		return nil
	}
	settings := &packages.Config{Mode: packages.NeedName | packages.NeedFiles, Dir: r.config.Dir, Env: r.config.Env}
	found, err := packages.Load(settings, runtimePath)
	if err != nil {
		return fmt.Errorf("load package %s: %w", runtimePath, err)
	}
	if slices.ContainsFunc(found, func(pkg *packages.Package) bool {
		return slices.ContainsFunc(pkg.Errors, func(e packages.Error) bool { return e.Kind == packages.ListError })
	}) {
		r.problems.add(r.targets[0].pos, "cannot wrap "+r.targets[0].object.Name(),
			"the module does not require github.com/seed42274fcc/stoic, which the wrapper calls", "run go get github.com/seed42274fcc/stoic")
	}
	return nil
}

// requiresRuntime reports whether a module is the library's, or has it in its go.mod.
// When in doubt, it does not.
func requiresRuntime(module *packages.Module) bool {
	library := path.Dir(runtimePath)
	if module == nil || module.Path == library {
		return module != nil
	}
	text, _ := os.ReadFile(module.GoMod) // one that is not there requires nothing
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("require ")))
		if len(fields) >= 2 && string(fields[0]) == library && fields[1][0] == 'v' {
			return true
		}
	}
	return false
}
