package gen

import (
	"bytes"
	"errors"
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
func (f File) Write() error { return WriteFiles([]File{f}) }

// WriteFiles writes those files that have changed. All of them are written beside their
// places before the first is put there: where one cannot be written, none is changed.
func WriteFiles(files []File) (err error) {
	temps := map[string]string{} // by path
	defer func() {
		for _, temp := range temps {
			_ = os.Remove(temp) // what went wrong before is the error to tell
		}
	}()
	for _, f := range files {
		if !f.Changed() || f.Content == nil {
			continue
		}
		if temps[f.Path], err = f.prepare(); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	for _, f := range files {
		switch {
		case !f.Changed():
			continue
		case f.Content == nil:
			err = os.Remove(f.Path)
		default:
			err = os.Rename(temps[f.Path], f.Path)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		delete(temps, f.Path)
	}
	return nil
}

// prepare writes the content beside its place. The go command passes over names that
// begin with a dot, should one be left.
func (f File) prepare() (temp string, err error) {
	if info, err := os.Stat(f.Path); err == nil && info.IsDir() {
		return "", errors.New("there is a folder of that name")
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
	if err != nil {
		return "", err
	}
	return file.Name(), writeAll(file, f.Content, f.mode())
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
