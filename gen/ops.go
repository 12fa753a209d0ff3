package gen

import (
	"strconv"
	"time"

	"github.com/dave/jennifer/jen"
)

func (w *wrapper) printOps(f *jen.File) {
	var fields, values []jen.Code
	for _, m := range w.methods {
		if m.verdict.kind != guarded {
			continue
		}
		fields = append(fields, jen.Id(m.name))
		values = append(values, jen.Id(m.name).Op(":").Add(w.op(m, m.verdict.idempotent)))
	}
	if len(fields) == 0 {
		w.opsName = ""
		return
	}
	f.Line()
	f.Comment("// " + w.opsName + " says of each method what it is called and whether it may be repeated.")
	f.Var().Id(w.opsName).Op("=").Struct(jen.List(fields...).Qual(runtimePath, "Op")).Custom(
		jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}, values...)
}

// op makes a method's op.
func (w *wrapper) op(m *method, idempotent bool) *jen.Statement {
	maker := "NonIdempotent"
	if idempotent {
		maker = "Idempotent"
	}
	s := jen.Qual(runtimePath, maker).Call(jen.Lit(m.verdict.op))
	if m.says.total > 0 {
		s = s.Dot("WithTotalTimeout").Call(duration(m.says.total))
	}
	if m.says.attempt > 0 {
		s = s.Dot("WithAttemptTimeout").Call(duration(m.says.attempt))
	}
	return s
}

// duration writes a duration in the largest unit that fits.
func duration(d time.Duration) *jen.Statement {
	unit, name := time.Nanosecond, "Nanosecond"
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Microsecond, "Microsecond"}, {time.Millisecond, "Millisecond"}, {time.Second, "Second"}, {time.Minute, "Minute"}} {
		if d%u.unit == 0 {
			unit, name = u.unit, u.name
		}
	}
	if d == unit {
		return jen.Qual("time", name)
	}
	return jen.Id(strconv.FormatInt(int64(d/unit), 10)).Op("*").Qual("time", name)
}
