package gen

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// A value with a lock in it must not be copied, and a wrapper passes everything on. go
// vet reports it in the output (copylocks), where nobody can mend it.

// lockedParameter refuses a method that takes such a value, guarded or not.
func lockedParameter(m *method) *refusal {
	params := m.signature.Params()
	for i := range params.Len() {
		if hasLock(params.At(i).Type()) {
			return &refusal{
				why: fmt.Sprintf("its parameter %s holds a lock (%s), which the wrapper would copy", parameterName(params.At(i), i), shape.TypeName(params.At(i).Type())),
				fix: "let it take a pointer",
			}
		}
	}
	return nil
}

// lockedResult refuses a method that returns such a value. One that is forwarded may:
// its results are returned as they come.
func lockedResult(m *method) *refusal {
	for v := range m.signature.Results().Variables() {
		if hasLock(v.Type()) {
			return &refusal{
				why: fmt.Sprintf("it returns a lock (%s), which the wrapper would copy", shape.TypeName(v.Type())),
				fix: "let it return a pointer, or leave it unguarded with //resilient:skip",
			}
		}
	}
	return nil
}

// hasLock reports whether go vet's copylocks would object to a copy.
func hasLock(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return shape.AnyTerm(t, func(term types.Type) bool { return term != t && hasLock(term) })
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return hasLock(u.Elem())
	case *types.Struct:
		locker := newLocker()
		if types.Implements(types.NewPointer(t), locker) && !types.Implements(t, locker) {
			return true
		}
		for field := range u.Fields() {
			if hasLock(field.Type()) {
				return true
			}
		}
	}
	return false
}

// newLocker is sync.Locker.
func newLocker() *types.Interface {
	nothing := types.NewSignatureType(nil, nil, nil, nil, nil, false)
	return types.NewInterfaceType([]*types.Func{
		types.NewFunc(token.NoPos, nil, "Lock", nothing),
		types.NewFunc(token.NoPos, nil, "Unlock", nothing),
	}, nil).Complete()
}
