package vet

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/seed42274fcc/stoic/gen/directive"
	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// emptyDirective leaves to the generator what only it can judge: whether a directive fits the types of a method.
var emptyDirective = &analysis.Analyzer{
	Name: "emptydirective",
	Doc: `report directives that do nothing

A //resilient: comment that is misspelt, stands on a type that is no service interface, or names a method that there is
not, is passed over: the method is retried, or is not, against what its author wrote. So is a call of MarkIdempotent that
gives no package variable its value, for it is read and not run. Comments on the methods of an interface without
//resilient:service are not reported: they are for the service interfaces that embed it.`,
	Requires: []*analysis.Analyzer{directives, inspect.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		checkMarks(pass)
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

// checkMarks reports the calls of MarkIdempotent outside of the declarations of package variables.
func checkMarks(pass *analysis.Pass) {
	for cursor := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Preorder((*ast.CallExpr)(nil)) {
		call := cursor.Node().(*ast.CallExpr)
		if !isFunc(callee(pass.TypesInfo, call), libraryPath, "MarkIdempotent") {
			continue
		}
		for range cursor.Enclosing((*ast.FuncDecl)(nil)) {
			pass.ReportRangef(call, "MarkIdempotent does nothing here: it is read where it gives a package variable its value, "+
				"as in var _ = resilient.MarkIdempotent(…)")
		}
	}
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
		if op := directive.Find(line.Directives, directive.Op); op != nil && op.Name != "" && opensStreams(pass.TypesInfo, t, line) {
			pass.Report(analysis.Diagnostic{Pos: op.Pos, End: op.End, Message: fmt.Sprintf("the name %s does nothing here: "+
				"a stream is opened under a permit, which has no op", op.Name)})
		}
	}
	for _, d := range all {
		if why := doesNothing(obj, t, d); why != "" {
			pass.Report(analysis.Diagnostic{Pos: d.Pos, End: d.End, Message: fmt.Sprintf("//resilient:%s does nothing here: %s", d.Verb, why)})
		}
	}
}

// opensStreams reports whether a method is surely one of which only the opening is guarded.
func opensStreams(info *types.Info, t *directive.Type, line *directive.Line) bool {
	if directive.Find(line.Directives, directive.Stream) != nil {
		return true
	}
	for _, name := range line.Field.Names {
		for _, d := range t.Directives {
			if d.Verb == directive.Stream && slices.Contains(d.Methods, name.Name) {
				return true
			}
		}
		method, ok := info.Defs[name].(*types.Func)
		if !ok {
			continue
		}
		for result := range method.Signature().Results().Variables() {
			if shape.Streams(result.Type()) != "" {
				return true
			}
		}
	}
	return false
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
