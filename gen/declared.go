package gen

import "go/types"

// declaredIdempotent reports whether generated code of a protocol says that a method
// may be repeated.
func (g *merger) declaredIdempotent(m *types.Func) bool { return false }
