package vet

import (
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// streamKind says in words what kind of stream a type is, or holds; "" if it is none. tied reports whether such a stream
// always ends with the context that it was opened under; of the others, whoever opened it knows.
func streamKind(t types.Type) (what string, tied bool) {
	if shape.Streams(t) == "" && !shape.IsIterator(t) { // never one that the generator would repeat
		return "", false
	}
	var elem types.Type
	switch list := t.Underlying().(type) {
	case *types.Slice:
		elem = list.Elem()
	case *types.Map:
		elem = list.Elem()
	default:
		return oneStream(t)
	}
	if what, tied = oneStream(elem); what != "" {
		what = types.TypeString(t, shortly)
	}
	return what, tied
}

func oneStream(t types.Type) (what string, tied bool) {
	switch {
	case shape.Named(deref(t), "net/http", "Response"):
		return "*http.Response, with its body", true
	case shape.Named(deref(t), "database/sql", "Rows"), shape.Named(deref(t), "database/sql", "Row"):
		return types.TypeString(t, shortly), true
	case shape.Named(deref(t), "database/sql", "Tx"): // which is rolled back
		return types.TypeString(t, shortly), false
	case shape.IsIterator(t):
		return "an iterator", false
	case isRows(t):
		return types.TypeString(t, shortly), true
	case hasMethods(t, "RecvMsg", "CloseSend"), hasMethods(t, "Recv", "CloseSend"):
		return types.TypeString(t, shortly), true
	case isReadCloser(t):
		return types.TypeString(t, shortly), false
	case hasMethods(t, "Deadline", "Done", "Err", "Value"):
		return types.TypeString(t, shortly) + ", a context", false
	case hasMethods(t, "Stop") && handsChannel(t), holdsChannel(t):
		return types.TypeString(t, shortly) + ", with its channel", false
	case holdsBody(t):
		return types.TypeString(t, shortly) + ", with its body", false
	}
	return "", false
}

// shortly writes a package by its name, as code does.
func shortly(pkg *types.Package) string { return pkg.Name() }

// isRows recognises database cursors by their methods.
func isRows(t types.Type) bool { return hasMethods(t, "Next", "Scan", "Close", "Err") }

// isReadCloser recognises interfaces to read from and close. What can be written to is a connection, which outlives the
// context that it was dialled with.
func isReadCloser(t types.Type) bool {
	return types.IsInterface(t) && hasMethods(t, "Read", "Close") && !hasMethods(t, "Write")
}

// holdsBody recognises the results of object stores and the like.
func holdsBody(t types.Type) bool {
	structure, ok := deref(t).Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range structure.Fields() {
		if field.Name() == "Body" && isReadCloser(field.Type()) {
			return true
		}
	}
	return false
}

// handsChannel reports whether a method returns a channel of what happens.
func handsChannel(t types.Type) bool {
	for method := range types.NewMethodSet(t).Methods() {
		sig, ok := method.Type().(*types.Signature)
		if ok && method.Obj().Exported() && sig.Params().Len() == 0 && sig.Results().Len() == 1 && isFeed(sig.Results().At(0).Type()) {
			return true
		}
	}
	return false
}

// holdsChannel is handsChannel for fields.
func holdsChannel(t types.Type) bool {
	structure, ok := deref(t).Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range structure.Fields() {
		if field.Exported() && isFeed(field.Type()) {
			return true
		}
	}
	return false
}

// isFeed recognises channels to receive from. Those that only tell of an end, or of what goes wrong, belong to
// connections too.
func isFeed(t types.Type) bool {
	if !isChannel(t) {
		return false
	}
	channel := t.Underlying().(*types.Chan)
	if empty, ok := channel.Elem().Underlying().(*types.Struct); ok && empty.NumFields() == 0 {
		return false
	}
	return channel.Dir() != types.SendOnly && !shape.IsError(channel.Elem())
}

func hasMethods(t types.Type, names ...string) bool {
	set := types.NewMethodSet(t)
	for _, name := range names {
		if set.Lookup(nil, name) == nil {
			return false
		}
	}
	return true
}
