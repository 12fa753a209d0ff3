package shape

import (
	"go/types"
	"slices"
)

// IsIterator reports whether t is a func(yield func(…) bool), which iter.Seq and iter.Seq2 are.
func IsIterator(t types.Type) bool { return AnyTerm(t, iterates) }

func iterates(t types.Type) bool {
	s, ok := t.Underlying().(*types.Signature)
	if !ok || s.Params().Len() != 1 || s.Results().Len() != 0 {
		return false
	}
	yield, ok := s.Params().At(0).Type().Underlying().(*types.Signature)
	return ok && yield.Results().Len() == 1 && types.Identical(yield.Results().At(0).Type().Underlying(), types.Typ[types.Bool])
}

// Streams says why a result is not all there when the call returns; "" if it is.
func Streams(t types.Type) string {
	for _, term := range terms(t) {
		if why := Streams(term); why != "" {
			return why
		}
	}
	if why := function(t); why != "" {
		return why
	}
	return visits{}.within(t, 2, nesting)
}

// within looks at a value, at what containers and pointers lead to, and at the exported
// fields of a struct as many levels down as fields says: *http.Response has its Body.
func (v visits) within(t types.Type, fields, containers int) string {
	if v.before(t, fields, containers) {
		return ""
	}
	if why := opened(t); why != "" {
		return why
	}
	if containers == 0 {
		return ""
	}
	for _, term := range terms(t) {
		if why := v.within(term, fields, containers-1); why != "" {
			return why
		}
	}
	if elem := contained(t); elem != nil {
		return v.led(t, elem, fields, containers)
	}
	if fields == 0 {
		return ""
	}
	for field := range exportedFields(t) {
		why := v.within(field.Type(), fields-1, containers)
		if why == "" {
			why = handed(field)
		}
		if why != "" {
			return "a " + TypeName(t) + " whose field " + field.Name() + " is " + why
		}
	}
	return ""
}

// led looks at what a container or a pointer leads to.
func (v visits) led(t, elem types.Type, fields, containers int) string {
	why := v.within(elem, fields, containers-1)
	if why == "" {
		why = goesOn(elem)
	}
	switch {
	case why == "":
		return ""
	case element(t) == nil:
		return "a " + TypeName(t) + ", which points to " + why
	}
	return "a " + TypeName(t) + ", each of which is " + why
}

// goesOn says why a function that is not handed out by itself goes on with the call.
func goesOn(t types.Type) string {
	if IsIterator(t) {
		return "an iterator"
	}
	return function(t)
}

// handed is goesOn for a field. A function in it may be how a value was set up, unless it
// is called like one that ends a stream or gets its next value.
func handed(field *types.Var) string {
	switch {
	case IsIterator(field.Type()):
		return "an iterator"
	case slices.Contains([]string{"Cancel", "Close", "Next", "Recv", "Release", "Stop", "Unlock"}, field.Name()):
		return function(field.Type())
	}
	return ""
}

// opened says why a value by itself lives on when the call has returned.
func opened(t types.Type) string {
	if _, ok := t.Underlying().(*types.Chan); ok {
		return "a channel"
	}
	if IsContext(t) || ExtendsContext(t) {
		return "a context (" + TypeName(t) + "), which would end with the call's"
	}
	if _, named := types.Unalias(t).(*types.Named); named && !types.IsInterface(t) {
		t = types.NewPointer(t) // the caller's variable has the methods of the pointer too
	}
	if why := closes(t); why != "" {
		return why
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		f, ok := set.At(i).Obj().(*types.Func)
		if !ok || !f.Exported() || f.Signature().Params().Len() != 0 || f.Signature().Results().Len() != 1 {
			continue
		}
		if _, ok := f.Signature().Results().At(0).Type().Underlying().(*types.Chan); ok {
			return "something with a channel (" + TypeName(t) + "." + f.Name() + ")"
		}
	}
	return ""
}

// function says why a function that is handed out goes on with the call: it is called
// for one value after the other, or to release something.
func function(t types.Type) string {
	s, ok := t.Underlying().(*types.Signature)
	if !ok || s.Params().Len() > 1 || s.Params().Len() == 1 && !IsContext(s.Params().At(0).Type()) {
		return ""
	}
	switch n := s.Results().Len(); {
	case n == 0, n == 1 && IsError(s.Results().At(0).Type()):
		return "a function to call at the end (" + TypeName(t) + ")"
	case steps(s):
		return "a function to call for the next value (" + TypeName(t) + ")"
	}
	return ""
}

// closes says why a value itself is a stream.
func closes(t types.Type) string {
	switch {
	case reflected(t):
		return ""
	case has(t, "Close", 0, 0), has(t, "Close", 0, 1), has(t, "Close", 1, 1), fails(Lookup(t, "Close")):
		return "something to close (" + TypeName(t) + ")"
	case receives(t):
		return "something to receive from (" + TypeName(t) + ")"
	case stepped(t):
		return "something to step through (" + TypeName(t) + ")"
	case IsReader(t) && !inMemory(t):
		return "something to read from (" + TypeName(t) + ")"
	case has(t, "Rollback", 0, 1), has(t, "Rollback", 1, 1):
		return "a transaction (" + TypeName(t) + ")"
	}
	if s := Lookup(t, "Scan"); s != nil && s.Variadic() {
		return "a row to scan (" + TypeName(t) + ")"
	}
	return ""
}

// stepped reports whether a type hands out one value after the other: an iterator, a scanner, a reader of records.
func stepped(t types.Type) bool {
	return steps(Lookup(t, "Next")) || steps(Lookup(t, "NextPart")) || has(t, "Scan", 0, 1) && steps(Lookup(t, "Scan")) ||
		has(t, "Read", 0, 2) && steps(Lookup(t, "Read")) || has(t, "Token", 0, 2) && steps(Lookup(t, "Token"))
}

// inMemory reports whether a reader has all that it will give.
func inMemory(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return Named(t, "bytes", "Buffer") || Named(t, "bytes", "Reader") || Named(t, "strings", "Reader")
}

// reflected reports whether a value is one of reflect's, which has the methods of whatever it may hold.
func reflected(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return Named(t, "reflect", "Value")
}

// receives reports whether a value is the end of a connection that something comes in by.
func receives(t types.Type) bool {
	receive := Lookup(t, "Receive") // with arguments, it is that of a client
	return Lookup(t, "RecvMsg") != nil || steps(Lookup(t, "Recv")) || steps(receive) && receive.Params().Len() == 0
}

// fails reports whether a method returns an error and nothing else.
func fails(s *types.Signature) bool {
	return s != nil && s.Results().Len() == 1 && IsError(s.Results().At(0).Type())
}

// steps tells Next of an iterator, which says whether there is more, from that of a
// list's node.
func steps(next *types.Signature) bool {
	if next == nil {
		return false
	}
	for result := range next.Results().Variables() {
		if IsError(result.Type()) || types.Identical(result.Type().Underlying(), types.Typ[types.Bool]) {
			return true
		}
	}
	return false
}
