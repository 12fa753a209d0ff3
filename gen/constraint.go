package gen

import (
	"go/ast"
	"go/build/constraint"
	"go/version"
	"path/filepath"
	"slices"
	"strings"
)

// buildOf is the build constraint of a source file: of its //go:build line, and of its
// name, since the name of the output says nothing.
func buildOf(path string, file *ast.File) string {
	var expr constraint.Expr
	for _, group := range file.Comments {
		if group.Pos() > file.Package {
			break
		}
		for _, c := range group.List {
			if line := strings.TrimSpace(c.Text); constraint.IsGoBuild(line) {
				if parsed, err := constraint.Parse(line); err == nil {
					expr = and(expr, parsed)
				}
			}
		}
	}
	for _, tag := range tagsOf(path) {
		expr = and(expr, &constraint.TagExpr{Tag: tag})
	}
	if expr == nil {
		return ""
	}
	return expr.String()
}

// genericAliases is the first version of the language that has them.
const genericAliases = "go1.24"

// oldLanguage refuses wrappers that need more of the language than their file may use: a
// build constraint such as go1.21 limits it to that version.
func (r *run) oldLanguage(o *output) {
	expr, err := constraint.Parse("//go:build " + o.build)
	if err != nil {
		return
	}
	limit := constraint.GoVersion(expr)
	if limit == "" || version.Compare(limit, genericAliases) >= 0 {
		return
	}
	for _, t := range o.targets {
		if t.sealed && t.params.Len() > 0 {
			r.problems.add(t.pos, "cannot wrap "+t.object.Name(), "the build constraint of its file limits the wrapper to "+limit+", and a generic interface with methods of another package needs "+genericAliases,
				"take "+limit+" out of the constraint, or write the wrapper into the package of the interface")
		}
	}
}

func and(a, b constraint.Expr) constraint.Expr {
	switch {
	case a == nil || a.String() == b.String():
		return b
	default:
		return &constraint.AndExpr{X: a, Y: b}
	}
}

// tagsOf are the GOOS and GOARCH in a file's name, as the go command reads them:
// name_GOOS_GOARCH, with or without _test.
func tagsOf(path string) []string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
	parts := strings.Split(name, "_")
	if len(parts) < 2 {
		return nil
	}
	last := parts[len(parts)-1]
	switch {
	case len(parts) >= 3 && slices.Contains(systems(), parts[len(parts)-2]) && slices.Contains(architectures(), last):
		return []string{parts[len(parts)-2], last}
	case slices.Contains(systems(), last), slices.Contains(architectures(), last):
		return []string{last}
	}
	return nil
}

func systems() []string {
	return strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos")
}

func architectures() []string {
	return strings.Fields("386 amd64 amd64p32 arm arm64 arm64be armbe loong64 mips mips64 mips64le mips64p32 mips64p32le mipsle ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
}
