package golangci_test

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/gen/vet"
	"github.com/seed42274fcc/stoic/gen/vet/golangci"
)

// golangci-lint finds a plugin by its name, and gives it what the configuration says.
func TestPlugin(t *testing.T) {
	build, err := register.GetPlugin(golangci.Name)
	require.NoError(t, err)
	linter, err := build(nil)
	require.NoError(t, err)
	analyzers, err := linter.BuildAnalyzers()
	require.NoError(t, err)
	assert.Equal(t, vet.Analyzers(), analyzers)
	assert.Equal(t, register.LoadModeTypesInfo, linter.GetLoadMode())
}

func TestDisable(t *testing.T) {
	linter, err := golangci.New(map[string]any{"disable": []string{"lostcontext", "stalegen"}})
	require.NoError(t, err)
	analyzers, err := linter.BuildAnalyzers()
	require.NoError(t, err)
	assert.Len(t, analyzers, len(vet.Analyzers())-2)
	for _, a := range analyzers {
		assert.NotContains(t, []string{"lostcontext", "stalegen"}, a.Name)
	}

	_, err = golangci.New(map[string]any{"disable": []string{"lostcontent"}})
	require.ErrorContains(t, err, `there is no analyzer "lostcontent"`)
	_, err = golangci.New(map[string]any{"enable": []string{"lostcontext"}})
	require.ErrorContains(t, err, "enable")
}
