package gen

import (
	"go/token"
	"unicode"
	"unicode/utf8"
)

// nameTypes names what the file declares for the package, and the struct's fields.
func (w *wrapper) nameTypes(ps *problems, reserved taken) {
	name := w.object.Name()
	if w.narrow != nil {
		name = w.narrow.base
	}
	upper := capital(name)
	w.constructor = "newResilient" + upper
	if token.IsExported(name) {
		w.constructor = "NewResilient" + upper
	}
	if w.narrow != nil {
		if reserved[w.narrow.name] {
			ps.add(w.pos, "cannot wrap "+name, "package "+w.output.to.name+" declares "+w.narrow.name+" already", "rename that declaration")
		}
		reserved.add(w.narrow.name)
	}
	if reserved[w.constructor] {
		ps.add(w.pos, "cannot wrap "+name, "package "+w.output.to.name+" declares "+w.constructor+" already", "rename that declaration")
	}
	w.typeName = reserved.renamed("resilient" + upper)
	reserved.add(w.typeName, w.constructor)
	w.opsName = reserved.renamed(w.typeName + "Ops")
	reserved.add(w.opsName)
	methods := taken{}
	for _, m := range w.methods {
		methods.add(m.name)
	}
	if w.sealed {
		w.embedName = reserved.renamed(w.typeName + "Next")
		reserved.add(w.embedName)
		methods.add(w.embedName)
	}
	w.next = methods.fresh("next")
	methods.add(w.next)
	w.guard = methods.fresh("guard")
	if w.sealed {
		w.next = w.embedName
	}
}

func capital(name string) string {
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

// nameReceiver chooses one name for all methods, which none of them needs for
// anything else.
func (w *wrapper) nameReceiver() {
	used := predeclared()
	used.addAll(w.output.to.scope)
	used.add(w.typeName, w.opsName, w.constructor)
	for _, name := range w.convert.params {
		used.add(name)
	}
	for _, alias := range w.output.imports.alias {
		used.add(alias)
	}
	for _, m := range w.methods {
		for p := range m.signature.Params().Variables() {
			used.add(p.Name())
		}
	}
	w.receiver = used.fresh("r")
}
