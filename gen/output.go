package gen

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// output is one file to write, with the targets that go into it.
type output struct {
	path    string
	to      *destination
	targets []*target
	imports *imports
	build   string // the constraint
	old     []byte // what is there now

	wrappers []*wrapper
}

// plan converts all types once, to find out which packages are needed and what cannot
// be written, and names what the file declares.
func (o *output) plan(ps *problems) {
	o.imports = newImports()
	o.imports.need(runtimePath, "resilient")
	for _, t := range o.targets {
		w := &wrapper{target: t, output: o, convert: &converter{
			to: o.to, imports: o.imports, params: apart(nameParams(t.params, o.to.scope), o.to.scope), used: taken{}, aliases: aliasFinder{to: o.to}.in(t),
		}}
		o.wrappers = append(o.wrappers, w)
		if w.survey(ps) {
			w.nameTypes(ps, o.to.scope)
		}
	}
}

// apart renames type parameters that hide what the package declares: the interface
// itself may be among it.
func apart(names map[*types.TypeParam]string, scope taken) map[*types.TypeParam]string {
	used := predeclared()
	used.addAll(scope)
	for _, name := range names {
		used.add(name)
	}
	for _, p := range slices.SortedFunc(maps.Keys(names), func(a, b *types.TypeParam) int { return a.Index() - b.Index() }) {
		if scope[names[p]] {
			names[p] = used.renamed(names[p])
			used.add(names[p])
		}
	}
	return names
}

// render prints the file, with the name of every package decided beforehand. It comes
// after all outputs are planned, for they share the scope of their package.
func (o *output) render(ps *problems) ([]byte, bool) {
	reserved := predeclared()
	reserved.addAll(o.to.scope)
	for _, w := range o.wrappers {
		for _, name := range w.convert.params {
			reserved.add(name)
		}
	}
	var files []*ast.File
	for _, t := range o.targets {
		files = append(files, t.file)
	}
	o.imports.decide(files, reserved)

	f := jen.NewFilePathName(o.to.path, o.to.name)
	f.NoFormat = true // it is done once, with the header
	for p, name := range o.imports.alias {
		if name == o.imports.packages[p] {
			f.ImportName(p, name)
		} else {
			f.ImportAlias(p, name)
		}
	}
	f.Comment("// If this does not compile: update github.com/seed42274fcc/stoic, then run go generate.")
	f.Const().Id("_").Op("=").Qual(runtimePath, "GeneratedV1")
	for _, w := range o.wrappers {
		w.print(f)
	}
	var body bytes.Buffer
	if err := f.Render(&body); err != nil {
		ps.add(o.targets[0].pos, "cannot print the wrapper of "+o.targets[0].object.Name(), firstLine(err), "report this to the authors of resilientgen")
		return nil, false
	}
	header := directive.Generated + "\n\n"
	if o.build != "" {
		header += "//go:build " + o.build + "\n\n"
	}
	text, err := format.Source(append([]byte(header), body.Bytes()...))
	if err != nil {
		ps.add(o.targets[0].pos, "cannot print the wrapper of "+o.targets[0].object.Name(), firstLine(err), "report this to the authors of resilientgen")
		return nil, false
	}
	return text, true
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// comments prints the lines of a doc comment.
func comments(text string) []jen.Code {
	var list []jen.Code
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		list = append(list, jen.Comment(strings.TrimRight("// "+strings.TrimSuffix(line, "\r"), " \t")))
	}
	return list
}

// pos returns a position inside the first of the sources, for what concerns all.
func (o *output) pos() token.Position {
	return slices.MinFunc(o.targets, func(a, b *target) int { return strings.Compare(a.source, b.source) }).pos
}
