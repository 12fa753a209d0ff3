package vet

import "go/types"

// streamKind says in words what kind of stream a type is, or holds; "" if it is none. tied reports whether such a stream
// always ends with the context that it was opened under; of the others, whoever opened it knows.
func streamKind(t types.Type) (what string, tied bool) {
	switch {
	case isNamed(deref(t), "net/http", "Response"):
		return "*http.Response, with its body", true
	case isNamed(deref(t), "database/sql", "Rows"), isNamed(deref(t), "database/sql", "Row"):
		return types.TypeString(t, shortly), true
	case isNamed(t, "iter", "Seq"), isNamed(t, "iter", "Seq2"):
		return "an iterator", false
	case isRows(t):
		return types.TypeString(t, shortly), true
	case hasMethods(t, "RecvMsg", "CloseSend"), hasMethods(t, "Recv", "CloseSend"):
		return types.TypeString(t, shortly), true
	case isReadCloser(t):
		return types.TypeString(t, shortly), false
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

func hasMethods(t types.Type, names ...string) bool {
	set := types.NewMethodSet(t)
	for _, name := range names {
		if set.Lookup(nil, name) == nil {
			return false
		}
	}
	return true
}
