package vet

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// emptyDirective leaves to the generator what only it can judge: whether a directive fits the types of a method.
var emptyDirective = &analysis.Analyzer{
	Name: "emptydirective",
	Doc: `report directives that do nothing

A //resilient: comment that is misspelt, stands on something that is no service interface, or names a method that there is
not, is passed over: the method is retried, or is not, against what its author wrote.`,
	Requires: []*analysis.Analyzer{directives},
	Run: func(pass *analysis.Pass) (any, error) {
		for _, file := range pass.ResultOf[directives].([]*directive.File) {
			for _, p := range file.Problems {
				reportProblem(pass, p)
			}
			for _, t := range file.Types {
				checkType(pass, t)
			}
		}
		return nil, nil
	},
}

func reportProblem(pass *analysis.Pass, p directive.Problem) {
	d := analysis.Diagnostic{Pos: p.Pos, End: p.End, Message: p.Error()}
	if p.Replacement != "" {
		d.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "write " + p.Replacement,
			TextEdits: []analysis.TextEdit{{Pos: p.Pos, End: p.End, NewText: []byte(p.Replacement)}},
		}}
	}
	pass.Report(d)
}

func checkType(pass *analysis.Pass, t *directive.Type) {
	obj := pass.TypesInfo.Defs[t.Spec.Name]
	if obj == nil {
		return
	}
	all := slices.Clone(t.Directives)
	for _, line := range t.Lines {
		all = append(all, line.Directives...)
	}
	for _, d := range all {
		if why := doesNothing(obj, t, d); why != "" {
			pass.Report(analysis.Diagnostic{Pos: d.Pos, End: d.End, Message: fmt.Sprintf("//resilient:%s does nothing here: %s", d.Verb, why)})
		}
	}
}

// doesNothing says why a directive of a type does nothing; "" if it does something.
func doesNothing(obj types.Object, t *directive.Type, d directive.Directive) string {
	iface, ok := obj.Type().Underlying().(*types.Interface)
	switch {
	case !ok:
		return obj.Name() + " is no interface"
	case !t.Has(directive.Service) && d.Place == directive.OnType: // those on methods are for others that embed it
		return obj.Name() + " has no //resilient:service"
	case !t.Has(directive.Service), t.Has(directive.From): // whose methods are elsewhere
		return ""
	}
	for _, name := range d.Methods {
		named := func(m *types.Func) bool { return m.Name() == name }
		if !slices.ContainsFunc(slices.Collect(iface.Methods()), named) {
			return obj.Name() + " has no method " + name
		}
	}
	return ""
}
