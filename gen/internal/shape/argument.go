package shape

import "go/types"

// Consumes says why an argument is not the same when it is given a second time: read
// to its end, written to, stepped through, or a channel. "" if it is.
func Consumes(t types.Type) string {
	for _, term := range terms(t) {
		if why := Consumes(term); why != "" {
			return why
		}
	}
	if s, ok := t.Underlying().(*types.Signature); ok {
		return gives(s)
	}
	return visits{}.spent(t, 1, nesting)
}

// spent looks at a value, at what containers and pointers lead to, and at the exported
// fields of a struct as many levels down as fields says. An embedded field is no level:
// what it holds is the struct's own.
func (v visits) spent(t types.Type, fields, containers int) string {
	if v.before(t, fields, containers) {
		return ""
	}
	if why := usesUp(t); why != "" || containers == 0 {
		return why
	}
	for _, term := range terms(t) {
		if why := v.spent(term, fields, containers-1); why != "" {
			return why
		}
	}
	if elem := contained(t); elem != nil {
		return v.spent(elem, fields, containers-1)
	}
	for field := range exportedFields(t) {
		deeper := fields
		if !field.Embedded() {
			deeper--
		}
		if deeper < 0 {
			continue
		}
		if why := v.spent(field.Type(), deeper, containers-1); why != "" {
			return "a " + TypeName(t) + " whose field " + field.Name() + " is " + why
		}
	}
	return ""
}

// gives says which result of a function is used up by the first attempt. Only an argument
// is asked: a function in a struct's field is how it was set up, not what it was given.
func gives(s *types.Signature) string {
	for result := range s.Results().Variables() {
		if why := usesUp(result.Type()); why != "" {
			return "a function that gives " + why
		}
	}
	return ""
}

func usesUp(t types.Type) string {
	if _, ok := t.Underlying().(*types.Chan); ok {
		return "a channel"
	}
	switch {
	case IsReader(t):
		return "a reader (" + TypeName(t) + "), which the first attempt has read"
	case isWriter(t):
		return "a writer (" + TypeName(t) + "), which the first attempt has written to"
	case reflected(t):
		return ""
	case receives(t):
		return "something to receive from (" + TypeName(t) + "), of which the first attempt has received"
	case stepped(t), has(t, "Decode", 1, 1) && steps(Lookup(t, "Decode")):
		return "something to step through (" + TypeName(t) + "), which the first attempt has done"
	}
	return ""
}

// IsRewindable reports whether an argument that is read can be had again for each attempt.
func IsRewindable(t types.Type) bool { return IsReader(t) && IsSeeker(t) || IsRequest(t) }
