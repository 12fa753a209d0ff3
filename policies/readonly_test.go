package policies_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/policies"
)

type phase string

func (phase) String() string { return "plan" }

// R3: only strings are looked at.
func TestReadOnlyPlan(t *testing.T) {
	plan := "plan"
	for _, yes := range []any{"plan", "planning", "analysis", "review", "read_only", "PLAN", "Planning", "aNaLySiS", "READ_ONLY"} {
		assert.True(t, policies.ReadOnlyPlan(yes), "%v", yes)
	}
	for _, no := range []any{
		nil, "", " plan", "plan ", "plans", "execute", "apply", "read-only", "readonly", "true", "1",
		true, 1, 1.0, &plan, (*string)(nil), []byte("plan"), []string{"plan"}, [1]string{"plan"}, map[string]bool{"plan": true},
		struct{ Phase string }{"plan"}, phase("plan"), func() string { return "plan" }, 'p', error(nil),
	} {
		assert.False(t, policies.ReadOnlyPlan(no), "%#v", no)
	}
}

// R3: the set is data.
func TestReadOnlyPlanIn(t *testing.T) {
	set := []string{"Dry_Run", "plan"}
	is := policies.ReadOnlyPlanIn(set...)
	set[1] = "apply"
	assert.True(t, is("dry_run"))
	assert.True(t, is("PLAN"), "the set was copied")
	assert.False(t, is("apply"))
	assert.False(t, is("review"))
	assert.False(t, policies.ReadOnlyPlanIn()("plan"))
	assert.False(t, policies.ReadOnlyPlanIn()(""))

	policies.ReadOnlyPhases()[0] = "apply" // R21
	assert.Equal(t, []string{"plan", "planning", "analysis", "review", "read_only"}, policies.ReadOnlyPhases())
	assert.False(t, policies.ReadOnlyPlan("apply"))
}
