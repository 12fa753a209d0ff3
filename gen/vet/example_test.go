package vet_test

import (
	"fmt"
	"strings"

	"github.com/seed42274fcc/stoic/gen/vet"
)

// A multichecker of one's own takes them all: multichecker.Main(append(vet.Analyzers(), others...)...).
func ExampleAnalyzers() {
	for _, analyzer := range vet.Analyzers() {
		says, _, _ := strings.Cut(analyzer.Doc, "\n")
		fmt.Printf("%s: %s\n", analyzer.Name, says)
	}
	// Output:
	// asyncresult: report functions that return before their work is done and are guarded as if they had not
	// capturedwrite: report assignments to captured variables in guarded functions
	// emptydirective: report directives that do nothing
	// idempotentop: report idempotent ops round methods that are not annotated idempotent
	// lostcontext: report guarded functions that do not use the context they are given
	// lostfuture: report futures that are neither awaited nor cancelled
	// ownretryloop: report guarded calls in a retry loop of one's own
	// rawservice: report calls of a service beside its wrapper
	// retriedwrite: report writers that are called in functions which are retried
	// stalegen: report wrappers that are older than their interface
	// streamtimeout: report streams that are returned out of a guarded function
}
