package main

import (
	"cmp"
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
	beside *[2]entry // slow and fast, whose own figure is what this one is measured by
	factor float64
	strict bool // more than the factor, where equal would hold otherwise
}

// entry is a contestant in a row, at a number of processors; 0 is judgedAt.
type entry struct {
	row, contestant string
	procs           int
}

// needs reports whether the goal is judged by that result.
func (g goal) needs(result at) bool {
	return g.slow.at() == result || g.beside != nil && g.beside[0].at() == result
}

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
			fast: entry{rowSuccess, nameOurs, 0}, slow: entry{rowSuccess, nameFailsafe, 0}, factor: 12,
		},
		{
			name: "guarded success call: faster than the composition by hand",
			fast: entry{rowSuccess, nameOurs, 0}, slow: entry{rowSuccess, nameByHand, 0}, factor: 7,
		},
		{
			name: "healthy circuit alone: faster than gobreaker's Execute",
			fast: entry{rowHealthy, nameOurs, 0}, slow: entry{rowHealthy, nameGobreaker, 0}, factor: 25,
		},
		{
			name: "healthy circuit by failure rate: faster than gobreaker's",
			fast: entry{rowShare, nameOurs, 0}, slow: entry{rowShare, nameGobreaker, 0}, factor: 5,
		},
		{
			name: "rejection by the circuit: faster than gobreaker's",
			fast: entry{rowRejected, nameCircuit, 0}, slow: entry{rowRejected, nameGobreaker, 0}, factor: 1.5,
		},
		{
			// The whole call, which does more than gobreaker alone does. Most of it is the one reading of the clock.
			name: "rejection of a guarded call: faster than gobreaker's",
			fast: entry{rowRejected, nameOurs, 0}, slow: entry{rowRejected, nameGobreaker, 0}, factor: 1.2,
		},
		{
			name: "two failures, then success: faster than failsafe-go's",
			fast: entry{rowRetried, nameOurs, 0}, slow: entry{rowRetried, nameFailsafe, 0}, factor: 1, strict: true,
		},
		{
			name: "two failures, then success: faster than the composition by hand",
			fast: entry{rowRetried, nameOurs, 0}, slow: entry{rowRetried, nameByHand, 0}, factor: 1, strict: true,
		},
		{
			name: "healthy circuit: two cores beside one, in turns",
			fast: entry{rowHealthy, nameOurs, 2}, slow: entry{rowHealthy, nameOurs, inTurns}, factor: 1.8,
		},
		{
			// A call allocates once, and what the allocator does not share out better no call can.
			name: "guarded success call: two cores beside one, in turns, measured by a bare allocation's",
			fast: entry{rowSuccess, nameOurs, 2}, slow: entry{rowSuccess, nameOurs, inTurns},
			beside: &[2]entry{{rowAlloc, nameAlloc, inTurns}, {rowAlloc, nameAlloc, 2}}, factor: 0.9,
		},
		{
			name: "10 000 calls a second on 200 guards: the dashboard's meter takes less than 5 % of them",
			fast: entry{rowBusy, nameMetered, 0}, slow: entry{rowBusy, namePart, 0}, factor: 1, strict: true,
		},
		{
			// Slower, but not by much.
			name: "an agent's turn: at most 3 times one map look-up per tool",
			fast: entry{rowTurn, nameOurs, 0}, slow: entry{rowTurn, nameLookups, 0}, factor: 1.0 / 3,
		},
	}
}

// judge holds the goals against what was measured.
func judge(goals []goal, all results) []verdict {
	verdicts := make([]verdict, len(goals))
	for i, g := range goals {
		v := verdict{goal: g}
		v.figure, v.known = all.times(g.slow, g.fast)
		if g.beside != nil {
			by, known := all.times(g.beside[0], g.beside[1])
			v.figure, v.known = v.figure/by, v.known && known
		}
		v.holds = v.known && (v.figure > g.factor || v.figure == g.factor && !g.strict)
		verdicts[i] = v
	}
	return verdicts
}

// times is how many times faster one is than the other, if both were measured.
func (all results) times(slow, fast entry) (figure float64, known bool) {
	s, measured := all[slow.at()]
	f, both := all[fast.at()]
	if !measured || !both {
		return 0, false
	}
	return s.ns / f.ns, true
}

func (e entry) at() at {
	return at{e.row, e.contestant, cmp.Or(e.procs, judgedAt)}
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
