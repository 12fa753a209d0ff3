package sanitize

import "strings"

// isHeader says whether the pair is a header, whose value is all of the line: by
// its name, or because a line begins with it.
func (s *scanner) isHeader(p pair) bool {
	name := s.text[p.start:p.end]
	switch {
	case p.kind == header || p.kind == cookie:
		return true
	case p.kind != secret && p.kind != weak || strings.IndexByte(name, '-') < 0 || strings.IndexByte(name, '_') >= 0:
		return false
	case lower(name[0]) == 'x' && name[1] == '-':
		return true
	}
	_, first := s.lineStart(p.start)
	return first && isUpper(name[0]) || p.start > 0 && isQuote(s.text[p.start-1]) && p.quote == ""
}

// headerLine handles a header: the value is the rest of the line, up to the
// quote that closes around it or the remark in brackets that follows it.
func (s *scanner) headerLine(p pair) int {
	if isLower(s.text[p.start]) && p.isAuthorization(s.text) && s.isProse(p.value) {
		return p.value
	}
	if begin := s.text[p.value:min(len(s.text), p.value+farBack)]; !s.isFilled(p, begin) {
		return p.value
	}
	end := s.headerEnd(p.value)
	value := s.text[p.value:end]
	scheme, rest, _ := strings.Cut(value, " ")
	switch {
	case s.nothing(value), oneOf(schemes[:], scheme) && s.nothing(rest):
		return end
	case scheme == s.rules.mask: // sanitised before, and then joined with the next line
		return p.value + len(scheme)
	}
	s.redact(p.value, end, "")
	return end
}

// isFilled says whether a header's value, as it begins, is one, and not the text of an
// error.
func (s *scanner) isFilled(p pair, value string) bool {
	first, _, _ := strings.Cut(value, " ")
	switch p.kind {
	case weak:
		return looksSecret(first, false)
	case cookie:
		return looksSecret(first, false) || s.isCookie(value)
	}
	return true
}

// isCookie says whether a value is a list of cookies, and not the text of an error.
func (s *scanner) isCookie(value string) bool {
	first, _, _ := strings.Cut(value, ";")
	name, _, found := strings.Cut(first, "=")
	return found && strings.IndexByte(name, ' ') < 0
}

func (s *scanner) headerEnd(start int) int {
	fence := s.lines.fence(s.text, start)
	var inside byte // the quote of a parameter: username="bob"
	slashes := 0
	for at := start; at < fence; at++ {
		c := s.text[at]
		switch {
		case c == '\r' || c == '\n' || c == '\\' && s.lineBreak(at, slashes):
			return at
		case inside != 0:
			if c == inside {
				inside = 0
			}
		case c == '=' && isQuote(s.byteAt(at+1)) && !s.closes(at+1, start):
			at++
			inside = s.text[at]
		case isQuote(c) && s.closes(at, start):
			return at - slashes
		case c == ' ' && s.byteAt(at+1) == '(' && !(at-start <= longWord && oneOf(schemes[:], s.text[start:at])):
			return at
		}
		if slashes++; c != '\\' {
			slashes = 0
		}
	}
	return fence
}

// isAuthorization says whether the name is that of the one header which is also a
// word that errors begin with.
func (p pair) isAuthorization(text string) bool { return text[p.start:p.end] == "authorization" }

// isProse says whether what follows the word authorization is rather the text of an
// error: "authorization: access denied". One of its first words says so then.
func (s *scanner) isProse(start int) bool {
	for range 3 {
		end := start
		for isLower(lower(s.byteAt(end))) && end-start < longWord {
			end++
		}
		word := s.text[start:end]
		if word == "" {
			return false
		}
		if oneOf(complaints[:], word) {
			return true
		}
		start = s.skipBlanks(end)
	}
	return false
}
