package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// work is a module of its own, with the same requirements, that the sources and the wrappers are written into.
type work struct {
	dir  string
	keep bool
}

const workModule = "example.com/corpus"

func newWork(keep string) (*work, error) {
	w := &work{dir: keep, keep: keep != ""}
	var err error
	if w.keep {
		w.dir, err = filepath.Abs(keep)
		if err == nil {
			err = os.MkdirAll(w.dir, 0o777)
		}
	} else {
		w.dir, err = os.MkdirTemp("", "corpus")
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(w.dir, name), text, 0o666); err != nil {
			return nil, err
		}
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return nil, err
	}
	_, err = command(w.dir, "mod", "edit", "-module", workModule, "-replace", runtimeModule+"="+root)
	return w, err
}

// remove takes the folder away again; what is in it is not needed, so that a failure is none.
func (w *work) remove() {
	if !w.keep {
		if err := os.RemoveAll(w.dir); err != nil {
			fmt.Fprintln(os.Stderr, "corpus:", err)
		}
	}
}
