package policies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/sanitize"
)

// pathBudget is the field that names a budget.
const pathBudget = "retry.budget"

// budgets are the names there are. Live budgets are wiring, and come with the options;
// a policy only names one.
type budgets []string

func budgetsOf(o *resilient.Options) budgets { return slices.Sorted(maps.Keys(o.Budgets)) }

// checkBudgets refuses what is no budget before a configuration can name it, since what
// names it then could not be put in force.
func checkBudgets(all map[string]*resilient.Budget) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Snapshot().Rule == nil {
			return fmt.Errorf("policies: Options.Budgets[%q] is nil or was not made by resilient.NewBudget", sanitize.Message(name))
		}
	}
	return nil
}

// unknown is what is wrong with a patch that names a budget which is not among them.
func (all budgets) unknown(p *Patch) *fault {
	name := p.Retry.Budget
	switch {
	case name == nil || *name == "" || slices.Contains(all, *name):
		return nil
	case len(all) == 0:
		return outOfRange("names a budget, and Options.Budgets has none")
	}
	shown := make([]string, len(all)) // they come from a program's code, but who knows
	for i, known := range all {
		shown[i] = sanitize.Message(known)
	}
	return outOfRange("names no budget%s, want one of %s", didYouMean(sanitize.Message(nearest(*name, all))), strings.Join(shown, ", "))
}

// known returns the overrides without those that name a budget which there is not.
func (all budgets) known(overrides map[string]Patch) (map[string]Patch, []Finding) {
	var found []Finding
	for _, service := range slices.Sorted(maps.Keys(overrides)) {
		patch := overrides[service]
		if bad := all.unknown(&patch); bad != nil {
			delete(overrides, service)
			found = append(found, newFinding(service, pathBudget, bad.kind, bad.text+overrideSkipped))
		}
	}
	return overrides, found
}
