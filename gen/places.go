package gen

import (
	"go/ast"
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
// Types of dependencies come without comments, but with the position of the line; the
// file is read for the rest.
type places struct {
	config *Config
	loaded *loaded
	files  map[string]*placeFile
	roots  map[string]string // the folder of the go.mod above a folder
}

type placeFile struct {
	fset    *token.FileSet
	read    *directive.File
	methods map[placeKey]*ast.Field
	owners  map[*ast.Field]string // the declared type that a method is written in
	syntax  *ast.File
}

type placeKey struct {
	line int
	name string
}

func newPlaces(config *Config, l *loaded) *places {
	p := &places{config: config, loaded: l, files: map[string]*placeFile{}, roots: map[string]string{}}
	for _, pkg := range l.packages {
		for _, file := range pkg.Syntax {
			p.add(pathOf(l.fset, pkg, file), newPlaceFile(l.fset, file))
		}
	}
	return p
}

// add keeps a file by its path, and by those that its //line directives give to parts of
// it: that is where positions lead.
func (p *places) add(source string, file *placeFile) {
	p.files[source] = file
	for _, decl := range file.syntax.Decls {
		name := file.fset.Position(decl.End()).Filename
		if p.files[name] == nil {
			p.files[name] = file
		}
	}
}

func newPlaceFile(fset *token.FileSet, file *ast.File) *placeFile {
	f := &placeFile{fset: fset, read: directive.Read(file), methods: map[placeKey]*ast.Field{}, owners: map[*ast.Field]string{}, syntax: file}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if iface, ok := n.Type.(*ast.InterfaceType); ok {
				for _, field := range iface.Methods.List {
					f.owners[field] = n.Name.Name
				}
			}
		case *ast.InterfaceType:
			for _, field := range n.Methods.List {
				for _, name := range field.Names {
					f.methods[placeKey{fset.Position(name.Pos()).Line, name.Name}] = field
				}
			}
		}
		return true
	})
	return f
}

// file reads the file that an object is declared in; nil if it is not to be found.
func (p *places) file(name string, pkg *types.Package) *placeFile {
	if f, ok := p.files[name]; ok {
		return f
	}
	p.files[name] = nil
	if name == "" {
		return nil
	}
	fset := token.NewFileSet()
	source, err := os.ReadFile(p.onDisk(name, pkg))
	if err != nil {
		return nil
	}
	file, _ := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	p.files[name] = newPlaceFile(fset, file)
	return p.files[name]
}

// onDisk turns the name of a file as the compiler wrote it into one that can be opened.
// With -trimpath it begins with an import path, and for the standard library with
// $GOROOT.
func (p *places) onDisk(name string, pkg *types.Package) string {
	if filepath.IsAbs(name) || pkg == nil {
		return name
	}
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedFiles | packages.NeedCompiledGoFiles, Dir: p.config.Dir, Env: p.config.Env,
	}, pkg.Path())
	if err != nil {
		return name
	}
	for _, loaded := range found {
		for _, file := range loaded.GoFiles {
			if filepath.Base(file) == filepath.Base(name) {
				return file
			}
		}
	}
	return name
}

// method returns what is written at an interface's method.
func (p *places) method(pos token.Position, pkg *types.Package, name string) (doc string, said []directive.Directive, file *placeFile) {
	file = p.file(pos.Filename, pkg)
	if file == nil {
		return "", nil, nil
	}
	field := file.methods[placeKey{pos.Line, name}]
	if field == nil {
		return "", nil, file
	}
	for _, t := range file.read.Types {
		for _, line := range t.Lines {
			if line.Field == field {
				said = line.Directives
			}
		}
	}
	return field.Doc.Text(), said, file
}

// owner is the name of the interface that a method is written in.
func (p *places) owner(pos token.Position, pkg *types.Package, name string) string {
	file := p.file(pos.Filename, pkg)
	if file == nil {
		return ""
	}
	return file.owners[file.methods[placeKey{pos.Line, name}]]
}

// function returns the comment of a method that is declared with its body.
func (p *places) function(pos token.Position, pkg *types.Package, name string) string {
	file := p.file(pos.Filename, pkg)
	if file == nil {
		return ""
	}
	for _, decl := range file.syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == name && file.fset.Position(f.Name.Pos()).Line == pos.Line {
			return f.Doc.Text()
		}
	}
	return ""
}

// typ returns the directives on a declared type.
func (p *places) typ(object *types.TypeName) ([]directive.Directive, *placeFile) {
	file := p.file(p.loaded.fset.Position(object.Pos()).Filename, object.Pkg())
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
