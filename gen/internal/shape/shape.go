// Package shape says what a type is to a guarded call: a context, an error, a stream, an argument that can be given once.
// The generator and the analyzers ask the same questions here, so that neither advises what the other refuses.
package shape

import "go/types"

// Types are recognised by the methods that they have and by their full names, never
// by identity: a package may have been read from source and from export data.

// Library is the package that generated code calls.
const Library = "github.com/seed42274fcc/stoic/resilient"

var errorType = types.Universe.Lookup("error").Type()

// IsError reports whether t is error itself.
func IsError(t types.Type) bool { return types.Identical(t, errorType) }

// Named reports whether t is the named type of that package, through aliases.
func Named(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg
}

// IsContext reports whether t is context.Context.
func IsContext(t types.Type) bool { return Named(t, "context", "Context") }

// ExtendsContext reports whether a value of t can be used as a context but is more. The
// types count, not the names alone: Temporal's workflow.Context has the same methods,
// with a channel of its own.
func ExtendsContext(t types.Type) bool {
	if IsContext(t) || !has(t, "Deadline", 0, 2) || !has(t, "Done", 0, 1) || !has(t, "Err", 0, 1) || !has(t, "Value", 1, 1) {
		return false
	}
	deadline, value := Lookup(t, "Deadline").Results(), Lookup(t, "Value")
	empty := types.NewInterfaceType(nil, nil)
	return Named(deadline.At(0).Type(), "time", "Time") && types.Identical(deadline.At(1).Type(), types.Typ[types.Bool]) &&
		types.Identical(Lookup(t, "Done").Results().At(0).Type(), types.NewChan(types.RecvOnly, types.NewStruct(nil, nil))) &&
		IsError(Lookup(t, "Err").Results().At(0).Type()) &&
		types.Identical(value.Params().At(0).Type(), empty) && types.Identical(value.Results().At(0).Type(), empty)
}

// IsRequest reports whether t is *http.Request.
func IsRequest(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && Named(p.Elem(), "net/http", "Request")
}

// Lookup finds a method of a value of type t; nil if it has none of that name.
func Lookup(t types.Type, name string) *types.Signature {
	object, _, _ := types.LookupFieldOrMethod(t, false, nil, name)
	if f, ok := object.(*types.Func); ok {
		return f.Signature()
	}
	return nil
}

func has(t types.Type, name string, params, results int) bool {
	s := Lookup(t, name)
	return s != nil && s.Params().Len() == params && s.Results().Len() == results
}

func isByteSlice(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), types.Typ[types.Byte])
}

// IsReader reports whether t has Read([]byte) (int, error).
func IsReader(t types.Type) bool { return takesBytes(t, "Read") }

// isWriter: Write([]byte) (int, error).
func isWriter(t types.Type) bool { return takesBytes(t, "Write") }

func takesBytes(t types.Type, name string) bool {
	s := Lookup(t, name)
	return s != nil && s.Params().Len() == 1 && isByteSlice(s.Params().At(0).Type()) && s.Results().Len() == 2
}

// IsSeeker reports whether t has Seek(int64, int) (int64, error).
func IsSeeker(t types.Type) bool { return has(t, "Seek", 2, 2) }

// IsFuture reports whether t is a *resilient.Future.
func IsFuture(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && Named(p.Elem(), Library, "Future")
}

// TypeName is how a message calls a type.
func TypeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
