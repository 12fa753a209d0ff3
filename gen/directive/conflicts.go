package directive

import (
	"fmt"
	"slices"
)

// conflicts finds directives that say the same twice, or contradict each other.
func (r *reader) conflicts(t *Type) {
	for _, line := range append([]*Line{{Directives: t.Directives}}, t.Lines...) {
		for i, d := range line.Directives {
			for _, earlier := range line.Directives[:i] {
				if p, clash := clash(earlier, d); clash {
					r.out.Problems = append(r.out.Problems, p)
				}
			}
		}
	}
	r.inLists(t)
}

// about is a directive that speaks of a method, from a list or at the method itself.
type about struct {
	Directive
	list bool
}

// inLists finds contradictions about one method between lists on its interface, and
// between a list and what stands at the method.
func (r *reader) inLists(t *Type) {
	names, said := saidAbout(t)
	for _, name := range names {
		for i, d := range said[name] {
			for _, earlier := range said[name][:i] {
				if why := contradicts(earlier, d); why != "" {
					r.both(name, earlier.Directive, d.Directive, why)
				}
			}
		}
	}
}

// saidAbout collects what an interface says about each method, in lists and at the
// method, and the methods' names in their order.
func saidAbout(t *Type) (names []string, said map[string][]about) {
	said = map[string][]about{}
	add := func(name string, a about) {
		if said[name] == nil {
			names = append(names, name)
		}
		said[name] = append(said[name], a)
	}
	for _, d := range t.Directives {
		if d.Verb == From {
			continue
		}
		for i, name := range d.Methods {
			if !slices.Contains(d.Methods[:i], name) {
				add(name, about{d, true})
			}
		}
	}
	for _, line := range t.Lines {
		for _, name := range line.Field.Names {
			for _, d := range line.Directives {
				add(name.Name, about{d, false})
			}
		}
	}
	return names, said
}

// both reports a contradiction in both of its places, which may be far apart.
func (r *reader) both(name string, a, b Directive, why string) {
	for _, pair := range [][2]Directive{{a, b}, {b, a}} {
		r.out.Problems = append(r.out.Problems, Problem{
			Pos: pair[0].Pos, End: pair[0].End,
			What: fmt.Sprintf("//%s:%s contradicts //%s:%s about %s", Tool, pair[0].Text, Tool, pair[1].Text, name),
			Why:  why, Fix: "keep one of them",
		})
	}
}

// contradicts returns why two directives cannot hold for one method; "" if they can.
func contradicts(a, b about) string {
	switch {
	case !a.list && !b.list: // on one line, which is looked at as a whole
		return ""
	case a.Verb == Timeout && b.Verb == Timeout:
		return "a method has one timeout"
	case a.Context != b.Context && a.Context != "" && b.Context != "":
		return "a method goes by one context"
	case a.ErrorResult != b.ErrorResult && a.ErrorResult != 0 && b.ErrorResult != 0:
		return "a method goes by one error"
	case slices.Contains(exclusive[a.Verb], b.Verb):
		return nothingElse(a.Verb)
	case slices.Contains(exclusive[b.Verb], a.Verb):
		return nothingElse(b.Verb)
	}
	return ""
}

// nothingElse says why a verb leaves nothing for others to say.
func nothingElse(verb Verb) string {
	if verb == Stream {
		return "a stream is opened once, with the caller's own context: it is neither repeated nor cut"
	}
	return "a method that is not guarded has nothing else to say"
}

// exclusive lists the verbs that leave nothing for the others on a method to say.
var exclusive = map[Verb][]Verb{
	Skip:   {Idempotent, Timeout, Op, Stream, Error},
	Stream: {Idempotent, Timeout, Error},
}

func clash(earlier, d Directive) (Problem, bool) {
	p := Problem{Pos: d.Pos, End: d.End, Fix: "keep one of them"}
	if earlier.Verb == d.Verb {
		p.What = fmt.Sprintf("//%s:%s stands here twice", Tool, d.Verb)
		p.Why = "one of them would do nothing"
		return p, len(d.Methods) == 0 || d.Verb == From
	}
	if d.Place != OnMethod {
		return p, false
	}
	for _, pair := range [][2]Directive{{earlier, d}, {d, earlier}} {
		for _, other := range exclusive[pair[0].Verb] {
			if other != pair[1].Verb {
				continue
			}
			p.Pos, p.End = pair[1].Pos, pair[1].End
			p.What = fmt.Sprintf("//%s:%s contradicts //%s:%s", Tool, pair[1].Verb, Tool, pair[0].Verb)
			p.Why = nothingElse(pair[0].Verb)
			return p, true
		}
	}
	return p, false
}
