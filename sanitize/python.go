package sanitize

import "strings"

// prefixed returns the offset of the quote when letters of a Python string stand
// before it, as in b'…' and Rb"…"; else the offset itself. A quote that closes is
// none of these: the letters are the end of a quoted text, unless the name is in
// quotes too.
func (s *scanner) prefixed(p pair, at int) int {
	end := at
	for end-at < 2 && s.byteAt(end) != 0 && strings.IndexByte("bBuUrRfF", s.text[end]) >= 0 {
		end++
	}
	quote := s.quoteAt(end)
	if end == at || quote == "" || p.quote == "" && (s.quoteAt(end) == "" || s.closes(end+len(quote)-1, p.start)) {
		return at
	}
	return end
}

// nextLine returns where the value begins that a printer of dictionaries has moved
// to the line below its name; else the offset of the line break. A name in quotes
// is not the value: it has one of its own.
func (s *scanner) nextLine(p pair, at int) int {
	below := at
	if s.byteAt(below) == '\r' {
		below++
	}
	if s.byteAt(below) != '\n' {
		return at
	}
	below = s.skipBlanks(below + 1)
	begin := s.prefixed(p, below)
	quote := s.quoteAt(begin)
	if quote == "" {
		return at
	}
	end := s.nameEnd(begin + len(quote))
	if behind := s.quoteAt(end); behind != "" && s.byteAt(s.skipBlanks(end+len(behind))) == ':' {
		return at
	}
	return below
}

// inQuotes returns where the value begins and ends that a quote opened before
// start, and what follows. A tripled quote ends at the next such, or at the end of
// the text.
func (s *scanner) inQuotes(start int, quote string) (begin, end, next int) {
	size := len(quote)
	if !strings.HasPrefix(s.text[start:], quote) || !strings.HasPrefix(s.text[start+size:], quote) {
		end, next = s.quoteEnd(start, quote)
		return start, end, next
	}
	triple := s.text[start-size : start+2*size]
	begin = start + 2*size
	for at := begin; ; at++ {
		n := strings.Index(s.text[at:], triple)
		if n < 0 {
			return begin, len(s.text), len(s.text)
		}
		at += n
		slashes := size - 1
		for before := at; before > begin && s.text[before-1] == '\\'; before-- {
			slashes++
		}
		if slashes%(2*size) == size-1 { // else it is escaped
			return begin, at, at + 3*size
		}
	}
}
