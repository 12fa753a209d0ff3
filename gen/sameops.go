package gen

// sameOps mentions methods that events and errors cannot tell apart.
func (r *run) sameOps(t *target) {
	called := map[string]*method{}
	for _, m := range t.methods {
		if m.verdict.kind != guarded {
			continue
		}
		first := called[m.verdict.op]
		if first == nil {
			called[m.verdict.op] = m
			continue
		}
		r.notes.add(m.pos, t.object.Name()+"."+first.name+" and "+t.object.Name()+"."+m.name+" are both called "+m.verdict.op,
			"events and errors do not tell them apart", "say //resilient:op NAME at one of them")
	}
}
