package vet_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/seed42274fcc/stoic/gen/vet"
)

// Each analyzer finds every fault in the folder of its name, and nothing in what looks like it.
func TestAnalyzers(t *testing.T) {
	for _, analyzer := range vet.Analyzers() {
		t.Run(analyzer.Name, func(t *testing.T) {
			t.Parallel()
			patterns := []string{"./" + analyzer.Name}
			if analyzer.Name == "retriedwrite" {
				patterns = append(patterns, "./helpers") // for its facts
			}
			analysistest.RunWithSuggestedFixes(t, module(t), analyzer, patterns...)
		})
	}
}

func TestValid(t *testing.T) {
	require.NoError(t, analysis.Validate(vet.Analyzers()))
}
