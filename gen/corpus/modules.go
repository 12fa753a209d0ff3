package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	runtimeModule = "github.com/seed42274fcc/stoic"
	standard      = "std"
	listFile      = "packages.go"
	leftOut       = "// Left out: "
)

// command runs the go command in a folder and returns what it prints.
func command(dir string, args ...string) (string, error) {
	c := exec.Command("go", args...)
	c.Dir = dir
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String(), nil
}

// modules are those that go.mod requires by itself, and the standard library.
func modules() ([]string, error) {
	out, err := command(".", "mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal([]byte(out), &mod); err != nil {
		return nil, err
	}
	paths := []string{standard}
	for _, m := range mod.Require {
		if !m.Indirect && m.Path != runtimeModule {
			paths = append(paths, m.Path)
		}
	}
	return paths, nil
}

// importable lists the packages of modules that anybody may import. To look for them, the go command wants to know of
// modules below those, which go.mod need not require; a copy of it is there for that.
func importable(modules []string) ([]string, error) {
	copied, err := newWork("")
	if err != nil {
		return nil, err
	}
	defer copied.remove()
	args := []string{"list", "-mod=mod", "-find", "-e", "-f", "{{.ImportPath}} {{.Name}} {{len .GoFiles}} {{with .Module}}{{.Path}}{{end}}"}
	for _, m := range modules {
		if m != standard {
			m += "/..."
		}
		args = append(args, m)
	}
	out, err := command(copied.dir, args...)
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.Lines(out) {
		fields := append(strings.Fields(line), standard)
		if len(fields) < 4 || fields[1] == "main" || fields[2] == "0" || !slices.Contains(modules, fields[3]) {
			continue // a command, tests only, or of a module below that one
		}
		if elements := strings.Split(fields[0], "/"); slices.Contains(elements, "internal") || slices.Contains(elements, "vendor") || slices.Contains(elements, "testdata") {
			continue
		}
		paths = append(paths, fields[0])
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// listed reads packages.go: what is wrapped, and what is left out for a reason.
func listed() (paths []string, out map[string]string, err error) {
	text, err := os.ReadFile(listFile)
	if err != nil {
		return nil, nil, err
	}
	out = map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if path, ok := strings.CutPrefix(line, `_ "`); ok {
			paths = append(paths, strings.TrimSuffix(path, `"`))
		}
		if rest, ok := strings.CutPrefix(line, leftOut); ok {
			path, why, _ := strings.Cut(rest, ": ")
			out[path] = why
		}
	}
	return paths, out, lines.Err()
}

// complete checks that packages.go has every package there is.
func complete() (paths []string, out map[string]string, err error) {
	of, err := modules()
	if err != nil {
		return nil, nil, err
	}
	there, err := importable(of)
	if err != nil {
		return nil, nil, err
	}
	paths, out, err = listed()
	if err != nil {
		return nil, nil, err
	}
	var missing []string
	for _, path := range there {
		if !slices.Contains(paths, path) && out[path] == "" {
			missing = append(missing, path)
		}
	}
	if len(missing) > 0 {
		return nil, nil, fmt.Errorf("%s does not list %d packages; run it with -update: %s", listFile, len(missing), strings.Join(missing, " "))
	}
	return paths, out, nil
}

// writePackages lists what can be loaded, and why the rest cannot. It may add requirements to go.mod.
func writePackages() error {
	of, err := modules()
	if err != nil {
		return err
	}
	there, err := importable(of)
	if err != nil {
		return err
	}
	out, err := command(".", append([]string{"list", "-mod=mod", "-e", "-json=ImportPath,Error,DepsErrors"}, there...)...)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("//go:build corpus\n\npackage main\n\n// Every package whose interfaces are wrapped; go run . -update writes this list.\n//\n")
	var imports []string
	for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); {
		var p struct {
			ImportPath string
			Error      *struct{ Err string }
			DepsErrors []struct{ Err string }
		}
		if err := decoder.Decode(&p); err != nil {
			return err
		}
		why := ""
		switch {
		case p.Error != nil:
			why = p.Error.Err
		case len(p.DepsErrors) > 0:
			why = p.DepsErrors[0].Err
		default:
			imports = append(imports, p.ImportPath)
			continue
		}
		first, _, _ := strings.Cut(strings.TrimSpace(why), "\n")
		fmt.Fprintf(&text, "%s%s: %s\n", leftOut, p.ImportPath, cmp.Or(first, "it cannot be loaded"))
	}
	slices.Sort(imports)
	text.WriteString("import (\n")
	for _, path := range imports {
		fmt.Fprintf(&text, "\t_ %q\n", path)
	}
	text.WriteString(")\n")
	fmt.Printf("%d modules, %d packages\n", len(of), len(imports))
	return os.WriteFile(listFile, text.Bytes(), 0o666)
}
