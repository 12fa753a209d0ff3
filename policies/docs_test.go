package policies_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

// The overrides that are shown are right: nothing is found wrong with them.
func TestOverridesInTheDocs(t *testing.T) {
	variable := regexp.MustCompile(`(?s)SHOP_RETRY_SERVICE_OVERRIDES='(.*?)'`)
	object := regexp.MustCompile("(?s)```json\n(.*?)```")
	inText := regexp.MustCompile("`(\\{\"(?s:.*?)\\}\\})`")
	for name, least := range map[string]int{"../README.md": 4, "../docs/policies.md": 1} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		seen := 0
		for _, pattern := range []*regexp.Regexp{variable, object, inText} {
			for _, found := range pattern.FindAllStringSubmatch(string(text), -1) {
				seen++
				pot, err := resilient.NewBudget(resilient.DefaultCallRatio())
				require.NoError(t, err)
				options := quiet()
				options.Budgets = map[string]*resilient.Budget{"gateway": pot}
				reg, err := policies.FromEnv("P", &policies.Options{Options: options, LookupEnv: lookupIn(map[string]string{
					"P_RETRY_SERVICE_OVERRIDES": found[1],
				})})
				require.NoError(t, err)
				assert.Empty(t, reg.Findings(), "%s: %s", name, found[1])
			}
		}
		assert.GreaterOrEqual(t, seen, least, name)
	}
}

// No setting is missing in the lists.
func TestEverySettingIsInTheDocs(t *testing.T) {
	for _, name := range []string{"../README.md", "../docs/policies.md"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, key := range policies.Keys() {
			short := key[strings.LastIndex(key, ".")+1:]
			assert.Contains(t, string(text), "`"+short+"`", "%s in %s", key, name)
		}
	}
}
