// Package testmodule makes modules that require this one, as those of its users do: what generates or checks code is
// tested in one of its own.
package testmodule

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const library = "github.com/seed42274fcc/stoic"

// Root is the folder of this repository's go.mod.
func Root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(here)))
}

// Write puts the go.mod and the go.sum of a module with that path into a folder. It requires this one, as it stands
// here, and what this one requires, in the same versions.
func Write(dir, path string) error {
	mod, err := os.ReadFile(filepath.Join(Root(), "go.mod"))
	if err != nil {
		return err
	}
	text := strings.Replace(string(mod), "module "+library, "module "+path, 1) +
		"\nrequire " + library + " v0.0.0\n\nreplace " + library + " => " + Root() + "\n"
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(text), 0o666); err != nil {
		return err
	}
	return WriteSum(dir)
}

// WriteSum puts this module's go.sum into a folder, for a go.mod that is written by hand.
func WriteSum(dir string) error {
	sum, err := os.ReadFile(filepath.Join(Root(), "go.sum"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666)
}

// Environment is that of a go command in such a module: without a workspace, and without the network. More is added to
// it.
func Environment(more ...string) []string {
	return append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off"), more...)
}
