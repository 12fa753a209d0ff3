package sanitize

import "strings"

// element handles <password>…</password>.
func (s *scanner) element(start, end int) int {
	if s.byteAt(end) != '>' || start == 0 || strings.IndexByte("<:", s.text[start-1]) < 0 {
		return end
	}
	n := strings.IndexByte(s.text[end:], '<')
	if n < 0 || s.byteAt(end+n+1) != '/' || classify(s.text[start:end]) == plain {
		return end
	}
	if value := s.text[end+1 : end+n]; !meansNothing(strings.TrimSpace(value)) && !strings.Contains(value, mask) {
		s.redact(end+1, end+n, "")
	}
	return end + n
}
