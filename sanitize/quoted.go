package sanitize

import "strings"

// quoted handles a value in quotes. It ends at the same quote with as many
// backslashes; without that, at the end of the text.
func (s *scanner) quoted(p pair, quote string) int {
	start := p.value + len(quote)
	if p.quote == "" && !p.after && s.endsSentence(start) {
		return p.value // "enter password:" closes a quote that was opened before the name
	}
	start, end, next := s.inQuotes(start, quote)
	value := s.text[start:end]
	if !meansNothing(value) && !s.lexical(p, value) {
		s.redact(start, end, "")
	}
	return next
}

// quoteEnd finds the end of what a quote opened before start, and what follows.
// Each level of nesting doubles the backslashes and adds one, so their number
// tells a closing quote from one that belongs to the value, and from one that
// closes a text further out.
func (s *scanner) quoteEnd(start int, quote string) (end, next int) {
	depth := len(quote) - 1
	sign := quote[depth]
	for at := start; at < len(s.text); at++ {
		run := at
		for at < len(s.text) && s.text[at] == '\\' {
			at++
		}
		slashes := at - run
		if s.byteAt(at) != sign || at == len(s.text) {
			continue
		}
		switch {
		case slashes < depth:
			return run, run
		case slashes%(2*(depth+1)) != depth:
			continue
		case depth == 0 && at > start && s.byteAt(at+1) == sign: // doubled, as in SQL
			at++
		default:
			return at - depth, at + 1
		}
	}
	return len(s.text), len(s.text)
}

// endsSentence says whether a quote before the offset rather closes something:
// nothing follows, or blanks, or brackets and commas and then blanks.
func (s *scanner) endsSentence(at int) bool {
	if c := s.byteAt(at); c != 0 && strings.IndexByte(",;:)]}", c) >= 0 {
		at++
	}
	return at >= len(s.text) || isSpace(s.text[at])
}

// closes says whether the quote or bracket at the offset ends a value rather
// than being part of it: something that separates must follow.
func (s *scanner) closes(at int) bool {
	if at+1 == len(s.text) {
		return true
	}
	c := s.text[at+1]
	return isSpace(c) || strings.IndexByte(`,;:)]}>\`, c) >= 0 || c == '/' && s.byteAt(at+2) == '>' || isQuote(c) && c != s.text[at]
}

// list handles values in square brackets, quoted ones one by one and those of
// a printed Go slice as one. It returns the value's own offset if it is no such
// list.
func (s *scanner) list(p pair) int {
	at := s.skipBlanks(p.value + 1)
	if s.quoteAt(s.prefixed(p, at)) == "" {
		if p.quote != "" || p.sign != ':' || p.after && p.kind != header {
			return p.value
		}
		end := s.bracketEnd(p.value + 1)
		if end < 0 {
			return p.value
		}
		if !meansNothing(s.text[p.value+1 : end]) {
			s.redact(p.value+1, end, "")
		}
		return end
	}
	for {
		at = s.prefixed(p, at)
		quote := s.quoteAt(at)
		if quote == "" {
			return at
		}
		start, end, next := s.inQuotes(at+len(quote), quote)
		if !meansNothing(s.text[start:end]) {
			s.redact(start, end, "")
		}
		at = s.skipBlanks(next)
		if s.byteAt(at) != ',' {
			return next
		}
		at = s.skipBlanks(at + 1)
	}
}

// bracketEnd finds the closing bracket of a printed slice on this line, -1 if
// there is none.
func (s *scanner) bracketEnd(at int) int {
	if at < s.noBracket {
		return -1
	}
	for ; at < len(s.text) && s.text[at] != '\n'; at++ {
		if s.text[at] == ']' && s.closes(at) {
			return at
		}
	}
	s.noBracket = at
	return -1
}

// bare handles a value without quotes behind a name that has them, as numbers
// in dictionaries are. It gets the name's quotes, so that the text still parses.
func (s *scanner) bare(p pair) int {
	end := p.value
	for end < len(s.text) && !isSpace(s.text[end]) && strings.IndexByte(`,}])"'\`, s.text[end]) < 0 {
		end++
	}
	value := s.text[p.value:end]
	follow := s.byteAt(s.skipBlanks(end))
	closed := follow != 0 && strings.IndexByte(",}])", follow) >= 0
	if meansNothing(value) || strings.IndexByte("[{(<", value[0]) >= 0 || strings.Contains(value, mask) {
		return p.value
	}
	if closed || looksSecret(strings.TrimRight(value, ":"), strings.HasSuffix(value, ":")) {
		quote := p.quote
		if s.quoteAt(end) != "" { // a quote behind it would double ours
			quote = ""
		}
		s.redact(p.value, end, quote)
		return end
	}
	return s.pass(p.value, end)
}
