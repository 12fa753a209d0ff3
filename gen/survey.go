package gen

import (
	"go/token"

	"github.com/seed42274fcc/stoic/gen/internal/shape"
)

// survey converts all the types, to find the packages and what cannot be written.
func (w *wrapper) survey(ps *problems) bool {
	c := w.convert
	before := len(ps.list)
	w.ifaceType()
	c.typeParams(w.params)
	w.refused(ps, w.pos, w.object.Name())
	if w.narrow != nil && w.narrow.embedded && w.object.Pkg().Path() != w.output.to.path {
		ps.add(w.pos, "cannot wrap "+w.object.Name(), "it embeds "+w.narrow.name+", which is generated and must be in its package", "write the wrapper into that package, or leave the interface empty")
	}
	w.hidden(ps)
	for _, m := range w.methods {
		c.signature(m.signature)
		for _, t := range m.verdict.fill.targs {
			c.typ(t)
		}
		w.refused(ps, m.pos, w.object.Name()+"."+m.name)
		w.needs(ps, m)
	}
	return len(ps.list) == before
}

// hidden refuses a package that declares anew what the bodies need of the language's own
// names. (Those in signatures are found as they are converted.)
func (w *wrapper) hidden(ps *problems) {
	need := []string{"nil"}
	for _, m := range w.methods {
		if m.verdict.kind == guarded {
			need = append(need, "error")
		}
		if m.verdict.fill.setErr {
			need = append(need, "new")
		}
		if len(m.verdict.rewind) > 0 {
			need = append(need, "int64")
		}
	}
	for _, name := range need {
		if w.output.to.scope[name] {
			ps.add(w.pos, "cannot wrap "+w.object.Name(), "package "+w.output.to.name+" declares "+name+" itself, and the wrapper needs the predeclared one", "rename that declaration")
		}
	}
}

// needs takes note of the packages that a method's body calls.
func (w *wrapper) needs(ps *problems, m *method) {
	need := w.output.imports.need
	if m.verdict.kind == guarded || m.verdict.kind == stream && m.verdict.ctx.param < 0 {
		need("context", "context")
	}
	if m.says.total > 0 || m.says.attempt > 0 {
		need("time", "time")
	}
	for _, i := range m.verdict.rewind {
		if shape.IsRequest(m.signature.Params().At(i).Type()) {
			need("net/http", "http")
		} else {
			need("io", "io")
		}
	}
	f := m.verdict.fill.construct
	if f == nil || f.Pkg().Path() == w.output.to.path {
		return
	}
	w.output.imports.types(f.Pkg())
	if !f.Exported() || !w.convert.reachable(f.Pkg()) {
		ps.add(m.pos, "cannot wrap "+w.object.Name()+"."+m.name, "package "+w.output.to.name+" cannot call "+f.Name(), "export it, or write the wrapper into its package")
	}
}

func (w *wrapper) refused(ps *problems, pos token.Position, what string) {
	if bad := w.convert.bad; bad != nil {
		ps.add(pos, "cannot wrap "+what, bad.why, bad.fix)
		w.convert.bad = nil
	}
}
