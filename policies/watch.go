package policies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// watchInterval is how often a file is looked at unless Options say something else.
const watchInterval = 2 * time.Second

// maxFile is how large a file may be.
const maxFile = 1 << 20

// Watch keeps the registry at what a file says, which is a JSON document as [ParseJSON]
// reads it: it is put in force by [Registry.Reload] at once, and again each time its
// content changes, be it written anew, replaced, or behind a symbolic link that is
// moved. So it takes the place of the Config that the registry was made with,
// environment variables included; it is not laid over them, so that what is in force is
// to be read in one place. A document that Reload refuses changes nothing, and is
// logged; so is a file that cannot be read any more.
//
// It runs on the caller's goroutine, looks at the file every Options.WatchInterval, and
// returns when ctx is over, with its cause, or at once if the file cannot be read to
// begin with. One Watch for a registry is enough; with several the latest change wins.
func (r *Registry) Watch(ctx context.Context, file string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := watch{registry: r, file: file}
	if err := w.look(); err != nil {
		return err
	}
	interval := r.options.WatchInterval
	if interval == 0 {
		interval = watchInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			err := w.look()
			if err != nil && !w.unread {
				w.warn(err)
			}
			w.unread = err != nil
		}
	}
}

// watch is what is known of a file.
type watch struct {
	registry *Registry
	file     string
	inForce  []byte       // the content that was put in force; nil if none was
	refused  []byte       // what it was last, if that was not put in force
	refusal  *ReloadError // why; nil once that has been logged
	unread   bool         // it could not be read, and that has been logged
}

// look reads the file, and puts what it says in force if that is new.
func (w *watch) look() error {
	content, err := readFile(w.file)
	switch {
	case err != nil:
		return fmt.Errorf("policies: %w", sanitize.Error(err)) // it names the file
	case w.refused != nil && bytes.Equal(content, w.refused):
		w.tell()
		return nil
	}
	w.refused, w.refusal = nil, nil
	if w.inForce != nil && bytes.Equal(content, w.inForce) {
		return nil
	}
	if _, err = w.registry.Reload(ParseJSON(content)); errors.As(err, &w.refusal) {
		w.refused = content
		return nil
	}
	w.inForce = content
	return err
}

// tell logs why a document was refused once it is seen again: the first time somebody
// may have been in the middle of writing it.
func (w *watch) tell() {
	if w.refusal == nil {
		return
	}
	for _, f := range w.refusal.Findings {
		f.log(w.registry.options.Logger)
	}
	w.warn(w.refusal)
	w.refusal = nil
}

func (w *watch) warn(err error) {
	logger := w.registry.options.Logger
	if logger == nil {
		logger = slog.Default()
	}
	defer func() { _ = recover() }() // a logger that panics stops no program
	logger.LogAttrs(context.Background(), slog.LevelWarn, "resilience settings not reloaded",
		slog.String("file", sanitize.Message(w.file)), slog.String("problem", sanitize.Message(err.Error())))
}

// readFile reads a file, up to a bound. A pipe would be waited for, whatever the context.
func readFile(name string) (content []byte, err error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return content, err
}
