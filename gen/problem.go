package gen

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// A Problem is something refused, or noted: where, what, why, and what to do.
type Problem struct {
	Pos  token.Position
	What string
	Why  string
	Fix  string
}

// Error is one line that begins with file:line:col, where there is a place.
func (p Problem) Error() string {
	text := p.What
	for _, more := range []struct{ before, text string }{{": ", p.Why}, {"; ", p.Fix}} {
		if more.text != "" {
			text += more.before + more.text
		}
	}
	if p.Pos.Filename != "" {
		text = fmt.Sprintf("%s: %s", p.Pos, text)
	}
	return text
}

// problems collects them; the places are shown relative to dir.
type problems struct {
	dir  string
	list []Problem
}

func (ps *problems) add(pos token.Position, what, why, fix string) {
	if relative, err := filepath.Rel(ps.dir, pos.Filename); err == nil && pos.Filename != "" && !strings.HasPrefix(relative, "..") {
		pos.Filename = filepath.ToSlash(relative)
	}
	p := Problem{Pos: pos, What: what, Why: why, Fix: fix}
	if !slices.Contains(ps.list, p) {
		ps.list = append(ps.list, p)
	}
}

func (ps *problems) addDirective(fset *token.FileSet, p directive.Problem) {
	ps.add(fset.Position(p.Pos), p.What, p.Why, p.Fix)
}

// sorted orders problems by place, so that the output does not depend on the order of
// the work.
func (ps *problems) sorted() []Problem {
	slices.SortStableFunc(ps.list, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	return ps.list
}
