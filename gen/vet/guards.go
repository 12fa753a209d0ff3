package vet

import (
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// isGuarded reports whether a wrapper surely guards a method: its failure can be seen, in one error among its results, in
// the one that a directive chooses of several, or behind the accessor; and it is neither excluded nor one of those that
// are always forwarded. Whether it takes a context, and where, does not matter.
func isGuarded(method *types.Func, s said, accessor string) bool {
	name, results := method.Name(), method.Signature().Results()
	if s.unguarded || (name == "Close" || name == "Shutdown") && !s.byHand {
		return false
	}
	failures := 0
	for result := range results.Variables() {
		switch t := result.Type(); {
		case shape.IsError(t):
			failures++
		case shape.IsFuture(t), shape.IsIterator(t): // nothing is done yet
			return false
		}
	}
	switch {
	case failures > 0:
		return failures == 1 || s.errorNr > 0 && s.errorNr <= failures
	case s.accessor != "":
		return hasAccessor(results, s.accessor)
	}
	// The accessor of a stream, or of a context, tells nothing of the call.
	return accessor != "" && hasAccessor(results, accessor) && shape.Streams(results.At(0).Type()) == ""
}

// hasAccessor reports whether the only result has a method of that name that returns an error.
func hasAccessor(results *types.Tuple, name string) bool {
	if results.Len() != 1 {
		return false
	}
	selection := types.NewMethodSet(results.At(0).Type()).Lookup(nil, name)
	if selection == nil {
		return false
	}
	sig, ok := selection.Type().(*types.Signature)
	return ok && sig.Params().Len() == 0 && sig.Results().Len() == 1 && shape.IsError(sig.Results().At(0).Type())
}
