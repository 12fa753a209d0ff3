package gen

import (
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// fillFor finds out how a rejection becomes a result of that type: by the function
// that the directive names, or by SetErr on a new one.
func (f *finder) fillFor(t *target, name string, result types.Type) (fill, *refusal) {
	if name == "" {
		p, isPointer := types.Unalias(result).(*types.Pointer)
		if s := shape.Lookup(result, "SetErr"); isPointer && !isInvalid(p.Elem()) && s != nil && s.Results().Len() == 0 && s.Params().Len() == 1 && shape.IsError(s.Params().At(0).Type()) {
			return fill{setErr: true}, nil
		}
		return fill{}, &refusal{
			why: "nothing says how a rejection becomes a " + shape.TypeName(result),
			fix: "say //resilient:error ACCESSOR new=FUNC with a func(error) " + shape.TypeName(result) + ", or leave it unguarded with //resilient:skip",
		}
	}
	function := findFunc(t, name)
	if function == nil {
		return fill{}, &refusal{why: "there is no function " + name, fix: "name one of this package, or of an imported one"}
	}
	if found, ok := fits(function, result); ok {
		return found, nil
	}
	return fill{}, &refusal{
		why: name + " does not make a " + shape.TypeName(result) + " of an error",
		fix: "it may be func(error) T or func(context.Context, error) T, also generic in T, or in T and P interface{ *T; … } with result P",
	}
}

// findFunc finds a function by its name, with the package's before it or not.
func findFunc(t *target, name string) *types.Func {
	scope := t.pkg.Types.Scope()
	if before, after, ok := strings.Cut(name, "."); ok {
		imported := importNamed(t, before)
		if imported == nil || !token.IsExported(after) {
			return nil
		}
		scope, name = imported.Scope(), after
	}
	function, _ := scope.Lookup(name).(*types.Func)
	return function
}

// importNamed finds the package that a name stands for in a target's file.
func importNamed(t *target, name string) *types.Package {
	for _, spec := range t.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		for _, imported := range t.pkg.Types.Imports() {
			if imported.Path() != p {
				continue
			}
			if spec.Name != nil && spec.Name.Name == name || (spec.Name == nil || spec.Name.Name == "_") && (imported.Name() == name || path.Base(p) == name) {
				return imported
			}
		}
	}
	return nil
}

// fits reports whether a function makes a result of an error, and with which type
// arguments.
func fits(function *types.Func, result types.Type) (fill, bool) {
	found := fill{construct: function}
	signature := function.Signature()
	if signature.TypeParams().Len() == 0 {
		return found, found.matches(signature, result)
	}
	var elem types.Type
	if p, ok := types.Unalias(result).(*types.Pointer); ok {
		elem = p.Elem()
	}
	tries := [][]types.Type{{result}}
	if elem != nil {
		tries = append(tries, []types.Type{elem}, []types.Type{elem, result}, []types.Type{result, elem})
	}
	for _, targs := range tries {
		if len(targs) != signature.TypeParams().Len() {
			continue
		}
		made, err := types.Instantiate(nil, signature, targs, true)
		if err != nil {
			continue
		}
		if s, ok := made.(*types.Signature); ok && found.matches(s, result) {
			found.targs = targs
			return found, true
		}
	}
	return fill{}, false
}

func (f *fill) matches(s *types.Signature, result types.Type) bool {
	params := s.Params()
	if s.Variadic() || s.Results().Len() != 1 || !types.Identical(s.Results().At(0).Type(), result) {
		return false
	}
	switch params.Len() {
	case 1:
		return shape.IsError(params.At(0).Type())
	case 2:
		f.context = shape.IsContext(params.At(0).Type()) && shape.IsError(params.At(1).Type())
		return f.context
	}
	return false
}
