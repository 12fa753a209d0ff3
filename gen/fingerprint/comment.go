package fingerprint

import (
	"go/ast"
	"go/token"
	"strings"
)

// prefix begins the line of a generated file that carries a fingerprint. It is a note of the generator's, under a name of
// its own: a //resilient: comment would be a directive, which is for people to write.
const prefix = "//resilientgen:fingerprint "

// A Mark is what a generated file says about one interface that it wraps.
type Mark struct {
	Interface string // its name, with its package's path and a dot before it where that is another package
	Hex       string
	Pos       token.Pos
}

// Line returns the line for a generated file that carries an interface's fingerprint. The name is the interface's own in
// the package that the file belongs to; elsewhere it is the package's path, a dot and the name.
func Line(name, hex string) string { return prefix + name + " " + hex }

// Marks returns the fingerprints that a generated file carries, in the order of the file.
func Marks(file *ast.File) []Mark {
	var marks []Mark
	for _, group := range file.Comments {
		for _, comment := range group.List {
			rest, ok := strings.CutPrefix(comment.Text, prefix)
			if !ok {
				continue
			}
			if fields := strings.Fields(rest); len(fields) >= 2 {
				marks = append(marks, Mark{Interface: fields[0], Hex: fields[1], Pos: comment.Pos()})
			}
		}
	}
	return marks
}
