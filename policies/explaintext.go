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
	if e.RetriesOff {
		p.line("retries are switched off at the moment: each call is made once")
	}
	if e.CircuitsOff {
		p.line("circuits are switched off at the moment: every attempt is let through")
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
		if o.Observes {
			row("only observes\trefuses nothing, and notes what it would")
		}
		label := "opens after"
		for _, rule := range o.rules() {
			row("%s\t%s", label, rule)
			label = ""
		}
		row("if all fail at once\t%s", o.FailingAtOnce)
		row("if all hang\t%s", o.Hanging)
		row("if nine in ten fail\t%s", o.nineInTen())
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

// rules are those that open the circuit, for people.
func (o CircuitOutlook) rules() (rules []string) {
	or := func(format string, args ...any) {
		if len(rules) > 0 {
			format = "or " + format
		}
		rules = append(rules, fmt.Sprintf(format, args...))
	}
	if o.Failures > 0 {
		or("%d failed attempts in a row", o.Failures)
	}
	if s := o.FailureShare; s.Calls > 0 {
		or("%d of %d attempts within %s that failed, or %v of more", s.Bad, s.Calls, rough(s.Window), s.Rate)
	}
	if s := o.SlowShare; s.Calls > 0 {
		or("%d of %d attempts within %s that took %s or longer, or %v of more", s.Bad, s.Calls, rough(s.Window), rough(o.SlowFrom), s.Rate)
	}
	return rules
}

// String is the opening for people: "10s with 5 callers, 52s with one".
func (o Opening) String() string {
	if o.Attempts == 0 {
		return "it does not open"
	}
	one := rough(o.OneCaller) + " with one"
	if o.OneCallerAttempts == 0 {
		one = "never with one"
	}
	return fmt.Sprintf("%s with %d callers, %s", rough(o.ManyCallers), o.Attempts, one)
}

// nineInTen is how long it takes if nine in ten fail, for people.
func (o CircuitOutlook) nineInTen() string {
	byRow, byShare := o.NineInTen > 0, o.nineReach()
	switch {
	case byShare && (!byRow || float64(o.FailureShare.Calls) < o.NineInTen):
		return fmt.Sprintf("about %d attempts within %s", o.FailureShare.Calls, rough(o.FailureShare.Window))
	case byRow:
		return count(o.NineInTen) + " attempts on average"
	default:
		return "it hardly ever opens"
	}
}

// String is the open time for people: "1m", and what jitter and cooldown make of it.
func (t OpenTime) String() string {
	text := between(t.For, t.LongestFor)
	if t.AfterProbe > t.For {
		text += ", after a probe " + between(t.AfterProbe, t.LongestAfterProbe)
	}
	return text
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
