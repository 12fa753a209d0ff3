package sanitize

import (
	"bytes"
	"io"
	"strings"
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
// one mebibyte, cut at a blank where no secret is torn apart, if there is one. What spans lines, such as a private
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
		end := w.rules.part(w.line[:maxLine])
		w.out = append(w.out, w.rules.clean(view(w.line[:end]))...)
		w.line = append(w.line[:0], w.line[end:]...)
	}
}

const (
	around = 4 << 10 // how much before and behind a cut is looked at
	tries  = 64      // of blanks
)

// part is where a long text is cut: behind a blank, where no secret is torn apart, or its
// name from it. Where there is no such blank near the end it is any blank, or the end.
func (r *rules) part(text []byte) int {
	blank := func(before int) int { return bytes.LastIndexAny(text[:before], " \t") + 1 }
	end := blank(len(text) - around)
	for n := 0; n < tries && end > len(text)/2; n++ {
		if r.apart(text, end) {
			return end
		}
		end = blank(end - 1)
	}
	if end = blank(len(text)); end < len(text)/2 {
		end = len(text)
	}
	return end
}

// apart says whether what is before the offset and what is behind it come to the same,
// each by itself, as both together.
func (r *rules) apart(text []byte, at int) bool {
	before, behind := text[max(0, at-around):at], text[at:min(len(text), at+around)]
	both := r.clean(view(text[at-len(before) : at+len(behind)]))
	rest, begins := strings.CutPrefix(both, r.clean(view(before)))
	return begins && rest == r.clean(view(behind))
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
