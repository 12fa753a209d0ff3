package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// limit is how many characters of a message are kept.
const limit = 200

// Message returns text as it may stand in a log or in an error: with its
// secrets redacted, in one line, and at most 200 characters (runes) long. From
// longer text the first 200 are kept and "..." is appended.
//
// It is redacted before it is cut, so that no half of a secret is left at the
// cut. Then each run of control characters, line separators and characters that
// turn the direction of the text becomes one space, and each run of bytes that are
// no UTF-8 becomes "\uFFFD": nobody who has a say in an error's text can add a line
// to the log, steer a terminal, or make a name that no metric may have.
func Message(text string) string { return standard.message(text) }

// Message is the function Message by the rules and the limit of the Sanitizer.
func (z *Sanitizer) Message(text string) string { return z.by().message(text) }

func (r *rules) message(text string) string {
	if r.limit > 0 && len(text) > 2*window {
		text = r.begin(text)
	}
	return cut(oneLine(r.clean(text)), r.limit)
}

// window is how much of a long text is gone through before it is looked whether that
// will do.
const window = 8 << 10

// begin returns the begin of a text, sanitised, of which more is left than a message
// keeps: the rest needs no look. What comes last is looked back at, and left out.
func (r *rules) begin(text string) string {
	if r.known != nil {
		text = r.known.Replace(text)
	}
	s := scanner{text: text, rules: r}
	for at := 0; at < len(text); {
		at = s.run(at, min(len(text), at+window))
		end := max(s.done, min(at, len(text))-2*farBack)
		if s.kept(text[s.done:end]) > r.limit {
			return s.out.String() + text[s.done:end]
		}
	}
	return s.result()
}

// kept is how many characters of the result so far a message keeps.
func (s *scanner) kept(rest string) int {
	return utf8.RuneCountInString(oneLine(s.out.String())) + utf8.RuneCountInString(oneLine(rest)) - 1
}

func oneLine(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, breaks) < 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	done, broken := 0, -1 // broken: where the run of breaks began
	for at, r := range text {
		switch {
		case breaks(r) && broken < 0:
			out.WriteString(text[done:at])
			out.WriteByte(' ')
			broken = at
		case !breaks(r) && broken >= 0:
			done, broken = at, -1
		}
	}
	if broken < 0 {
		out.WriteString(text[done:])
	}
	return out.String()
}

func breaks(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

func cut(text string, limit int) string {
	if limit < 0 || len(text) <= limit {
		return text
	}
	runes := 0
	for at := range text {
		if runes == limit {
			return text[:at] + "..."
		}
		runes++
	}
	return text
}
