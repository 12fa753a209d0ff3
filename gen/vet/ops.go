package vet

import (
	"go/ast"
	"go/types"
)

// opKind is what the code says about an op. Most ops are made where the call is made; of the others we may not know.
type opKind uint8

const (
	opUnknown opKind = iota
	opIdempotent
	opNonIdempotent
)

// opOf follows an op to the call that made it, past the methods that add limits. It returns that call too.
func opOf(info *types.Info, d *definitions, e ast.Expr) (opKind, *ast.CallExpr) {
	for {
		call, ok := d.resolve(info, e).(*ast.CallExpr)
		if !ok {
			return opUnknown, nil
		}
		fn := callee(info, call)
		switch {
		case isFunc(fn, libraryPath, "Idempotent"):
			return opIdempotent, call
		case isFunc(fn, libraryPath, "NonIdempotent"):
			return opNonIdempotent, call
		case fn != nil && isMethod(fn, libraryPath, "Op", fn.Name()):
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return opUnknown, nil
			}
			e = sel.X
		default:
			return opUnknown, nil
		}
	}
}
