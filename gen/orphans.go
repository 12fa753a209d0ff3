package gen

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/fingerprint"
)

// orphans are outputs beside sources that have nothing to wrap any more. Only what
// certainly is one counts: a file of ours, whose source is gone or asks for nothing,
// and whose interfaces all were of this package and are not wrapped elsewhere in it.
func (r *run) orphans() []File {
	if r.config.Out != "" {
		return nil
	}
	made := map[string]bool{}
	for _, f := range r.files {
		made[f.Path] = true
	}
	var found []File
	for _, pkg := range r.loaded.packages {
		for _, path := range pkg.GoFiles {
			if !ownName(path) || made[path] {
				continue
			}
			text, err := os.ReadFile(path)
			if err == nil && written(text) && r.orphaned(pkg, path, text) {
				found = append(found, File{Path: path, Old: text})
			}
		}
	}
	return found
}

func (r *run) orphaned(pkg *packages.Package, path string, text []byte) bool {
	if asks(sourceOf(path)) {
		return false // behind a build constraint, perhaps
	}
	file, _ := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return false
	}
	marks := fingerprint.Marks(file)
	for _, mark := range marks {
		if strings.Contains(mark.Interface, ".") || r.wraps(pkg, mark.Interface) {
			return false
		}
	}
	return len(marks) > 0
}

func (r *run) wraps(pkg *packages.Package, name string) bool {
	for _, t := range r.targets {
		if t.pkg.PkgPath == pkg.PkgPath && t.object.Name() == name {
			return true
		}
	}
	return false
}

// sourceOf is the file that an output of that name is written for.
func sourceOf(path string) string {
	return filepath.Join(filepath.Dir(path), strings.Replace(filepath.Base(path), "_resilient", "", 1))
}

// asks reports whether there is such a source, and it has something to wrap.
func asks(source string) bool {
	text, err := os.ReadFile(source)
	return err == nil && bytes.Contains(text, []byte("resilient:service"))
}
