package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// judgedAt is the GOMAXPROCS that the goals are about: calls one after the other, where the figures are steadiest and
// nothing but the call is in them.
const judgedAt = 1

// goal says how many times faster one contestant is to be than another.
type goal struct {
	name   string
	fast   entry
	slow   entry
	factor float64
	strict bool // more than the factor, where equal would hold otherwise
}

// entry is a contestant in a row.
type entry struct{ row, contestant string }

// verdict is a goal with the figure that was measured.
type verdict struct {
	goal   goal
	figure float64
	known  bool // both were measured
	holds  bool
}

func goals() []goal {
	return []goal{
		{
			name: "guarded success call: faster than failsafe-go's",
			fast: entry{rowSuccess, nameOurs}, slow: entry{rowSuccess, nameFailsafe}, factor: 10,
		},
		{
			name: "guarded success call: faster than the composition by hand",
			fast: entry{rowSuccess, nameOurs}, slow: entry{rowSuccess, nameByHand}, factor: 6,
		},
		{
			name: "healthy circuit alone: faster than gobreaker's Execute",
			fast: entry{rowHealthy, nameOurs}, slow: entry{rowHealthy, nameGobreaker}, factor: 20,
		},
		{
			name: "healthy circuit by failure rate: faster than gobreaker's",
			fast: entry{rowShare, nameOurs}, slow: entry{rowShare, nameGobreaker}, factor: 5,
		},
		{
			// The whole call, which does more than gobreaker alone does.
			name: "rejection: faster than gobreaker's",
			fast: entry{rowRejected, nameOurs}, slow: entry{rowRejected, nameGobreaker}, factor: 1.2,
		},
		{
			name: "two failures, then success: faster than failsafe-go's",
			fast: entry{rowRetried, nameOurs}, slow: entry{rowRetried, nameFailsafe}, factor: 1, strict: true,
		},
		{
			name: "two failures, then success: faster than the composition by hand",
			fast: entry{rowRetried, nameOurs}, slow: entry{rowRetried, nameByHand}, factor: 1, strict: true,
		},
		{
			// Slower, but not by much.
			name: "an agent's turn: at most 3 times one map look-up per tool",
			fast: entry{rowTurn, nameOurs}, slow: entry{rowTurn, nameLookups}, factor: 1.0 / 3,
		},
	}
}

// judge holds the goals against what was measured.
func judge(goals []goal, all results) []verdict {
	verdicts := make([]verdict, len(goals))
	for i, g := range goals {
		fast, measured := all[at{g.fast.row, g.fast.contestant, judgedAt}]
		slow, both := all[at{g.slow.row, g.slow.contestant, judgedAt}]
		v := verdict{goal: g, known: measured && both}
		if v.known {
			v.figure = slow.ns / fast.ns
			v.holds = v.figure > g.factor || v.figure == g.factor && !g.strict
		}
		verdicts[i] = v
	}
	return verdicts
}

// exitCode is 1 when a goal falls short. One that was not measured, because the run was told to leave it out, does not.
func exitCode(verdicts []verdict) int {
	for _, v := range verdicts {
		if v.known && !v.holds {
			return 1
		}
	}
	return 0
}

// printGoals prints one line for each: name, figure, goal, verdict.
func printGoals(w io.Writer, verdicts []verdict) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range verdicts {
		if _, err := fmt.Fprintln(t, v.line()); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (v verdict) line() string {
	figure, says := fmt.Sprintf("%.2fx", v.figure), "falls short"
	switch {
	case !v.known:
		figure, says = "-", "not measured"
	case v.holds:
		says = "holds"
	}
	least := "at least"
	if v.goal.strict {
		least = "more than"
	}
	return fmt.Sprintf("%s\t%s\t%s %.3gx\t%s", v.goal.name, figure, least, v.goal.factor, says)
}
