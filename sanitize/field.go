package sanitize

import "strings"

// inStruct says whether the pair is a field of a value printed with %v:
// {Host:db1 Password:a b Port:1}, map[password:a user:b].
func (s *scanner) inStruct(p pair) bool {
	return s.depth > 0 && p.sign == ':' && !p.after && p.quote == ""
}

// fieldEnd returns where the field's value ends, before the next field or the
// bracket; -1 if the line has neither. The value may hold spaces.
func (s *scanner) fieldEnd(start int) int {
	at := start
	if at < s.noField {
		return -1
	}
	for ; at < len(s.text) && s.text[at] != '\n'; at++ {
		c, next := s.text[at], s.byteAt(at+1)
		if isQuote(c) && next != 0 && strings.IndexByte(",}]:", next) >= 0 {
			break // the line itself is a text in quotes
		}
		if (c == ' ' || c == ',') && isName(next) && s.pairFollows(at+1, ':') || (c == '}' || c == ']') && s.closes(at) {
			value := strings.TrimRight(s.text[start:at], ",;: ")
			if strings.Contains(value, mask) && !isHidden(value) {
				break // sanitised before: what is left is not for this rule
			}
			return start + len(value)
		}
	}
	s.noField = at
	return -1
}
