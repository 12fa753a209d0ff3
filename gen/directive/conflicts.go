package directive

import "fmt"

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
			p.Why = "a method that is not guarded has nothing else to say"
			if pair[0].Verb == Stream {
				p.Why = "a stream is opened once, with the caller's own context: it is neither repeated nor cut"
			}
			return p, true
		}
	}
	return p, false
}
