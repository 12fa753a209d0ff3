package sanitize

import "strings"

// inStruct says whether the pair is a field of a value printed with %v:
// {Host:db1 Password:a b Port:1}, map[password:a user:b].
func (s *scanner) inStruct(p pair) bool {
	if p.sign != ':' || p.after || p.quote != "" {
		return false
	}
	s.lines.to(s.text, p.start)
	return s.lines.depth > 0
}

// fieldEnd returns where the field's value ends, before the next field or the
// bracket; -1 if the line has neither. The value may hold spaces and brackets.
func (s *scanner) fieldEnd(start int) int {
	if start < s.noField {
		return -1
	}
	fence := s.lines.fence(s.text, start)
	at := start
	closing := byte('}')
	if s.lines.opener() == '[' {
		closing = ']'
	}
	for ; at < fence && s.text[at] != '\n'; at++ {
		c := s.text[at]
		if isQuote(c) && s.byteAt(at+1) != ' ' && s.closes(at, start) {
			break // the line itself is a text in quotes
		}
		if (c == ' ' || c == ',') && s.colonFollows(at+1) || c == closing && s.endsItem(at+1, fence) {
			return start + len(strings.TrimRight(s.text[start:at], ",;: "))
		}
	}
	s.noField = at
	return -1
}

// structField handles the value of a field in a printed struct, which goes on until
// the next field. Not ok: it has no end that can be seen.
func (s *scanner) structField(p pair) (next int, ok bool) {
	if s.text[p.value] == '{' && isPair(s.text[p.value+1:min(len(s.text), s.nameEnd(p.value+1)+2)], ":") {
		return p.value, true // a struct, whose fields have names of their own
	}
	end := s.fieldEnd(p.value)
	if end < 0 {
		return 0, false
	}
	if s.worth(p, s.text[p.value:end]) {
		s.redact(p.value, end, "")
	}
	return max(end, p.value), true
}

// colonFollows says whether a name with a colon begins at the offset, the name in
// quotes or not.
func (s *scanner) colonFollows(at int) bool {
	quote := s.quoteAt(at)
	begin := at + len(quote)
	end := s.nameEnd(begin)
	return end > begin+1 && isLower(lower(s.text[begin])) && s.quoteAt(end) == quote && s.byteAt(end+len(quote)) == ':'
}
