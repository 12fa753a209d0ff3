package sanitize

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is how much of a line a Writer keeps before it lets it go.
const maxLine = 1 << 20

// Writer takes secrets out of what is written, line by line, for loggers that write
// their records themselves, structs and all:
//
//	zerolog:  zerolog.New(sanitize.NewWriter(os.Stderr))
//	zap:      zapcore.NewCore(encoder, zapcore.AddSync(sanitize.NewWriter(os.Stderr)), level)
//	log:      log.SetOutput(sanitize.NewWriter(os.Stderr))
//
// Begun lines are kept until they end, or until Close. A line is let go in pieces of
// one mebibyte, cut at a blank where there is one. What spans lines, such as a private
// key, is found only where a logger writes it into one line, as those do.
//
// It is safe for concurrent use. Make one with NewWriter.
type Writer struct {
	mu    sync.Mutex
	to    io.Writer
	rules *rules
	line  []byte
	out   []byte
}

// NewWriter returns a Writer that writes to another, whose writes it makes one at a
// time, each of whole lines.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, rules: standard} }

// NewWriter is the function NewWriter by the rules of the Sanitizer.
func (z *Sanitizer) NewWriter(to io.Writer) *Writer { return &Writer{to: to, rules: z.by()} }

// Write takes all of the text, unless the writer beneath fails: then it returns its
// error and 0, and the lines are lost. It keeps no reference to the text.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(text)
	w.out = w.out[:0]
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			w.line = append(w.line, text...)
			break
		}
		line := text[:end+1]
		if len(w.line) > 0 {
			w.line = append(w.line, line...)
			line = w.line
		}
		w.out = append(w.out, w.rules.clean(view(line))...)
		w.line = w.line[:0]
		text = text[end+1:]
	}
	w.shorten()
	return w.flush(n)
}

// Close writes what is left of a line that has not ended. It does not close the writer
// beneath, and the Writer may be used again.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out[:0], w.rules.clean(view(w.line))...)
	w.line = w.line[:0]
	_, err := w.flush(0)
	return err
}

// shorten lets the begin of a very long line go.
func (w *Writer) shorten() {
	for len(w.line) > maxLine {
		end := bytes.LastIndexAny(w.line[:maxLine], " \t") + 1
		if end < maxLine/2 {
			end = maxLine
		}
		w.out = append(w.out, w.rules.clean(view(w.line[:end]))...)
		w.line = append(w.line[:0], w.line[end:]...)
	}
}

func (w *Writer) flush(n int) (int, error) {
	if len(w.out) == 0 {
		return n, nil
	}
	if _, err := w.to.Write(w.out); err != nil {
		return 0, err
	}
	return n, nil
}
