package gen

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
)

// distinctOps gives the methods of an interface whose names differ in capitals only, such
// as FCallRO and FCallRo, ops that differ all the same: events and errors would not tell
// them apart. The first in the order of their names keeps the plain one. What somebody
// has named with //resilient:op stays as it is.
func distinctOps(t *target) {
	used := map[string]bool{}
	for _, m := range t.methods {
		used[m.verdict.op] = true
	}
	seen := map[string]bool{}
	for _, m := range t.methods {
		if m.says.op != "" {
			seen[m.says.op] = true
		}
	}
	for _, m := range t.methods {
		if m.verdict.kind != guarded || m.says.op != "" {
			continue
		}
		plain := m.verdict.op
		for n := 2; seen[m.verdict.op]; n++ {
			if name := plain + "_" + strconv.Itoa(n); !used[name] {
				m.verdict.op, used[name] = name, true
			}
		}
		seen[m.verdict.op] = true
	}
}

// A namedOp is one of a service, whose guard tells its ops apart by name.
type namedOp struct{ service, op string }

// opUse is the first method that an op's name stands for.
type opUse struct {
	target   *target
	method   string
	declared token.Position
}

// sameOps mentions methods that events and errors cannot tell apart: those that somebody
// named alike, and those of several interfaces with one service's name. A method that two
// interfaces embed from the same place is one operation, and rightly has one name.
func (r *run) sameOps() {
	called := map[namedOp]opUse{}
	for _, t := range r.targets {
		for _, m := range t.methods {
			if m.verdict.kind != guarded {
				continue
			}
			key := namedOp{t.service, m.verdict.op}
			first, taken := called[key]
			switch {
			case !taken:
				called[key] = opUse{t, m.name, m.declared}
			case first.target == t:
				r.notes.add(m.pos, fmt.Sprintf("%s.%s and %s.%s are both called %s", t.object.Name(), first.method, t.object.Name(), m.name, key.op),
					"events and errors do not tell them apart", "say another //resilient:op NAME at one of them")
			case first.declared != m.declared && together(t, first.target):
				r.notes.add(m.pos, fmt.Sprintf("%s.%s and %s.%s are both called %s in service %s", t.object.Name(), m.name, t.from(first.target), first.method, key.op, key.service),
					"events and errors do not tell them apart", "say //resilient:op NAME at one of them, or another //resilient:service NAME on one of the interfaces")
			}
		}
	}
}

// together reports whether two targets can be in one program: a package's tests are in no
// other one's, and neither is a command.
func together(a, b *target) bool {
	alone := func(t *target) bool { return t.pkg.Name == "main" || strings.HasSuffix(t.source, "_test.go") }
	return a.pkg.PkgPath == b.pkg.PkgPath || !alone(a) && !alone(b)
}

// from is what another target is called, as seen from t.
func (t *target) from(other *target) string {
	if other.pkg.PkgPath == t.pkg.PkgPath {
		return other.object.Name()
	}
	return other.pkg.PkgPath + "." + other.object.Name()
}
