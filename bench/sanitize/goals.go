package main

import "fmt"

// goal compares one figure of ours with another contestant's, or with a number.
type goal struct {
	name   string
	figure func(find func(name, kind string) *contestant) float64
	least  float64 // the figure is at least this
	most   float64 // or at most this, where it is more than 0 or atMost is set
	atMost bool
}

func goals() []goal {
	times := func(name string) func(func(name, kind string) *contestant) float64 {
		return func(find func(name, kind string) *contestant) float64 {
			return find(nameOurs, clean).speed / find(name, clean).speed
		}
	}
	return []goal{
		{name: "clean lines: times the usual regular expressions", figure: times(nameUsual), least: 60},
		{name: "clean lines: times gitleaks' rules", figure: times(nameGitleaks), least: 40},
		{name: "clean lines: part of a bare loop over a table", figure: times(nameBare), least: 1.0 / 3},
		{name: "clean lines: allocations", figure: func(find func(name, kind string) *contestant) float64 { return find(nameOurs, clean).allocs }, atMost: true},
		{name: "lines with a secret: allocations", figure: func(find func(name, kind string) *contestant) float64 { return find(nameOurs, dirty).allocs }, most: 2, atMost: true},
	}
}

func (g goal) judge(all []*contestant) (line string, holds bool) {
	figure := g.figure(func(name, kind string) *contestant {
		for _, c := range all {
			if c.name == name && c.kind == kind {
				return c
			}
		}
		return &contestant{}
	})
	word, bound := "at least", g.least
	holds = figure >= g.least
	if g.atMost {
		word, bound = "at most", g.most
		holds = figure <= g.most
	}
	says := "falls short"
	if holds {
		says = "holds"
	}
	return fmt.Sprintf("%s\t%.2f\t%s %.2f\t%s\t", g.name, figure, word, bound, says), holds
}
