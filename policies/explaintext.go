package policies

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// WriteText writes the explanation for people: aligned with spaces, without colours,
// ending with a newline. It returns the writer's error.
func (e Explanation) WriteText(to io.Writer) error { return writeText(to, e.print) }

// String is the text that WriteText writes.
func (e Explanation) String() string { return textOf(e.print) }

// WriteText writes the chain as a table for people. It returns the writer's error.
func (c Chain) WriteText(to io.Writer) error { return writeText(to, c.print) }

// String is the text that WriteText writes.
func (c Chain) String() string { return textOf(c.print) }

// String is the remark in one line, code first, without the way out.
func (r Remark) String() string { return r.Code + ": " + r.Text }

func textOf(write func(*page)) string {
	var out bytes.Buffer
	write(&page{to: &out})
	return out.String()
}

func writeText(to io.Writer, write func(*page)) error {
	_, err := io.WriteString(to, textOf(write))
	return err
}

// page is a text under way.
type page struct{ to *bytes.Buffer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.to, format+"\n", args...) }

// table aligns rows, which hold a tab between each two cells.
func (p *page) table(rows func(row func(format string, args ...any))) {
	var out bytes.Buffer
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	rows(func(format string, args ...any) { _, _ = fmt.Fprintf(w, "  "+format+"\n", args...) })
	_ = w.Flush() // a buffer takes everything
	for line := range bytes.Lines(out.Bytes()) {
		p.to.Write(append(bytes.TrimRight(line, " \n"), '\n'))
	}
}

func (e Explanation) print(p *page) {
	p.line("%s", e.Service)
	if e.Fallback {
		p.line("nothing names it: it has the fallback policy")
	}
	if e.Guard != e.Service {
		p.line("its calls go through the guard %s", e.Guard)
	}
	p.line("\nsettings")
	p.table(func(row func(string, ...any)) {
		for _, s := range e.Settings {
			row("%s\t%s\t%s", s.Key, s.Value, s.from())
		}
	})
	p.line("\nattempts of a call that may be repeated")
	e.Schedule.print(p)
	p.line("\ncircuit")
	e.Circuit.print(p)
	printRemarks(p, "notes", e.Notes)
	printRemarks(p, "warnings", e.Warnings)
}

// from is the origin in words, with the name that helps to find it.
func (s Setting) from() string {
	switch {
	case s.Origin == OriginAll && s.Where != "":
		return s.Where
	case s.Origin == OriginLibrary && s.Where != "":
		return string(s.Origin) + ", " + s.Where
	default:
		return string(s.Origin)
	}
}

func (s Schedule) print(p *page) {
	p.table(func(row func(string, ...any)) {
		row("attempt\tafter a wait of\tbegins\tends by")
		for _, a := range s.Attempts {
			switch {
			case a.Number == 1:
				row("1\t\t%s\t%s", rough(0), rough(a.LatestEnd))
			case a.Never:
				row("%d\t%s\tnever", a.Number, between(a.Shortest, a.Longest))
			default:
				row("%d\t%s\t%s\t%s", a.Number, between(a.Shortest, a.Longest), between(a.EarliestStart, a.LatestStart), rough(a.LatestEnd))
			}
		}
	})
	p.table(func(row func(string, ...any)) {
		row("waits are within\t%s", between(s.Floor, s.Cap))
		row("it takes at most\t%s", rough(s.Longest))
		row("if the service asks for waits\t%s", rough(s.LongestHinted))
		row("a call that is made once\t%s", rough(s.Once))
	})
}

func (o CircuitOutlook) print(p *page) {
	if !o.Enabled {
		p.line("  off")
		return
	}
	p.table(func(row func(string, ...any)) {
		row("opens after\t%d failed attempts in a row", o.Failures)
		row("if all fail at once\t%s with %d callers, %s with one", rough(o.FailingAtOnce.ManyCallers), o.Failures, rough(o.FailingAtOnce.OneCaller))
		row("if all hang\t%s with %d callers, %s with one", rough(o.Hanging.ManyCallers), o.Failures, rough(o.Hanging.OneCaller))
		row("if nine in ten fail\t%s attempts on average", count(o.NineInTen))
		for i, open := range o.Open {
			label := ""
			if i == 0 {
				label = "stays open for"
			}
			row("%s\t%s%s", label, open, o.after(i))
		}
		row("a silent probe's place\t%s", rough(o.Lease))
	})
}

// String is the open time for people: "1m", and what the cooldown makes of it.
func (t OpenTime) String() string {
	if t.AfterProbe > t.For {
		return rough(t.For) + ", after a probe " + rough(t.AfterProbe)
	}
	return rough(t.For)
}

// after is what follows the open time in that place.
func (o CircuitOutlook) after(place int) string {
	last := o.Open[place].Generation == o.CapGeneration
	switch {
	case place < len(o.Open)-1:
		return ""
	case place == 0 && (last || o.CapGeneration == 0):
		return ", each time"
	case last:
		return ", from then on"
	case o.CapGeneration == 0:
		return ", and so on"
	default:
		return fmt.Sprintf(", and so on until opening %d", o.CapGeneration)
	}
}

func printRemarks(p *page, title string, remarks []Remark) {
	if len(remarks) == 0 {
		return
	}
	p.line("\n%s", title)
	for _, r := range remarks {
		p.line("  %s", r)
		if r.WayOut != "" {
			p.line("    way out: %s", r.WayOut)
		}
	}
}

func (c Chain) print(p *page) {
	p.table(func(row func(string, ...any)) {
		row("service\tattempts\tcalls below\tif each retried")
		for _, l := range c.Links {
			row("%s\t%d\t%d\t%d", l.Service, l.Attempts, l.Calls, l.CallsUnguarded)
		}
	})
}

// between is a range for people.
func between(from, to time.Duration) string {
	if rough(from) == rough(to) {
		return rough(from)
	}
	return rough(from) + " … " + rough(to)
}

// rough is a duration for people, to four digits or so.
func rough(d time.Duration) string {
	switch {
	case d >= time.Hour:
		d = d.Round(time.Second)
	case d >= time.Minute:
		d = d.Round(100 * time.Millisecond)
	case d >= time.Second:
		d = d.Round(time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(time.Microsecond)
	}
	return short(d)
}
