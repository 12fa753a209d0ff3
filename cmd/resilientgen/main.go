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

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Environ()))
}
