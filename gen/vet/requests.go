package vet

import (
	"go/ast"
	"go/types"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// sendsWithout reports whether a call makes a request that is sent without a context: http.NewRequest, into a variable that
// is then given to work that can fail, and nowhere beside a context.
func (c *contextCheck) sendsWithout(call *ast.CallExpr) bool {
	info := c.pass.TypesInfo
	if !isFunc(callee(info, call), "net/http", "NewRequest") || len(call.Args) != 3 {
		return false
	}
	request := c.madeBy(call)
	if request == nil {
		return false
	}
	if _, once := c.defs.only(request); !once {
		return false
	}
	sent, given := false, false
	inspectNow(c.g.fn.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && c.takes(call, request) {
			sig, ok := info.TypeOf(call.Fun).Underlying().(*types.Signature)
			sent = sent || ok && returnsError(sig)
		}
		return true
	})
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && c.givesContext(call, request) {
			given = true
		}
		return !given
	})
	return sent && !given
}

// madeBy returns the variable that takes the first result of a call.
func (c *contextCheck) madeBy(call *ast.CallExpr) (made *types.Var) {
	ast.Inspect(c.g.fn.body, func(n ast.Node) bool {
		for target, value := range assigned(n) {
			if value.expr != nil && ast.Unparen(value.expr) == call && made == nil {
				made = variable(c.pass.TypesInfo, target)
			}
		}
		return made == nil
	})
	return made
}

// takes reports whether a variable is among the arguments of a call.
func (c *contextCheck) takes(call *ast.CallExpr, v *types.Var) bool {
	for _, arg := range call.Args {
		if variable(c.pass.TypesInfo, arg) == v {
			return true
		}
	}
	return false
}

// givesContext reports whether a call takes a request, as its receiver or an argument, together with a context.
func (c *contextCheck) givesContext(call *ast.CallExpr, request *types.Var) bool {
	contexts := false
	for _, arg := range call.Args {
		contexts = contexts || shape.IsContext(c.pass.TypesInfo.TypeOf(arg))
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return contexts && (c.takes(call, request) || ok && variable(c.pass.TypesInfo, sel.X) == request)
}
