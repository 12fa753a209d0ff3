package sanitize

import "strings"

// pair is a name with its value: where the value begins and how it is joined.
type pair struct {
	kind       kind
	start, end int    // the name
	quote      string // the quote that closes the name, "" if it has none
	sign       byte   // '=' or ':'
	before     bool   // blanks before the sign
	after      bool   // blanks after the sign
	value      int    // where the value begins
}

// pair reads the sign behind a name. Not ok: the name has no value on its line.
func (s *scanner) pair(start, end int) (pair, bool) {
	p := pair{start: start, end: end}
	at := end
	if s.byteAt(at) == '[' { // password[0]=…
		if index := s.nameEnd(at + 1); s.byteAt(index) == ']' {
			at = index + 1
		}
	}
	p.quote = s.quoteAt(at)
	sign := s.skipBlanks(at + len(p.quote))
	p.before = sign > at+len(p.quote)
	p.sign = s.byteAt(sign)
	at = sign + 1
	switch p.sign {
	case '=': // also ==, => and the like
		for c := s.byteAt(at); c == '=' || c == '>'; c = s.byteAt(at) {
			at++
		}
	case ':':
		if c := s.byteAt(at); c == ':' || c == '=' || strings.HasPrefix(s.text[sign:], "://") {
			return p, false
		}
		if start > 0 && p.quote == "" && strings.IndexByte("/@$", s.text[start-1]) >= 0 {
			return p, false // the end of a path, an address or a variable, and then the error
		}
	default:
		return p, false
	}
	p.value = s.skipBlanks(at)
	if p.quote != "" && p.sign == ':' {
		p.value = s.nextLine(p, p.value)
	}
	p.after = p.value > at
	return p, p.value < len(s.text) && !isSpace(s.text[p.value])
}

// named handles the name text[start:end], which may have a value behind it. It
// returns where to go on; anything up to end if there was nothing to do.
func (s *scanner) named(start, end int) int {
	p, ok := s.pair(start, end)
	if !ok {
		return s.element(start, end)
	}
	p.kind = classify(s.text[start:end])
	if p.kind == plain && start > 0 && s.text[start-1] == '\\' && strings.IndexByte("nrt", s.text[start]) >= 0 {
		p.start++ // the letter belongs to an escape: here begins a line in a quoted text
		p.kind = classify(s.text[p.start:end])
	}
	if p.kind == plain {
		return end
	}
	if at := s.prefixed(p, p.value); s.quoteAt(at) != "" {
		p.value = at
		return s.quoted(p, s.quoteAt(at))
	}
	if s.text[p.value] == '[' {
		if next := s.list(p); next > p.value {
			return next
		}
	}
	switch {
	case p.quote != "" && p.sign == ':':
		return s.bare(p)
	case p.kind == header && p.sign == ':' && !s.inStruct(p):
		return s.headerLine(p)
	default:
		return s.word(p)
	}
}
