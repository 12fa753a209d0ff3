package sanitize

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// scheme handles Bearer and Basic that stand alone, with what follows them.
func (s *scanner) scheme(at int) int {
	bearer := s.hasAt(at, "bearer")
	if !bearer && !s.hasAt(at, "basic") || at > 0 && isAlnum(s.text[at-1]) && !s.startsToken(at) {
		return at + 1
	}
	start := at + len("basic")
	if bearer {
		start++
	}
	begin := s.gap(start)
	if begin == start {
		return start
	}
	end := begin
	for end < len(s.text) && (isName(s.text[end]) || strings.IndexByte("+/=~%", s.text[end]) >= 0) {
		end++
	}
	for end > begin && s.text[end-1] == '.' {
		end--
	}
	word := s.text[begin:end]
	if bearer && !isCredential(word) || !bearer && !isBasic(word) {
		return begin
	}
	s.redact(begin, end, "")
	return end
}

// gap is where the blanks end that begin at the offset, written or escaped.
func (s *scanner) gap(at int) int {
	switch {
	case s.hasAt(at, "%20"):
		return at + len("%20")
	case s.byteAt(at) == '+':
		return at + 1
	}
	return s.skipBlanks(at)
}

// isCredential says whether the word behind Bearer is no word of a sentence.
func isCredential(word string) bool {
	if len(word) < 6 || isPair(word, "=") || oneOf(plainWords[:], word) {
		return false
	}
	return looksSecret(word, false) && !isVersion(word) || len(word) >= 20 && isMixed(word)
}

// isBasic says whether a word is a user and a password in base64.
func isBasic(word string) bool {
	if len(word) < 6 {
		return false
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
	return err == nil && utf8.Valid(text) && strings.IndexByte(view(text), ':') >= 0
}

// isOpaque says whether a value can only be read by machines: one long word of
// letters and digits.
func isOpaque(value string) bool {
	var digits, letters, runes int
	for i := range len(value) {
		c := value[i]
		switch {
		case isDigit(c):
			digits++
		case isLower(lower(c)):
			letters++
		case strings.IndexByte("+/=_.~%-!$", c) < 0:
			return false
		default:
			runes++
		}
	}
	if len(value) >= 8 && isBasic(value) && runes <= 2 {
		return true
	}
	return len(value) >= 10 && digits > 0 && letters >= 3 && !strings.Contains(value, "//")
}
