package sanitize

import "strings"

// percent handles URLs and pairs in a text that is escaped for a URL:
// https%3A%2F%2Fbob%3Apw%40host, token%3Dpw%26x.
func (s *scanner) percent(at int) int {
	switch {
	case s.hasAt(at, "%3A%2F%2F"):
		start := at + len("%3A%2F%2F")
		end := s.percentEnd(start)
		last := s.lastEscapedAt(start, end) - start
		if last <= 0 || s.isHidden(s.text[start:start+last]) {
			return start
		}
		s.redact(start, start+last, "")
		return start + last
	case s.hasAt(at, "%3D"):
		if !s.mayEnd(at) {
			return at + 1
		}
		start := s.nameStart(at)
		k := s.rules.names.of(s.text[start:at])
		for k == plain && start+2 < at && s.byteAt(start-1) == '%' { // %26token: the escape's digits are no part of the name
			start += 2
			k = s.rules.names.of(s.text[start:at])
			break
		}
		begin := at + len("%3D")
		end := s.percentEnd(begin)
		if n := indexFold(s.text[begin:end], "%26"); n >= 0 {
			end = begin + n
		}
		if k == plain || begin == end || !s.worth(pair{kind: k, start: start, end: at, sign: '='}, s.text[begin:end]) {
			return begin
		}
		s.redact(begin, end, "")
		return end
	}
	return at + 1
}

// percentEnd returns where the escaped text ends, or enough of it. Where it has looked
// before it does not look again.
func (s *scanner) percentEnd(at int) int {
	most := min(len(s.text), at+2*farBack)
	for at = max(at, s.escaped); at < most && (isName(s.text[at]) || strings.IndexByte("%+~!*", s.text[at]) >= 0); {
		at++
	}
	s.escaped = at
	return at
}

// lastEscapedAt returns where the last %40, which is an @, begins in escaped text; -1 if
// there is none.
func (s *scanner) lastEscapedAt(start, end int) int {
	const sign = "%40"
	for at := end - len(sign); at >= max(start, s.noEscapedAt); at-- {
		if s.text[at:at+len(sign)] == sign {
			return at
		}
	}
	s.noEscapedAt = max(s.noEscapedAt, end-len(sign)+1)
	return -1
}

func indexFold(text, what string) int {
	for at := 0; at+len(what) <= len(text); at++ {
		if lower(text[at]) == lower(what[0]) && strings.EqualFold(text[at:at+len(what)], what) {
			return at
		}
	}
	return -1
}
