package readme

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// CheckCode says what is wrong with a block of Go code; nothing if it is a copy of code below root that is compiled.
func CheckCode(root string, block Block) error {
	if block.Source == "" {
		return errors.New("code of no known origin: put <!-- code: path/to/file.go#region --> on the line before it")
	}
	name, region, ok := strings.Cut(block.Source, "#")
	if !ok || region == "" {
		return fmt.Errorf("%s names no region: write %s#region", block.Source, name)
	}
	if err := compiled(root, name); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return err
	}
	candidates, err := find(string(text), region)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	got := Dedent(block.Code)
	if slices.ContainsFunc(candidates, func(code string) bool { return Dedent(code) == got }) {
		return nil
	}
	return fmt.Errorf("differs from %s: %s", block.Source, firstDifference(got, Dedent(candidates[0])))
}

// compiled refuses files that the go command passes over: nobody would notice that they no longer build.
func compiled(root, name string) error {
	if !filepath.IsLocal(name) || filepath.Ext(name) != ".go" {
		return fmt.Errorf("%s is not the path of a Go file below the root", name)
	}
	for element := range strings.SplitSeq(name, "/") {
		if element == "testdata" || strings.HasPrefix(element, "_") || strings.HasPrefix(element, ".") {
			return fmt.Errorf("%s is not compiled: the go command passes over %s", name, element)
		}
	}
	dir, base := filepath.Split(filepath.Join(root, name))
	ok, err := build.Default.MatchFile(dir, base)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is not compiled: a build constraint leaves it out", name)
	}
	return nil
}

// find returns the code of a region, or else of a declaration, with and without its comment.
func find(text, name string) ([]string, error) {
	code, found, err := findRegion(text, name)
	if err != nil {
		return nil, err
	}
	if found {
		return []string{code}, nil
	}
	if declared, err := findDeclaration(text, name); err != nil || declared != nil {
		return declared, err
	}
	return nil, fmt.Errorf("has neither a region nor a declaration named %s", name)
}

var (
	regionLine    = regexp.MustCompile(`^\s*// region (\S+)\s*$`)
	endregionLine = regexp.MustCompile(`^\s*// endregion\b`)
)

// findRegion cuts out a region. Regions may lie in one another; their marks are no part of the code.
func findRegion(text, name string) (code string, found bool, err error) {
	var lines, open []string
	for line := range strings.Lines(text) {
		inside := slices.Contains(open, name)
		switch match := regionLine.FindStringSubmatch(line); {
		case match != nil:
			if match[1] == name && found {
				return "", false, fmt.Errorf("region %s is there twice", name)
			}
			found = found || match[1] == name
			open = append(open, match[1])
		case endregionLine.MatchString(line):
			if len(open) == 0 {
				return "", false, errors.New("an endregion without a region")
			}
			open = open[:len(open)-1]
		case inside:
			lines = append(lines, line)
		}
	}
	if len(open) > 0 {
		return "", false, fmt.Errorf("region %s is not closed", open[len(open)-1])
	}
	return strings.Join(lines, ""), found, nil
}

// findDeclaration cuts out a declaration at the top level; nil if there is none of that name.
func findDeclaration(text, name string) ([]string, error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, "", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	cut := func(from, to token.Pos) string {
		start := positions.Position(from)
		return text[start.Offset:positions.Position(to).Offset]
	}
	for _, decl := range file.Decls {
		if !slices.Contains(declared(decl), name) {
			continue
		}
		found := []string{cut(decl.Pos(), decl.End())}
		if doc := comment(decl); doc != nil {
			found = append(found, cut(doc.Pos(), decl.End()))
		}
		return found, nil
	}
	return nil, nil
}

// declared returns the names that a declaration declares.
func declared(decl ast.Decl) []string {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return []string{receiver(decl) + decl.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
		return names
	}
	return nil
}

// receiver returns "T." for a method of T or *T, with or without type parameters.
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) != 1 {
		return ""
	}
	expr := function.Recv.List[0].Type
	for {
		switch inner := expr.(type) {
		case *ast.StarExpr:
			expr = inner.X
		case *ast.IndexExpr:
			expr = inner.X
		case *ast.IndexListExpr:
			expr = inner.X
		case *ast.Ident:
			return inner.Name + "."
		default:
			return ""
		}
	}
}

func comment(decl ast.Decl) *ast.CommentGroup {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return decl.Doc
	case *ast.GenDecl:
		return decl.Doc
	}
	return nil
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if g, w := lineOf(gotLines, i), lineOf(wantLines, i); g != w {
			return fmt.Sprintf("line %d of the block is\n\t%s\nand in the file\n\t%s", i+1, g, w)
		}
	}
	return "only in its white space"
}

func lineOf(lines []string, i int) string {
	if i >= len(lines) {
		return "(nothing)"
	}
	return lines[i]
}
