package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed42274fcc/stoic/gen"
)

// report counts.
type report struct {
	all     *corpus
	verbose bool
	bad     int
	classes [2]map[string]int
	methods [2]counts
	kinds   map[*entry]map[string]string // what became of each method
}

type counts map[string]int

// wrong prints something that must not be.
func (r *report) wrong(format string, a ...any) {
	r.bad++
	fmt.Printf("BAD: "+format+"\n", a...)
}

// refused counts a refusal, and prints it when its reason does not hold.
func (r *report) refused(p *pass, e *entry, problem gen.Problem, class string, holds bool) {
	if r.classes[p.number()] == nil {
		r.classes[p.number()] = map[string]int{}
	}
	r.classes[p.number()][class]++
	switch {
	case !holds:
		r.wrong("%s: %s: the reason is not true: %v", p, e.full(), problem)
	case r.verbose:
		fmt.Printf("%s: %s: %v\n", p, e.full(), problem)
	}
}

// print prints the counts of each module, of all, and of the reasons.
func (r *report) print() error {
	var text strings.Builder // writing to it does not fail
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, c counts) {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", name, c["all"], c["wrapped"], c["asked"], c["refused"], c["unwritable"])
	}
	_, _ = fmt.Fprintf(t, "module\tinterfaces\twrapped\tasked\trefused\tnot embeddable\t\n")
	total := counts{}
	for _, module := range r.all.modules {
		c := counts{}
		for _, e := range r.all.entries {
			if e.module != module {
				continue
			}
			c["all"]++
			switch {
			case e.unwritable != "":
				c["unwritable"]++
			case e.wrapped[0]:
				c["wrapped"]++
			default:
				c["refused"]++
			}
			if e.wrapped[1] {
				c["asked"]++
			}
		}
		for key, n := range c {
			total[key] += n
		}
		row(module, c)
	}
	row(fmt.Sprintf("%d modules, %d packages", len(r.all.modules), r.all.packages), total)
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Print(text.String())
	for i, title := range []string{"as they are", "with everything asked"} {
		m := r.methods[i]
		fmt.Printf("%s: methods: %d guarded (%d idempotent), %d streams, %d forwarded\n", title, m["guarded"], m["idempotent"], m["stream"], m["forwarded"])
		for _, class := range slices.Sorted(maps.Keys(r.classes[i])) {
			fmt.Printf("  refused %5d: %s\n", r.classes[i][class], class)
		}
	}
	fmt.Printf("%d bad\n", r.bad)
	if r.bad > 0 {
		return errors.New("not every interface is wrapped or refused as it should be")
	}
	return nil
}
