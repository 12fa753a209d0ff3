package vet

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// rawFields finds fields of which one holds the wrapper of what the other holds. It believes a pair that is made in one
// place, where both are set from the same service or one is made of the other, if neither is ever set otherwise, here or,
// being exported, elsewhere.
type rawFields struct {
	info     *types.Info
	wrappers map[*types.Var]*types.Var // by the field that holds the service itself
	sets     map[*types.Var]int        // how often a field is set
}

// checkRawFields reports calls through a field beside its wrapper's.
func checkRawFields(pass *analysis.Pass, root inspector.Cursor) {
	r := &rawFields{pass.TypesInfo, map[*types.Var]*types.Var{}, map[*types.Var]int{}}
	for cursor := range root.Preorder((*ast.CompositeLit)(nil), (*ast.AssignStmt)(nil)) {
		switch n := cursor.Node().(type) {
		case *ast.CompositeLit:
			r.made(n)
		case *ast.AssignStmt:
			r.set(n)
		}
	}
	if len(r.wrappers) == 0 {
		return
	}
	known := pass.ResultOf[services].(map[types.Object]*service)
	for cursor := range root.Preorder((*ast.CallExpr)(nil)) {
		sel, ok := ast.Unparen(cursor.Node().(*ast.CallExpr).Fun).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		raw, ok := ast.Unparen(sel.X).(*ast.SelectorExpr)
		if !ok {
			continue
		}
		wrapper := r.wrapperOf(raw)
		if wrapper == nil {
			continue
		}
		s := serviceNamed(known, wrapper.Type())
		if s != nil && slices.Contains(s.Guarded, sel.Sel.Name) && !underGuard(pass, cursor) {
			reportRaw(pass, sel, raw.Sel, wrapper.Name())
		}
	}
}

// wrapperOf returns the field with the wrapper of what a selector names; nil if there is none for sure.
func (r *rawFields) wrapperOf(sel *ast.SelectorExpr) *types.Var {
	raw, _ := fieldOf(r.info, sel)
	wrapper := r.wrappers[raw]
	if raw == nil || raw.Exported() || wrapper == nil || r.sets[raw] > 1 || r.sets[wrapper] > 1 {
		return nil
	}
	return wrapper
}

// set looks at an assignment: s.plans = NewResilientPlans(s.raw, guards).
func (r *rawFields) set(n *ast.AssignStmt) {
	for target, value := range assigned(n) {
		field, holder := fieldOf(r.info, target)
		if field == nil {
			continue
		}
		r.sets[field]++
		raw, same := fieldOf(r.info, wrappedIn(r.info, value.call()))
		if raw != nil && raw != field && holder != nil && holder == same {
			r.wrappers[raw] = field
		}
	}
}

// made looks at a struct that is made: &server{raw: client, plans: NewResilientPlans(client, guards)}.
func (r *rawFields) made(n *ast.CompositeLit) {
	held := map[*types.Var][]*types.Var{} // by the variable that a field is set from
	wrappers := map[*types.Var]*types.Var{}
	for _, element := range n.Elts {
		field, e := r.element(element)
		if field == nil {
			continue
		}
		r.sets[field]++
		if from := variable(r.info, e); from != nil {
			held[from] = append(held[from], field)
		}
		raw := wrappedIn(r.info, value{expr: e}.call())
		if raw == nil {
			continue
		}
		if from := variable(r.info, raw); from != nil {
			wrappers[from] = field
		}
	}
	for from, wrapper := range wrappers {
		for _, raw := range held[from] {
			r.wrappers[raw] = wrapper
		}
	}
}

// element returns the field and the value of an element with a name.
func (r *rawFields) element(e ast.Expr) (field *types.Var, set ast.Expr) {
	pair, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return nil, nil
	}
	key, ok := pair.Key.(*ast.Ident)
	if !ok {
		return nil, nil
	}
	if field, ok = r.info.Uses[key].(*types.Var); !ok || !field.IsField() {
		return nil, nil
	}
	return field, pair.Value
}

// fieldOf returns the field that an expression names, and the variable whose field it is, if it is one's own.
func fieldOf(info *types.Info, e ast.Expr) (field, holder *types.Var) {
	if e == nil {
		return nil, nil
	}
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	selection := info.Selections[sel]
	if selection == nil || selection.Kind() != types.FieldVal || len(selection.Index()) != 1 {
		return nil, nil
	}
	return selection.Obj().(*types.Var), variable(info, sel.X)
}
