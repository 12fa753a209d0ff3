package sanitize

import (
	"strings"
	"unicode"
)

// limit is how many characters of a message are kept.
const limit = 200

// Message returns text as it may stand in a log or in an error: with its
// secrets redacted, in one line, and at most 200 characters (runes) long. From
// longer text the first 200 are kept and "..." is appended.
//
// It is redacted before it is cut, so that no half of a secret is left at the
// cut. Then each run of control characters and line separators becomes one
// space: nobody who has a say in an error's text can add a line to the log.
func Message(text string) string {
	return cut(oneLine(String(text)))
}

func oneLine(text string) string {
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
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

func cut(text string) string {
	if len(text) <= limit {
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
