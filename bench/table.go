package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// printTable prints the medians: a block for each row, a line for each contestant and value of GOMAXPROCS.
func printTable(w io.Writer, rows []row, procs []int, all results) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	var failed error
	line := func(format string, args ...any) {
		if _, err := fmt.Fprintf(t, format, args...); err != nil && failed == nil {
			failed = err
		}
	}
	for _, r := range rows {
		line("%s\n", title(r))
		line("contestant\tcpu\tns/op\tspread\tx first\tB/op\tallocs/op\t\n")
		for _, p := range procs {
			first := all[at{r.name, r.contestants[0].name, p}]
			for _, c := range r.contestants {
				s := all[at{r.name, c.name, p}]
				line("%s\t%d\t%s\t±%.0f%%\t%.2f\t%.0f\t%.0f\t\n",
					c.name, p, digits(s.ns), 50*s.spread, s.ns/first.ns, s.bytes, s.allocs)
			}
		}
		line("\n")
	}
	if failed != nil {
		return failed
	}
	return t.Flush()
}

func title(r row) string {
	if r.note == "" {
		return r.name
	}
	return r.name + " - " + r.note
}

// digits is a figure with as many of them as say something.
func digits(ns float64) string {
	if ns >= 100 {
		return fmt.Sprintf("%.0f", math.Round(ns))
	}
	return fmt.Sprintf("%.1f", ns)
}
