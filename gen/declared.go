package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// declaredIdempotent reports whether the generated code of a protocol says that a
// method may be repeated: an option of Connect's clients, or the idempotency_level in
// the descriptor that every protobuf file carries.
func (g *merger) declaredIdempotent(m *types.Func) bool {
	pos := g.position(m.Pos())
	if !strings.HasSuffix(pos.Filename, ".connect.go") && !strings.HasSuffix(pos.Filename, ".pb.go") {
		return false
	}
	owner := g.places.owner(m)
	for _, side := range []string{"Client", "Handler", "Server"} {
		if service, ok := strings.CutSuffix(owner, side); ok {
			return g.protocol(g.places.onDisk(pos.Filename, m.Pkg()))[service+"."+m.Name()]
		}
	}
	return false
}

// protocol returns the methods that generated code calls idempotent, as
// "Service.Method".
func (f *finder) protocol(path string) map[string]bool {
	if found, ok := f.protocols[path]; ok {
		return found
	}
	found := map[string]bool{}
	if f.protocols == nil {
		f.protocols = map[string]map[string]bool{}
	}
	f.protocols[path] = found
	files := []string{path}
	if strings.HasSuffix(path, ".pb.go") { // gRPC's has no descriptor: that is in the file of the messages
		files, _ = filepath.Glob(filepath.Join(filepath.Dir(path), "*.pb.go"))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if file == nil {
			continue
		}
		if strings.HasSuffix(name, ".connect.go") {
			connectOptions(file, found)
			continue
		}
		for _, raw := range rawDescriptors(file) {
			fileDescriptor(raw, found)
		}
	}
	return found
}

// connectOptions finds the calls that make a client or handler of one method, with the
// procedure's name and the option among their arguments.
func connectOptions(file *ast.File, found map[string]bool) {
	services := connectProcedures(file)
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		procedure, idempotent := "", false
		for _, arg := range call.Args {
			if option, ok := arg.(*ast.CallExpr); ok && selected(option.Fun) == "WithIdempotency" && len(option.Args) == 1 {
				level := selected(option.Args[0])
				idempotent = level == "IdempotencyNoSideEffects" || level == "IdempotencyIdempotent"
			}
			ast.Inspect(arg, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.HasSuffix(id.Name, "Procedure") {
					procedure = id.Name
				}
				return true
			})
		}
		if name := services[procedure]; idempotent && name != "" {
			found[name] = true
		}
		return true
	})
}

// connectProcedures maps the constants of procedures to services and methods: their
// values are "/package.Service/Method".
func connectProcedures(file *ast.File) map[string]string {
	procedures := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		value, err := strconv.Unquote(literal.Value)
		service, method, cut := strings.Cut(strings.TrimPrefix(value, "/"), "/")
		if err == nil && cut {
			service = service[strings.LastIndex(service, ".")+1:]
			procedures[spec.Names[0].Name] = goName(service) + "." + goName(method)
		}
		return true
	})
	return procedures
}

// selected is the name behind the dot.
func selected(expr ast.Expr) string {
	if s, ok := expr.(*ast.SelectorExpr); ok {
		return s.Sel.Name
	}
	return ""
}

// rawDescriptors are the descriptors in a .pb.go file: a string in newer ones, a slice
// of bytes in older ones.
func rawDescriptors(file *ast.File) [][]byte {
	var found [][]byte
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || len(spec.Values) != 1 || !strings.HasSuffix(spec.Names[0].Name, "_rawDesc") {
			return true
		}
		if raw := bytesOf(spec.Values[0]); len(raw) > 0 {
			found = append(found, raw)
		}
		return true
	})
	return found
}

func bytesOf(expr ast.Expr) []byte {
	switch expr := expr.(type) {
	case *ast.BinaryExpr:
		return append(bytesOf(expr.X), bytesOf(expr.Y)...)
	case *ast.BasicLit:
		text, _ := strconv.Unquote(expr.Value)
		return []byte(text)
	case *ast.CompositeLit:
		var raw []byte
		for _, element := range expr.Elts {
			literal, ok := element.(*ast.BasicLit)
			if !ok {
				return nil
			}
			n, err := strconv.ParseUint(literal.Value, 0, 8)
			if err != nil {
				return nil
			}
			raw = append(raw, byte(n))
		}
		return raw
	}
	return nil
}

// goName is the name that protobuf's compiler gives to a service or method in Go.
func goName(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts {
		if part != "" {
			parts[i] = capital(part)
		}
	}
	return strings.Join(parts, "")
}
