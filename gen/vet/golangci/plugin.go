// Package golangci makes the analyzers of package vet a linter of golangci-lint, by its module plugin system. Name it in
// .custom-gcl.yml, and the linter in .golangci.yml:
//
//	plugins:
//	  - module: github.com/seed42274fcc/stoic/gen/vet/golangci
//	    version: latest
//
//	linters:
//	  enable: [resilientvet]
//	  settings:
//	    custom:
//	      resilientvet:
//	        type: module
//	        settings:
//	          disable: [capturedwrite] # none, if left out
package golangci

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/vet"
)

// Name is what the linter is called in the configuration of golangci-lint.
const Name = "resilientvet"

// Registration at start is the one way in that golangci-lint has for plugins.
func init() { register.Plugin(Name, New) }

// Settings are those of the linter in the configuration of golangci-lint.
type Settings struct {
	// Disable lists analyzers that are left out, by their names.
	Disable []string `json:"disable"`
}

// New returns the linter with its settings, which may be nil. An unknown setting, or the name of an analyzer that there is
// not, is an error.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	analyzers := vet.Analyzers()
	for _, name := range s.Disable {
		named := func(a *analysis.Analyzer) bool { return a.Name == name }
		if !slices.ContainsFunc(analyzers, named) {
			return nil, fmt.Errorf("%s: disable: there is no analyzer %q", Name, name)
		}
		analyzers = slices.DeleteFunc(analyzers, named)
	}
	return plugin(analyzers), nil
}

type plugin []*analysis.Analyzer

// BuildAnalyzers returns the analyzers that are not disabled.
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) { return p, nil }

// GetLoadMode says that the analyzers need types.
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
