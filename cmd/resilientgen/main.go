// Command resilientgen writes resilient wrappers for interfaces that carry
// //resilient:service. Put this line into a file of the package, after
// "go get -tool github.com/seed42274fcc/stoic/cmd/resilientgen":
//
//	//go:generate go tool resilientgen
//
// It exits with 0 when all is well, 1 when something is refused or, with -check, an
// output is out of date, and 2 when it was called wrongly. "resilientgen -help" lists
// the flags.
package main

import (
	"os"
	"runtime/debug"
	"strconv"
)

// plenty is what a run may take before it is worth collecting garbage: it is over in a second or so.
const plenty = 1 << 30

func main() {
	env := os.Environ()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(plenty)
		env = unhurried(env)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, env))
}

// unhurried lets the go command collect less garbage as well: most of a run is spent in it, and a sixth of that on
// garbage that fits into memory. It may have to compile first, which takes more; hence the limit, unless there is one.
func unhurried(env []string) []string {
	env = append(env, "GOGC=400")
	if lookup(env, "GOMEMLIMIT") == "" {
		env = append(env, "GOMEMLIMIT="+strconv.Itoa(plenty))
	}
	return env
}
