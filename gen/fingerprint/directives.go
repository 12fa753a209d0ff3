package fingerprint

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// OfService returns the fingerprint of an annotated interface. marked are its methods that MarkIdempotent names
// somewhere in its package, be they inherited; nil if there are none.
func OfService(iface *types.Interface, params *types.TypeParamList, t *directive.Type, marked []string) string {
	directives := Directives(t)
	for _, method := range marked {
		directives = append(directives, Directive{Method: method, Text: string(directive.Idempotent)})
	}
	return Of(iface, params, directives)
}

// Directives returns what stands on a type and its lines, in one form however it was written: a list of methods on the
// type counts as a directive on each of them.
func Directives(t *directive.Type) []Directive {
	var all []Directive
	for _, d := range t.Directives {
		if len(d.Methods) == 0 || d.Verb == directive.From {
			all = append(all, Directive{Text: canonical(d)})
			continue
		}
		for _, method := range d.Methods {
			all = append(all, Directive{Method: method, Text: canonical(d)})
		}
	}
	for _, line := range t.Lines {
		on := "embed " + types.ExprString(line.Field.Type)
		if len(line.Field.Names) > 0 {
			on = line.Field.Names[0].Name
		}
		for _, d := range line.Directives {
			all = append(all, Directive{Method: on, Text: canonical(d)})
		}
	}
	return all
}

// canonical writes a directive's verb and arguments in one order, with what they leave open left out.
func canonical(d directive.Directive) string {
	var b strings.Builder
	b.WriteString(string(d.Verb))
	add := func(said bool, format string, a ...any) {
		if said {
			fmt.Fprintf(&b, " "+format, a...)
		}
	}
	add(d.Name != "", "%s", d.Name)
	if d.Verb == directive.From {
		methods := slices.Clone(d.Methods)
		slices.Sort(methods)
		add(true, "%s", strings.Join(methods, ","))
	}
	add(d.Total != 0, "%v", d.Total)
	add(d.Attempt != 0, "attempt=%v", d.Attempt)
	add(d.Rewind, "rewind")
	add(d.Context != "", "ctx=%s", d.Context)
	add(d.ErrorResult != 0, "error=%d", d.ErrorResult)
	add(d.New != "", "new=%s", d.New)
	return b.String()
}
