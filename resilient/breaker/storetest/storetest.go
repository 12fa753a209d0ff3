package storetest

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
)

// check is one of those that are made.
type check struct {
	name string
	// needs names what the harness must have for it and returns whether it does; nil is
	// nothing.
	needs func(h Harness) (field string, there bool)
	run   func(l *lab)
}

// checks returns all of them.
func checks() []check {
	return slices.Concat(closedChecks(), openChecks(), probeChecks(), orderChecks(), voteChecks(),
		repeatChecks(), nameChecks(), crowdChecks(), walkChecks(), newsChecks(), faultChecks(), clockChecks())
}

// Run makes every check as a subtest of its own. The function returns the harness for
// one of them, and can leave what is to be cleaned up to the subtest's Cleanup.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) { c.report(t, harness(t)) })
	}
}

// RunInBubble is Run with each check in a bubble of testing/synctest, so that no time is
// lost by waiting: for stores in this process whose clock is the time package's.
func RunInBubble(t *testing.T, harness func(t *testing.T) Harness) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.report(t, harness(t)) })
		})
	}
}

// Findings makes every check on one harness and returns what is wrong: nil if nothing
// is. It is Run for those who want to do something else with it than fail.
func Findings(h Harness) []error {
	var all []error
	for _, c := range checks() {
		findings, _ := c.examine(h)
		for _, err := range findings {
			all = append(all, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	return all
}

func (c check) report(t *testing.T, h Harness) {
	t.Helper()
	findings, notes := c.examine(h)
	for _, note := range notes {
		t.Log(note)
	}
	for _, err := range findings {
		t.Error(err)
	}
}

// examine makes the check, unless the harness lacks what it needs.
func (c check) examine(h Harness) (findings []error, notes []string) {
	if c.needs != nil {
		if field, there := c.needs(h); !there {
			return nil, []string{"not checked: the harness has no " + field}
		}
	}
	l := newLab(c.name, h)
	l.run(c.run)
	return l.findings, l.notes
}
