package vet

import (
	"go/types"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// asyncResult does not see a channel inside a struct, nor one behind a type parameter.
var asyncResult = &analysis.Analyzer{
	Name: "asyncresult",
	Doc: `report functions that return before their work is done and are guarded as if they had not

A guard judges a function by its return. A function that returns a channel or a *Future has not failed or succeeded by
then: Execute, Async and the Wrap family refuse it with ErrAsyncFunction. Guard the work itself, with Async if it is to
run in the background.`,
	Requires: []*analysis.Analyzer{calls},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, g := range pass.ResultOf[calls].([]*guarded) {
			what := ""
			switch {
			case g.result == nil:
			case shape.IsFuture(g.result):
				what = "a *Future"
			case isChannel(g.result):
				what = "a channel"
			}
			if what != "" {
				pass.ReportRangef(g.fn.expr, "the function returns %s, before its work is done: %s refuses it with ErrAsyncFunction; "+
					"guard the work itself, with Async where it is to run in the background", what, g.entry)
			}
		}
		return nil, nil
	},
}

func isChannel(t types.Type) bool {
	if _, param := types.Unalias(t).(*types.TypeParam); param {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}
