package gen

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// A File is one that is to be written, or removed.
type File struct {
	Path string
	// Content is what it should hold; nil is for a file that should not be there.
	Content []byte
	// Old is what it holds; nil if there is none.
	Old []byte
}

// Changed reports whether there is something to do. How lines end is not a
// difference, for a checkout may change it.
func (f File) Changed() bool {
	if f.Content == nil || f.Old == nil {
		return f.Content != nil || f.Old != nil
	}
	return !bytes.Equal(f.Content, bytes.ReplaceAll(f.Old, []byte("\r\n"), []byte("\n")))
}

// Diff is a unified diff from what the file holds to what it should; "" if it has not
// changed.
func (f File) Diff() string {
	if !f.Changed() {
		return ""
	}
	from, to := "a/"+filepath.ToSlash(f.Path), "b/"+filepath.ToSlash(f.Path)
	if f.Old == nil {
		from = "/dev/null"
	}
	if f.Content == nil {
		to = "/dev/null"
	}
	return unified(from, to, string(bytes.ReplaceAll(f.Old, []byte("\r\n"), []byte("\n"))), string(f.Content))
}

// Write puts the content in place in one step, if it has changed: a reader sees the
// old file or the new one, and a crash leaves one of them.
func (f File) Write() error {
	if !f.Changed() {
		return nil
	}
	if f.Content == nil {
		return os.Remove(f.Path)
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	// The go command passes over names that begin with a dot, should one be left.
	temp, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
	if err != nil {
		return err
	}
	err = writeAll(temp, f.Content, f.mode())
	if err == nil {
		err = os.Rename(temp.Name(), f.Path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // what went wrong before is the error to tell
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	return nil
}

func (f File) mode() os.FileMode {
	if info, err := os.Stat(f.Path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func writeAll(temp *os.File, content []byte, mode os.FileMode) error {
	_, err := temp.Write(content)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	return err
}
