package vet

import (
	"fmt"
	"go/ast"
	"go/types"

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
	report := func(d directive.Directive, why string) {
		pass.Report(analysis.Diagnostic{Pos: d.Pos, End: d.End, Message: fmt.Sprintf("//resilient:%s does nothing here: %s", d.Verb, why)})
	}
	all := t.Directives
	for _, line := range t.Lines {
		all = append(all[:len(all):len(all)], line.Directives...)
	}
	obj := pass.TypesInfo.Defs[t.Spec.Name]
	if obj == nil {
		return
	}
	iface, isInterface := obj.Type().Underlying().(*types.Interface)
	switch {
	case !isInterface:
		for _, d := range all {
			report(d, t.Spec.Name.Name+" is no interface")
		}
	case !t.Has(directive.Service):
		for _, d := range all {
			report(d, t.Spec.Name.Name+" has no //resilient:service")
		}
	case !t.Has(directive.From): // whose methods are written by the generator
		for _, d := range t.Directives {
			for _, method := range d.Methods {
				if !hasMethod(iface, method) {
					report(d, t.Spec.Name.Name+" has no method "+method)
				}
			}
		}
		for _, line := range t.Lines {
			if _, isMethod := line.Field.Type.(*ast.FuncType); !isMethod && iface.NumMethods() == 0 {
				for _, d := range line.Directives {
					report(d, t.Spec.Name.Name+" has no methods")
				}
			}
		}
	}
}

func hasMethod(iface *types.Interface, name string) bool {
	for method := range iface.Methods() {
		if method.Name() == name {
			return true
		}
	}
	return false
}
