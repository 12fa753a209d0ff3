package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed42274fcc/stoic/policies"
)

const (
	narrowest = 40 // terminal
	leastPlot = 20 // of it
)

// drawText draws the schedule for a terminal: █ where an attempt may begin, ─ until it
// ends at the latest.
func drawText(e policies.Explanation, width int) []byte {
	texts := make([]string, len(e.Schedule.Attempts))
	widest := 0
	for i, at := range e.Schedule.Attempts {
		texts[i] = tell(at)
		widest = max(widest, utf8.RuneCountInString(texts[i]))
	}
	plot := max(max(width, narrowest)-widest-len("  1  ")-2, leastPlot)
	a := axisOf(e.Schedule)
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s: when the attempts of a call are made that may be repeated\n\n", e.Service)
	out.WriteString(a.ruler(plot))
	for i, at := range e.Schedule.Attempts {
		fmt.Fprintf(&out, "%3d  %s  %s\n", at.Number, a.bar(at, plot), texts[i])
	}
	fmt.Fprintf(&out, "\n█ may begin   ─ may run   the whole call ends by %s\n", short(e.Schedule.Longest))
	return out.Bytes()
}

// bar draws one attempt.
func (a axis) bar(at policies.Attempt, plot int) string {
	bar := slices.Repeat([]rune{' '}, plot)
	if !at.Never {
		for i := a.at(at.EarliestStart, plot); i <= a.at(at.LatestEnd, plot); i++ {
			bar[i] = '─'
		}
		for i := a.at(at.EarliestStart, plot); i <= a.at(at.LatestStart, plot); i++ {
			bar[i] = '█'
		}
	}
	return string(bar)
}

// ruler has the marks, each with its time where there is room.
func (a axis) ruler(plot int) string {
	const margin = "     "
	times, line := "", slices.Repeat([]rune{'─'}, plot)
	for _, mark := range a.marks {
		at := a.at(mark, plot)
		line[at] = '┴'
		text := short(mark)
		if room := at - utf8.RuneCountInString(times); room > 0 || at == 0 {
			times += strings.Repeat(" ", room) + text
		}
	}
	return margin + times + "\n" + margin + string(line) + "\n"
}
