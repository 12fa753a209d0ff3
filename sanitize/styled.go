package sanitize

import "strings"

// What stands between a name and its sign where programs print for terminals and
// for browsers: colours, and quotes as entities.

// unstyled goes back over the escape sequence of a terminal that ends at the offset.
func (s *scanner) unstyled(end int) int {
	if s.byteAt(end-1) != 'm' {
		return end
	}
	at := end - 1
	for least := max(s.done, end-16); at > least && (isDigit(s.text[at-1]) || s.text[at-1] == ';'); at-- {
	}
	if at-2 >= s.done && s.text[at-1] == '[' && s.text[at-2] == 0x1b {
		return at - 2
	}
	return end
}

// styled goes over the escape sequence of a terminal that begins at the offset.
func (s *scanner) styled(at int) int {
	if s.byteAt(at) != 0x1b || s.byteAt(at+1) != '[' {
		return at
	}
	end := at + 2
	for end < len(s.text) && end < at+16 && (isDigit(s.text[end]) || s.text[end] == ';') {
		end++
	}
	if s.byteAt(end) == 'm' {
		return end + 1
	}
	return at
}

// entities are the quotes of HTML and XML.
var entities = [...]string{"&quot;", "&#34;", "&#39;", "&apos;", "&#x27;", "&#x22;"}

// entityBefore is the length of the entity that ends at the offset.
func (s *scanner) entityBefore(end int) int {
	for _, entity := range entities {
		if strings.HasSuffix(s.text[s.done:end], entity) {
			return len(entity)
		}
	}
	return 0
}

// entity handles a value between entities.
func (s *scanner) entity(p pair) (next int, done bool) {
	if s.text[p.value] != '&' {
		return 0, false
	}
	for _, entity := range entities {
		if !strings.HasPrefix(s.text[p.value:], entity) {
			continue
		}
		start := p.value + len(entity)
		fence := s.lines.fence(s.text, p.value)
		end := start
		if start < fence {
			end = fence
			if n := strings.Index(s.text[start:fence], entity); n >= 0 {
				end = start + n
			}
		}
		if s.worth(p, s.text[start:end]) {
			s.redact(start, end, "")
		}
		return end, true
	}
	return 0, false
}
