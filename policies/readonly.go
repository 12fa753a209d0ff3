package policies

import (
	"slices"
	"strings"
)

// ReadOnlyPhases returns the phases in which a plan only reads: plan, planning,
// analysis, review, read_only. The slice is the caller's own.
func ReadOnlyPhases() []string {
	return []string{"plan", "planning", "analysis", "review", "read_only"}
}

// defaultReadOnly is built once, since a call asks it.
var defaultReadOnly = ReadOnlyPlanIn(ReadOnlyPhases()...)

// ReadOnlyPlan reports whether phase is one of [ReadOnlyPhases], whatever the case
// of its letters. Only a string is looked at; any other value is not read-only,
// however truthy: true, 1, a pointer, a []byte, and also a type of one's own whose
// underlying type is string. Convert that one: ReadOnlyPlan(string(phase)).
//
// Every guard of a [Registry] asks it, unless its options hold another (see
// [ReadOnlyPlanIn]). It may be called concurrently.
func ReadOnlyPlan(phase any) bool { return defaultReadOnly(phase) }

// ReadOnlyPlanIn returns the same as [ReadOnlyPlan] for another set of phases,
// which it copies. Without any, no phase is read-only.
func ReadOnlyPlanIn(phases ...string) func(phase any) bool {
	phases = slices.Clone(phases)
	return func(phase any) bool {
		name, isString := phase.(string)
		return isString && slices.ContainsFunc(phases, func(p string) bool { return strings.EqualFold(p, name) })
	}
}
