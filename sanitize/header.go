package sanitize

import "strings"

// headerLine handles a header: the value is the rest of the line, up to the
// quote that closes around it or the remark in brackets that follows it.
func (s *scanner) headerLine(p pair) int {
	if isLower(s.text[p.start]) && p.isAuthorization(s.text) && s.isProse(p.value) {
		return p.value
	}
	end := s.headerEnd(p.value)
	value := s.text[p.value:end]
	scheme, rest, _ := strings.Cut(value, " ")
	switch {
	case meansNothing(value), oneOf(schemes[:], scheme) && meansNothing(rest):
		return end
	case scheme == mask: // sanitised before, and then joined with the next line
		return p.value + len(mask)
	}
	s.redact(p.value, end, "")
	return end
}

func (s *scanner) headerEnd(start int) int {
	var inside byte // the quote of a parameter: username="bob"
	slashes := 0
	for at := start; at < len(s.text); at++ {
		c := s.text[at]
		switch {
		case c == '\r' || c == '\n':
			return at
		case inside != 0:
			if c == inside {
				inside = 0
			}
		case c == '=' && isQuote(s.byteAt(at+1)) && !s.closes(at+1):
			at++
			inside = s.text[at]
		case isQuote(c) && s.closes(at):
			return at - slashes
		case c == ' ' && s.byteAt(at+1) == '(' && !(at-start <= longWord && oneOf(schemes[:], s.text[start:at])):
			return at
		}
		if slashes++; c != '\\' {
			slashes = 0
		}
	}
	return len(s.text)
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
