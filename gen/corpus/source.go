package main

import (
	"fmt"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is a line of a source file.
type place struct {
	file string // relative to the work folder, with slashes
	line int
}

// writeSources writes one file for each package, and one folder for each module, with those entries in it; what is
// there from before goes. It returns which entry a line belongs to.
func (w *work) writeSources(entries []*entry, asked bool) (map[place]*entry, error) {
	old, err := filepath.Glob(filepath.Join(w.dir, "m*", "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	byFile := map[string][]*entry{}
	for _, e := range entries {
		path := fmt.Sprintf("m%d/%s.go", e.folder, e.file)
		byFile[path] = append(byFile[path], e)
	}
	lines := map[place]*entry{}
	for _, path := range slices.Sorted(maps.Keys(byFile)) {
		text := source(path, byFile[path], asked, lines)
		full := filepath.Join(w.dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			return nil, err
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// source is the text of one file.
func source(path string, entries []*entry, asked bool, lines map[place]*entry) string {
	imports := map[string]string{}
	qualify := func(p *types.Package) string {
		if imports[p.Path()] == "" {
			imports[p.Path()] = fmt.Sprintf("in%d", len(imports))
		}
		return imports[p.Path()]
	}
	var bodies [][]string
	for _, e := range entries {
		bodies = append(bodies, declaration(e, asked, qualify))
	}
	text := []string{"package " + filepath.Dir(path), "", "import ("}
	for _, p := range slices.Sorted(maps.Keys(imports)) {
		text = append(text, fmt.Sprintf("\t%s %q", imports[p], p))
	}
	text = append(text, ")", "")
	for i, body := range bodies {
		for _, line := range body {
			text = append(text, line)
			lines[place{path, len(text)}] = entries[i]
		}
		text = append(text, "")
	}
	return strings.Join(text, "\n")
}

// declaration are the lines of one interface that embeds another, with its directives.
func declaration(e *entry, asked bool, qualify types.Qualifier) []string {
	lines := []string{"//resilient:service " + strings.ToLower(e.name)} // its own, for its ops to be told apart
	if asked {
		if e.asks.accessor {
			lines = append(lines, "//resilient:error Err")
		}
		for _, d := range []struct {
			verb    string
			methods []string
		}{{"idempotent", e.asks.idempotent}, {"timeout 2s attempt=1s", e.asks.timeout}, {"skip", e.asks.skip}} {
			if len(d.methods) > 0 {
				lines = append(lines, "//resilient:"+d.verb+" "+strings.Join(d.methods, ","))
			}
		}
	}
	var params, args []string
	for p := range e.params.TypeParams() {
		params = append(params, p.Obj().Name()+" "+types.TypeString(p.Constraint(), qualify))
		args = append(args, p.Obj().Name())
	}
	declared, used := e.name, qualify(e.pkg)+"."+e.object.Name()
	if len(params) > 0 {
		declared += "[" + strings.Join(params, ", ") + "]"
		used += "[" + strings.Join(args, ", ") + "]"
	}
	return append(lines, "type "+declared+" interface{ "+used+" }")
}
