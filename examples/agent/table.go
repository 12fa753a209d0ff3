package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// figures are what a phase comes to.
type figures struct {
	rounds, wasted, hits, answered int
	timeline                       string
}

func (p phase) figures() figures {
	f := figures{hits: p.hits, timeline: timeline(p.tasks)}
	for _, t := range p.tasks {
		f.rounds += len(t.rounds)
		for _, r := range t.rounds {
			if r.wasted() {
				f.wasted++
			}
		}
		if t.answer != "" {
			f.answered++
		}
	}
	return f
}

// row is one of the table.
type row struct {
	phase string
	who   breakers
	figures
}

// expected is written down here; nothing computes it. There are 2 replicas with 10 tasks each, and 2 each in a cooldown;
// a task has 10 rounds at most, and a circuit opens at the third failure in a row.
var expected = []row{
	{"outage", noBreaker, figures{200, 200, 200, 0, "xxxxxxxxxx ×20"}},
	{"outage", local, figures{46, 6, 6, 20, "xxxn. ×2  n. ×18"}},
	{"outage", shared, figures{43, 3, 3, 20, "xxxn.  n. ×19"}},
	{"cooldown 1", noBreaker, figures{40, 40, 40, 0, "xxxxxxxxxx ×4"}},
	{"cooldown 1", local, figures{10, 2, 2, 4, "Xn. ×2  n. ×2"}},
	{"cooldown 1", shared, figures{9, 1, 1, 4, "Xn.  n. ×3"}},
	{"cooldown 2", noBreaker, figures{40, 40, 40, 0, "xxxxxxxxxx ×4"}},
	{"cooldown 2", local, figures{10, 2, 2, 4, "Xn. ×2  n. ×2"}},
	{"cooldown 2", shared, figures{9, 1, 1, 4, "Xn.  n. ×3"}},
	{"cooldown 3", noBreaker, figures{40, 40, 40, 0, "xxxxxxxxxx ×4"}},
	{"cooldown 3", local, figures{10, 2, 2, 4, "Xn. ×2  n. ×2"}},
	{"cooldown 3", shared, figures{9, 1, 1, 4, "Xn.  n. ×3"}},
	{"recovery", noBreaker, figures{40, 0, 20, 20, "s. ×20"}},
	{"recovery", local, figures{40, 0, 20, 20, "P. ×2  s. ×18"}},
	{"recovery", shared, figures{40, 0, 20, 20, "P.  s. ×19"}},
}

// seen finds what a row has come to.
func (r row) seen(outages map[breakers][]phase) (p phase, f figures) {
	for _, p := range outages[r.who] {
		if p.name == r.phase {
			return p, p.figures()
		}
	}
	return phase{}, figures{}
}

// writeTable writes what was seen, and returns how many rows are not as expected.
func writeTable(out io.Writer, rows []row, outages map[breakers][]phase) (differ int) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "PHASE\tBREAKER\tROUNDS\tWASTED\tBACKEND HITS\tANSWERED\tTIMELINE\t")
	for _, want := range rows {
		p, got := want.seen(outages)
		verdict := "ok"
		if got != want.figures {
			differ++
			verdict = fmt.Sprintf("DIFFERS from %+v", want.figures)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d of %d\t%s\t%s\n",
			want.phase, want.who, got.rounds, got.wasted, got.hits, got.answered, len(p.tasks), got.timeline, verdict)
	}
	_ = table.Flush() // that out is not written is found at its end
	_, _ = fmt.Fprintf(out, "%s\n", legend)
	return differ
}

// writeReports does it for the variants.
func writeReports(out io.Writer, reports []report) (differ int) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "MODEL\tSEEN\t")
	for _, r := range reports {
		verdict := "ok"
		if r.seen != r.expected {
			differ++
			verdict = "DIFFERS from " + r.expected
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", r.name, r.seen, verdict)
	}
	_ = table.Flush()
	return differ
}
