package gen

import (
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/seed42274fcc/stoic/gen/directive"
)

// places finds what is written at a declaration: its comment and its directives.
// Types of dependencies come without comments, but with a position; the file is read for
// the rest.
type places struct {
	config  *Config
	loaded  *loaded
	files   map[string]*placeFile
	sources map[string][]string // the files of a package
	roots   map[string]string   // the folder of the go.mod above a folder
}

func newPlaces(config *Config, l *loaded) *places {
	p := &places{config: config, loaded: l, files: map[string]*placeFile{}, sources: map[string][]string{}, roots: map[string]string{}}
	for _, pkg := range l.packages {
		for _, file := range pkg.Syntax {
			path := pathOf(l.fset, pkg, file)
			p.add(newPlaceFile(path, l.fset, file))
			p.sources[pkg.PkgPath] = append(p.sources[pkg.PkgPath], path)
		}
	}
	return p
}

// add keeps a file by its path, and by those that its //line directives give to parts of
// it: that is where positions lead.
func (p *places) add(file *placeFile) {
	p.files[file.path] = file
	for _, decl := range file.syntax.Decls {
		name := file.fset.Position(decl.End()).Filename
		if p.files[name] == nil {
			p.files[name] = file
		}
	}
}

// file reads the file that an object is declared in; nil if it is not to be found, or is
// no Go: a //line directive may name the template that the file was made from.
func (p *places) file(name string, pkg *types.Package) *placeFile {
	if f, ok := p.files[name]; ok {
		return f
	}
	p.files[name] = nil
	if !strings.HasSuffix(name, ".go") {
		return nil
	}
	fset := token.NewFileSet()
	path := p.onDisk(name, pkg)
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	file, _ := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	p.files[name] = newPlaceFile(path, fset, file)
	return p.files[name]
}

// onDisk turns the name of a file as the compiler wrote it into one that can be opened.
// With -trimpath it begins with an import path, and for the standard library with
// $GOROOT.
func (p *places) onDisk(name string, pkg *types.Package) string {
	if filepath.IsAbs(name) || pkg == nil {
		return name
	}
	for _, file := range p.sourcesOf(pkg) {
		if filepath.Base(file) == filepath.Base(name) {
			return file
		}
	}
	return name
}

// sourcesOf are the files of a package, as somebody wrote them.
func (p *places) sourcesOf(pkg *types.Package) []string {
	if files, ok := p.sources[pkg.Path()]; ok {
		return files
	}
	var files []string
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedFiles | packages.NeedCompiledGoFiles, Dir: p.config.Dir, Env: p.config.Env,
	}, pkg.Path())
	if err == nil {
		for _, loaded := range found {
			files = append(files, loaded.GoFiles...)
		}
	}
	p.sources[pkg.Path()] = files
	return files
}

// declared finds a type, or one of its methods, by its name: the compiler's export data
// have the lines of the text that it was given, which cgo may have moved, and the files
// that //line directives name. The line it is for an interface without a name.
func (p *places) declared(pos token.Position, pkg *types.Package, owner, name string) (*place, *placeFile) {
	key := placeKey{owner: owner, name: name}
	file := p.file(pos.Filename, pkg)
	if file != nil && file.at[key] != nil && owner != "" {
		return file.at[key], file
	}
	if file != nil && name != "" {
		if found := file.at[placeKey{line: pos.Line, name: name}]; found != nil {
			return found, file
		}
	}
	if pkg == nil || owner == "" {
		return nil, file
	}
	for _, path := range p.sourcesOf(pkg) {
		if other := p.file(path, pkg); other != nil && other.at[key] != nil {
			return other.at[key], other
		}
	}
	return nil, file
}

// of finds a method, of an interface or another type.
func (p *places) of(m *types.Func) (*place, *placeFile) {
	owner := ""
	if recv := m.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if pointer, ok := t.(*types.Pointer); ok {
			t = types.Unalias(pointer.Elem())
		}
		if n, ok := t.(*types.Named); ok {
			owner = n.Obj().Name()
		}
	}
	return p.declared(p.loaded.fset.Position(m.Pos()), m.Pkg(), owner, m.Name())
}

// method returns what is written at an interface's method.
func (p *places) method(m *types.Func) (doc string, said []directive.Directive, file *placeFile) {
	found, file := p.of(m)
	if found == nil || found.field == nil {
		return "", nil, file
	}
	for _, t := range file.read.Types {
		for _, line := range t.Lines {
			if line.Field == found.field {
				said = line.Directives
			}
		}
	}
	return found.doc.Text(), said, file
}

// owner is the name of the interface that a method is written in.
func (p *places) owner(m *types.Func) string {
	if found, _ := p.of(m); found != nil {
		return found.owner
	}
	return ""
}

// function returns the comment of a method that is declared with its body.
func (p *places) function(m *types.Func) string {
	if found, _ := p.of(m); found != nil {
		return found.doc.Text()
	}
	return ""
}

// typ returns the directives on a declared type.
func (p *places) typ(object *types.TypeName) ([]directive.Directive, *placeFile) {
	_, file := p.declared(p.loaded.fset.Position(object.Pos()), object.Pkg(), object.Name(), "")
	if file == nil {
		return nil, nil
	}
	for _, t := range file.read.Types {
		if t.Spec.Name.Name == object.Name() {
			return t.Directives, file
		}
	}
	return nil, file
}

// sameModule reports whether a file belongs to the module of a package: whether the
// same people speak in both.
func (p *places) sameModule(pkg *packages.Package, name string) bool {
	if len(pkg.GoFiles) == 0 || !filepath.IsAbs(name) {
		return false
	}
	return p.root(filepath.Dir(pkg.GoFiles[0])) == p.root(filepath.Dir(name))
}

// root is the nearest folder above with a go.mod; the folder itself if there is none.
func (p *places) root(dir string) string {
	if root, ok := p.roots[dir]; ok {
		return root
	}
	root := moduleRoot(dir)
	if root == "" {
		root = dir
	}
	p.roots[dir] = root
	return root
}

func moduleRoot(dir string) string {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// modulePath reads the first line of a go.mod that says what it is.
func modulePath(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module"); ok && rest != "" {
			return strings.Trim(strings.TrimSpace(rest), `"`+"`")
		}
	}
	return ""
}
