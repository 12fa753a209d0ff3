package vet

import (
	"cmp"
	"go/types"
	"maps"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// said is what directives say of one method, as far as it decides whether the method is guarded and repeated.
type said struct {
	idempotent, unguarded, byHand bool

	errorNr  int    // which of several errors counts, from 1
	accessor string // the method of the result that returns the error
}

// methodsSaid lists the methods that the directives of a type speak of, and those of the types of this package that it is
// declared as.
func (r *serviceReader) methodsSaid(obj types.Object) map[string]said {
	all := map[string]said{}
	for range len(r.specs) {
		if t := r.own[obj]; t != nil {
			for name, s := range methodsSaid(t) {
				all[name] = all[name].with(s)
			}
		}
		if obj = r.madeOf(obj); obj == nil || obj.Pkg() != r.pass.Pkg {
			break
		}
	}
	return all
}

// methodsSaid lists the methods that directives speak of.
func methodsSaid(t *directive.Type) map[string]said {
	all := map[string]said{}
	for _, d := range t.Directives {
		for _, method := range d.Methods {
			all[method] = all[method].and(d)
		}
	}
	for _, line := range t.Lines {
		for _, name := range line.Field.Names {
			for _, d := range line.Directives {
				all[name.Name] = all[name.Name].and(d)
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, s said) bool { return s == said{} })
	return all
}

// with adds what is said elsewhere; what is said here wins.
func (s said) with(other said) said {
	s.idempotent = s.idempotent || other.idempotent
	s.unguarded = s.unguarded || other.unguarded
	s.byHand = s.byHand || other.byHand
	s.errorNr = cmp.Or(s.errorNr, other.errorNr)
	s.accessor = cmp.Or(s.accessor, other.accessor)
	return s
}

// and adds a directive.
func (s said) and(d directive.Directive) said {
	switch d.Verb {
	case directive.Idempotent:
		s.idempotent = true
	case directive.Skip, directive.Stream:
		s.unguarded = true
	case directive.Op:
		s.byHand = true
	case directive.Error:
		s.accessor = d.Name
	}
	s.errorNr = max(s.errorNr, d.ErrorResult)
	return s
}
