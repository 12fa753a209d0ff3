// Package schemacost says of a JSON schema, before anything is checked against it, whether
// that would end, and soon. Schemas come from foreign servers: one that refers to itself
// without end overflows the stack of who checks, which no recover stops, and one whose
// parts refer to each other twice each takes for ever.
package schemacost

import (
	"strconv"
	"strings"
)

const (
	// most is how many parts of a schema may be looked at, with each part of a value.
	most = 1_000_000
	// deepest is how deep they may be in each other. Those who check need some kilobytes
	// of stack for each.
	deepest = 256
)

// Affordable reports whether a value can be checked against a schema, both as
// encoding/json has decoded them into an any. It is careful: of schemas that are
// recursive, have parts with names of their own, or refer to others, it says no.
func Affordable(schema, value any) bool {
	w := walk{root: schema, left: most / nodes(value)}
	return w.over(schema, 0)
}

// nodes is how many values are in one, and it itself.
func nodes(value any) (n int) {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			n += nodes(inner)
		}
	case map[string]any:
		for _, inner := range v {
			n += nodes(inner)
		}
	}
	return n + 1
}

// walk goes through a schema as who checks would in the worst case: through everything,
// and through what is referred to each time that it is.
type walk struct {
	root any
	left int
}

func (w *walk) over(part any, depth int) bool {
	if w.left--; w.left < 0 || depth > deepest {
		return false
	}
	switch p := part.(type) {
	case []any:
		for _, inner := range p {
			if !w.over(inner, depth+1) {
				return false
			}
		}
	case map[string]any:
		for key, inner := range p {
			if !w.over(inner, depth+1) || !w.keyword(key, inner, depth) {
				return false
			}
		}
	}
	return true
}

// keyword follows what refers to another part.
func (w *walk) keyword(key string, value any, depth int) bool {
	text, is := value.(string)
	if !is {
		return true
	}
	switch key {
	case "$ref":
		target, found := w.find(text)
		return found && w.over(target, depth+1)
	case "$dynamicRef", "$recursiveRef":
		return false
	case "$id":
		return depth == 0 // others would give references another root
	default:
		return true
	}
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// find returns the part that a reference is to, of the forms "#" and "#/a/b".
func (w *walk) find(reference string) (part any, found bool) {
	pointer, own := strings.CutPrefix(reference, "#")
	if !own || strings.Contains(pointer, "%") || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	part = w.root
	for _, step := range strings.Split(pointer, "/")[1:] {
		if part, found = inside(part, unescape.Replace(step)); !found {
			return nil, false
		}
	}
	return part, true
}

func inside(part any, step string) (inner any, found bool) {
	switch p := part.(type) {
	case map[string]any:
		inner, found = p[step]
		return inner, found
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(p) {
			return p[i], true
		}
	}
	return nil, false
}
