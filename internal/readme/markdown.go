// Package readme keeps the documentation true: the Go code in it is a copy of code that is compiled, its links lead
// somewhere, and the make targets that it names exist.
//
// A block of Go code is preceded by a comment that says where it comes from:
//
//	<!-- code: examples/services/main.go#guard -->
//
// The name after # is a region of that file, between the lines "// region guard" and "// endregion", or else a function,
// method (Type.Method), type, constant or variable. Both sides may be indented differently.
package readme

import (
	"regexp"
	"strings"
)

// A Block is a fenced block of a Markdown document.
type Block struct {
	Line   int    // where its fence opens, from 1
	Lang   string // the first word behind the fence, in lower case
	Source string // file#region of the comment before it, if there is one
	Code   string
}

// A Document is what the checks need of a Markdown file.
type Document struct {
	Blocks []Block
	// Prose holds the lines outside fenced blocks; inside them it is empty, so that line numbers stay right.
	Prose []string
}

var (
	fence  = regexp.MustCompile("^( *)(`{3,}|~{3,})\\s*([^`]*)$")
	source = regexp.MustCompile(`^\s*<!--\s*code:\s*(\S+)\s*-->\s*$`)
)

// Parse takes a Markdown document apart. A fence that is never closed reaches to the end, as it does for readers.
func Parse(text string) Document {
	var doc Document
	var open *Block
	var indent, marks, from string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		match := fence.FindStringSubmatch(line)
		switch {
		case open != nil && match != nil && closes(match, marks):
			doc.Blocks = append(doc.Blocks, *open)
			open = nil
			line = ""
		case open != nil:
			open.Code += strings.TrimPrefix(line, indent) + "\n"
			line = ""
		case match != nil:
			indent, marks = match[1], match[2]
			lang, _, _ := strings.Cut(strings.ToLower(match[3]), " ")
			open = &Block{Line: i + 1, Lang: lang, Source: from}
			from, line = "", ""
		case source.MatchString(line):
			from = source.FindStringSubmatch(line)[1]
		case strings.TrimSpace(line) != "":
			from = "" // something stands between the comment and the next block
		}
		doc.Prose = append(doc.Prose, line)
	}
	if open != nil {
		doc.Blocks = append(doc.Blocks, *open)
	}
	return doc
}

// closes: a closing fence is of the opening one's character, at least as long, and nothing stands behind it.
func closes(match []string, opening string) bool {
	return match[3] == "" && strings.HasPrefix(match[2], opening)
}

// Dedent takes away the indentation that all lines share, white space at the ends of lines, and empty lines at both ends.
func Dedent(code string) string {
	lines := strings.Split(code, "\n")
	shared, first := "", true
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
		if lines[i] == "" {
			continue
		}
		own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if first {
			shared, first = own, false
		}
		for !strings.HasPrefix(own, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, shared)
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
