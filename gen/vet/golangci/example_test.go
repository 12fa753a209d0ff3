package golangci_test

import (
	"fmt"

	"github.com/seed42274fcc/stoic/gen/vet/golangci"
)

// Golangci-lint does this, with the settings of its configuration.
func ExampleNew() {
	linter, err := golangci.New(map[string]any{"disable": []string{"capturedwrite"}})
	if err != nil {
		panic(err)
	}
	analyzers, err := linter.BuildAnalyzers()
	if err != nil {
		panic(err)
	}
	fmt.Println(golangci.Name, len(analyzers), analyzers[0].Name, analyzers[1].Name)
	// Output: resilientvet 10 asyncresult emptydirective
}
