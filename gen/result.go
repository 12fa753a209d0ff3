package gen

import "path/filepath"

// result sums up.
func (r *run) result() *Result {
	out := &Result{Problems: r.problems.sorted(), Notes: r.notes.sorted()}
	if len(out.Problems) == 0 {
		out.Files = r.files
	}
	for _, t := range r.targets {
		out.Services = append(out.Services, t.describe(r.relative(r.outFile[t]), r.finder.short(t.pos)))
	}
	return out
}

func (r *run) relative(path string) string {
	if relative, err := filepath.Rel(r.config.Dir, path); err == nil {
		return filepath.ToSlash(relative)
	}
	return path
}

func (t *target) describe(output, pos string) Service {
	s := Service{Package: t.pkg.PkgPath, Interface: t.object.Name(), Service: t.service, Position: pos, Output: output}
	for _, m := range t.methods {
		d := Method{Name: m.name, Kind: string(m.verdict.kind), Idempotent: m.verdict.idempotent, Why: m.verdict.why}
		if m.verdict.kind == guarded {
			d.Op = m.verdict.op
			if m.says.total > 0 {
				d.Total = m.says.total.String()
			}
			if m.says.attempt > 0 {
				d.Attempt = m.says.attempt.String()
			}
		}
		s.Methods = append(s.Methods, d)
	}
	return s
}
