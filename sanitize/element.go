package sanitize

import "strings"

// element handles <password>…</password>.
func (s *scanner) element(start, end int) int {
	if s.byteAt(end) != '>' || start == 0 || strings.IndexByte("<:", s.text[start-1]) < 0 {
		return end
	}
	tag := s.nextTag(end)
	if s.byteAt(tag) != '<' || s.byteAt(tag+1) != '/' || classify(s.text[start:end]) == plain {
		return end
	}
	if value := s.text[end+1 : tag]; !meansNothing(strings.TrimSpace(value)) && !strings.Contains(value, mask) {
		s.redact(end+1, tag, "")
	}
	return tag
}

// nextTag returns the offset of the first < from the offset on, the length of the
// text if there is none. It is remembered: many elements may come before it, and
// each would look through the same text.
func (s *scanner) nextTag(from int) int {
	if s.tag < from {
		s.tag = len(s.text)
		if n := strings.IndexByte(s.text[from:], '<'); n >= 0 {
			s.tag = from + n
		}
		s.ahead += s.tag - from
	}
	return s.tag
}
