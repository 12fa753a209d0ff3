package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
)

func budgetsFlag(cmd *cobra.Command, names *[]string) {
	cmd.Flags().StringSliceVar(names, "budgets", nil, "the retry budgets that the program has, by name; without it any name will do")
}

// budgets are those of the names, or without any all that a configuration names: what
// a program passes in Options.Budgets is not known here.
func budgets(names []string, c policies.Config) (map[string]*resilient.Budget, error) {
	if len(names) == 0 {
		for patch := range maps.Values(c.RetryServiceOverrides) {
			if name := patch.Retry.Budget; name != nil && *name != "" {
				names = append(names, *name)
			}
		}
	}
	all := map[string]*resilient.Budget{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		b, err := resilient.NewBudget(resilient.DefaultTokenBucket())
		if err != nil {
			return nil, err
		}
		all[name] = b
	}
	return all, nil
}
