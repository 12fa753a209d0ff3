package gen

import "go/types"

// Types are recognised by the methods that they have and by their full names, never
// by identity: a package may have been read from source and from export data.

var errorType = types.Universe.Lookup("error").Type()

func isError(t types.Type) bool { return types.Identical(t, errorType) }

// named reports whether t is the named type of that package, through aliases.
func named(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg
}

func isContext(t types.Type) bool { return named(t, "context", "Context") }

// extendsContext reports whether a value of t can be used as a context but is more. The
// types count, not the names alone: Temporal's workflow.Context has the same methods,
// with a channel of its own.
func extendsContext(t types.Type) bool {
	if isContext(t) || !has(t, "Deadline", 0, 2) || !has(t, "Done", 0, 1) || !has(t, "Err", 0, 1) || !has(t, "Value", 1, 1) {
		return false
	}
	deadline, value := lookup(t, "Deadline").Results(), lookup(t, "Value")
	empty := types.NewInterfaceType(nil, nil)
	return named(deadline.At(0).Type(), "time", "Time") && types.Identical(deadline.At(1).Type(), types.Typ[types.Bool]) &&
		types.Identical(lookup(t, "Done").Results().At(0).Type(), types.NewChan(types.RecvOnly, types.NewStruct(nil, nil))) &&
		isError(lookup(t, "Err").Results().At(0).Type()) &&
		types.Identical(value.Params().At(0).Type(), empty) && types.Identical(value.Results().At(0).Type(), empty)
}

func isRequest(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && named(p.Elem(), "net/http", "Request")
}

// lookup finds a method of a value of type t.
func lookup(t types.Type, name string) *types.Signature {
	object, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	if f, ok := object.(*types.Func); ok {
		return f.Signature()
	}
	return nil
}

func has(t types.Type, name string, params, results int) bool {
	s := lookup(t, name)
	return s != nil && s.Params().Len() == params && s.Results().Len() == results
}

func isByteSlice(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

// isReader: Read([]byte) (int, error).
func isReader(t types.Type) bool { return takesBytes(t, "Read") }

// isWriter: Write([]byte) (int, error).
func isWriter(t types.Type) bool { return takesBytes(t, "Write") }

func takesBytes(t types.Type, name string) bool {
	s := lookup(t, name)
	return s != nil && s.Params().Len() == 1 && isByteSlice(s.Params().At(0).Type()) && s.Results().Len() == 2
}

// isSeeker: Seek(int64, int) (int64, error).
func isSeeker(t types.Type) bool { return has(t, "Seek", 2, 2) }

// isFuture reports whether t is a *resilient.Future.
func isFuture(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && named(p.Elem(), runtimePath, "Future")
}

// isIterator: func(yield func(…) bool), which iter.Seq and iter.Seq2 are.
func isIterator(t types.Type) bool {
	s, ok := t.Underlying().(*types.Signature)
	if !ok || s.Params().Len() != 1 || s.Results().Len() != 0 {
		return false
	}
	yield, ok := s.Params().At(0).Type().Underlying().(*types.Signature)
	return ok && yield.Results().Len() == 1 && types.Identical(yield.Results().At(0).Type().Underlying(), types.Typ[types.Bool])
}

// streams says why a result is not all there when the call returns; "" if it is.
func streams(t types.Type) string {
	if why := function(t); why != "" {
		return why
	}
	return within(t, 2, nesting)
}

// nesting is how many containers in one another are looked through. A type can contain
// itself: type Tree []Tree.
const nesting = 8

// within looks at a value, at what a container holds, and at the exported fields of a
// struct as many levels down as fields says: *http.Response has its Body.
func within(t types.Type, fields, containers int) string {
	if why := opened(t); why != "" {
		return why
	}
	if elem := element(t); elem != nil {
		if containers == 0 {
			return ""
		}
		if why := within(elem, fields, containers-1); why != "" {
			return "a " + typeName(t) + ", each of which is " + why
		}
		return ""
	}
	if fields == 0 {
		return ""
	}
	for field := range exportedFields(t) {
		if why := within(field.Type(), fields-1, containers); why != "" {
			return "a " + typeName(t) + " whose field " + field.Name() + " is " + why
		}
	}
	return ""
}

// element is what a slice, an array or a map holds, nil of other types.
func element(t types.Type) types.Type {
	switch t := t.Underlying().(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Map:
		return t.Elem()
	}
	return nil
}

// opened says why a value by itself lives on when the call has returned.
func opened(t types.Type) string {
	if _, ok := t.Underlying().(*types.Chan); ok {
		return "a channel"
	}
	if isContext(t) || extendsContext(t) {
		return "a context (" + typeName(t) + "), which would end with the call's"
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
			return "something with a channel (" + typeName(t) + "." + f.Name() + ")"
		}
	}
	return ""
}

// function says why a function that is handed out goes on with the call: it is called
// for one value after the other, or to release something.
func function(t types.Type) string {
	s, ok := t.Underlying().(*types.Signature)
	if !ok || s.Params().Len() > 1 || s.Params().Len() == 1 && !isContext(s.Params().At(0).Type()) {
		return ""
	}
	switch n := s.Results().Len(); {
	case n == 0, n == 1 && isError(s.Results().At(0).Type()):
		return "a function to call at the end (" + typeName(t) + ")"
	case steps(s):
		return "a function to call for the next value (" + typeName(t) + ")"
	}
	return ""
}

// closes says why a value itself is a stream.
func closes(t types.Type) string {
	switch {
	case has(t, "Close", 0, 0), has(t, "Close", 0, 1), has(t, "Close", 1, 1):
		return "something to close (" + typeName(t) + ")"
	case lookup(t, "Recv") != nil:
		return "something to receive from (" + typeName(t) + ")"
	case steps(lookup(t, "Next")):
		return "something to step through (" + typeName(t) + ")"
	case has(t, "Rollback", 0, 1), has(t, "Rollback", 1, 1):
		return "a transaction (" + typeName(t) + ")"
	}
	if s := lookup(t, "Scan"); s != nil && s.Variadic() {
		return "a row to scan (" + typeName(t) + ")"
	}
	return ""
}

// steps tells Next of an iterator, which says whether there is more, from that of a
// list's node.
func steps(next *types.Signature) bool {
	if next == nil {
		return false
	}
	for result := range next.Results().Variables() {
		if isError(result.Type()) || types.Identical(result.Type().Underlying(), types.Typ[types.Bool]) {
			return true
		}
	}
	return false
}

// exportedFields are those of a struct, or of a pointer to one, with those that a field
// without a name promotes.
func exportedFields(t types.Type) func(yield func(*types.Var) bool) {
	return func(yield func(*types.Var) bool) { promoted(t, 3, yield) }
}

func promoted(t types.Type, depth int, yield func(*types.Var) bool) bool {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for field := range s.Fields() {
		switch {
		case field.Exported():
			if !yield(field) {
				return false
			}
		case field.Embedded() && depth > 0:
			if !promoted(field.Type(), depth-1, yield) {
				return false
			}
		}
	}
	return true
}

// consumes says why an argument is not the same when it is given a second time: read
// to its end, written to, stepped through, or a channel. "" if it is.
func consumes(t types.Type) string {
	if s, ok := t.Underlying().(*types.Signature); ok {
		return gives(s)
	}
	return spent(t, 1, nesting)
}

// spent looks at a value, at what containers and pointers lead to, and at the exported
// fields of a struct as many levels down as fields says. An embedded field is no level:
// what it holds is the struct's own.
func spent(t types.Type, fields, containers int) string {
	if why := usesUp(t); why != "" || containers == 0 {
		return why
	}
	if elem := contained(t); elem != nil {
		return spent(elem, fields, containers-1)
	}
	for field := range exportedFields(t) {
		deeper := fields
		if !field.Embedded() {
			deeper--
		}
		if deeper < 0 {
			continue
		}
		if why := spent(field.Type(), deeper, containers-1); why != "" {
			return "a " + typeName(t) + " whose field " + field.Name() + " is " + why
		}
	}
	return ""
}

// contained is the element of a container, and what a pointer points to, but for a
// struct, whose fields are looked at through its pointer too.
func contained(t types.Type) types.Type {
	if elem := element(t); elem != nil {
		return elem
	}
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	if _, isStruct := p.Elem().Underlying().(*types.Struct); isStruct {
		return nil
	}
	return p.Elem()
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
	case isReader(t):
		return "a reader (" + typeName(t) + "), which the first attempt has read"
	case isWriter(t):
		return "a writer (" + typeName(t) + "), which the first attempt has written to"
	case steps(lookup(t, "Next")), steps(lookup(t, "NextPart")), has(t, "Scan", 0, 1) && steps(lookup(t, "Scan")),
		has(t, "Decode", 1, 1) && steps(lookup(t, "Decode")):
		return "something to step through (" + typeName(t) + "), which the first attempt has done"
	}
	return ""
}

// typeName is how a message calls a type.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
