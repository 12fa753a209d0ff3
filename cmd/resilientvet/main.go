// Command resilientvet finds what compiles and is wrong in code that uses stoic: writes that are retried, contexts that
// are dropped on the way into a guarded function, futures nobody waits for, wrappers older than their interface. After
// "go get -tool github.com/seed42274fcc/stoic/cmd/resilientvet":
//
//	go vet -vettool="$(go tool -n resilientvet)" ./...
//	go tool resilientvet ./...
//	go tool resilientvet -fix ./...
//
// "resilientvet help" lists the checks, "resilientvet help NAME" says what one of them sees. A flag named after a check
// runs only that one; with =false it leaves it out. The exit code is 0 without findings, 3 with some, 1 when the code could
// not be loaded; under go vet it is that of go vet.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/seed42274fcc/stoic/gen/vet"
)

// Main speaks go vet's protocol too, when it is asked in it.
func main() { multichecker.Main(vet.Analyzers()...) }
