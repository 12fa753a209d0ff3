package sanitize

import "strings"

// worth says whether a value that is known as a whole is to be hidden.
func (s *scanner) worth(p pair, value string) bool {
	if s.nothing(value) || s.lexical(p, value) {
		return false
	}
	switch p.kind {
	case query:
		return s.inQuery(p) && (isOpaque(value) || p.isPWD(s.text) && looksSecret(value, false))
	case weak:
		if s.inQuery(p) || p.sign == '=' && !p.before && !p.after {
			return looksSecret(value, false)
		}
		return isOpaque(value)
	case plural:
		return !all(value, func(c byte) bool { return isDigit(c) || c == '.' || c == ',' }) &&
			(p.quote != "" || looksSecret(value, false))
	case cookie:
		return strings.IndexByte(value, '=') > 0 || looksSecret(value, false)
	}
	return true
}

func (p pair) isPWD(text string) bool { return p.kind == query && text[p.end-1] == 'D' }

// quoted handles a value in quotes. It ends at the same quote with as many
// backslashes; without that, at the end of the text around it.
func (s *scanner) quoted(p pair, quote string) int {
	start := p.value + len(quote)
	if p.quote == "" && !p.after && s.endsSentence(start) {
		return p.value // "enter password:" closes a quote that was opened before the name
	}
	start, end, next := s.inQuotes(start, quote)
	value := s.text[start:end]
	if s.worth(p, value) {
		s.redact(start, end, "")
		return next
	}
	if p.kind == secret || p.kind == header || p.kind == pairs {
		return next
	}
	return start
}

// quoteEnd finds the end of what a quote opened before start, and what follows.
// Each level of nesting doubles the backslashes and adds one, so their number
// tells a closing quote from one that belongs to the value, and from one that
// closes a text further out.
func (s *scanner) quoteEnd(start int, quote string) (end, next int) {
	depth := len(quote) - 1
	sign := quote[depth]
	limit := len(s.text)
	if sign != '"' || depth > 0 {
		limit = s.lines.fence(s.text, start)
	}
	for at := start; at < limit; at++ {
		run := at
		for at < limit && s.text[at] == '\\' {
			at++
		}
		slashes := at - run
		if at == limit || s.text[at] != sign {
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
	return limit, limit
}

// endsSentence says whether a quote before the offset rather closes something:
// nothing follows, or blanks, or brackets and commas and then blanks.
func (s *scanner) endsSentence(at int) bool {
	if c := s.byteAt(at); c != 0 && strings.IndexByte(",;:)]}", c) >= 0 {
		at++
	}
	return at >= len(s.text) || isSpace(s.text[at])
}

// closes says whether the quote at the offset ends a value that begins at start,
// rather than being part of it: something that separates must follow, and a quote
// like it must be open there.
func (s *scanner) closes(at, start int) bool {
	if !s.separated(at) {
		return false
	}
	if s.text[at] == '"' && (at == 0 || s.text[at-1] != '\\') {
		return at == s.lines.fence(s.text, start)
	}
	return s.opened(at, start)
}

func (s *scanner) separated(at int) bool {
	if at+1 == len(s.text) {
		return true
	}
	c := s.text[at+1]
	return isSpace(c) || strings.IndexByte(`,;:)]}>\`, c) >= 0 || c == '/' && s.byteAt(at+2) == '>' || isQuote(c) && c != s.text[at]
}

// farBack bounds how far an opening quote is looked for.
const farBack = 256

// opened says whether a quote like the one at the offset was opened on the line
// before start: where no letter precedes it, and with a backslash if this has one.
func (s *scanner) opened(at, start int) bool {
	q, escaped := s.text[at], at > 0 && s.text[at-1] == '\\'
	for i, least := start-1, max(0, start-farBack); i >= least && s.text[i] != '\n'; i-- {
		if s.text[i] != q {
			continue
		}
		before := i - 1
		if escaped {
			if s.byteAt(before) != '\\' {
				continue
			}
			return true
		}
		if !isAlnum(s.byteAt(before)) {
			return true
		}
	}
	return false
}

// list handles values in square brackets, quoted ones one by one and those of
// a printed Go slice as one. It returns the value's own offset if it is no such
// list.
func (s *scanner) list(p pair) int {
	at := s.skipSpace(p.value + 1)
	at = s.literal(at)
	if s.closesText(at) {
		return p.value
	}
	if s.quoteAt(s.prefixed(p, at)) == "" {
		if p.quote != "" || p.sign != ':' || p.after && p.kind != header {
			return p.value
		}
		end := s.bracketEnd(p.value + 1)
		if end < 0 {
			return p.value
		}
		if s.worth(p, s.text[p.value+1:end]) {
			s.redact(p.value+1, end, "")
		}
		return end
	}
	if p.kind == plural {
		p.quote = `"`
	}
	return s.items(p, at)
}

// literal goes over the type of a Go literal, []string{"x"}, whose second bracket is at
// the offset.
func (s *scanner) literal(at int) int {
	if s.byteAt(at) == ']' && isLower(s.byteAt(at+1)) {
		if end := s.nameEnd(at + 1); s.byteAt(end) == '{' && s.quoteAt(end+1) != "" {
			return end + 1
		}
	}
	return at
}

// items handles values in quotes, with commas or spaces between.
func (s *scanner) items(p pair, at int) int {
	for {
		at = s.prefixed(p, at)
		quote := s.quoteAt(at)
		if quote == "" {
			return at
		}
		start, end, next := s.inQuotes(at+len(quote), quote)
		if s.worth(p, s.text[start:end]) {
			s.redact(start, end, "")
		}
		at = s.skipSpace(next)
		if s.byteAt(at) != ',' && !(isQuote(s.byteAt(at)) && at > next) {
			return next
		}
		if s.text[at] == ',' {
			at = s.skipSpace(at + 1)
		}
	}
}

func (s *scanner) skipSpace(at int) int {
	for at < len(s.text) && isSpace(s.text[at]) {
		at++
	}
	return at
}

// bracketEnd finds the closing bracket of a printed slice on this line, -1 if
// there is none.
func (s *scanner) bracketEnd(at int) int {
	if at < s.noBracket {
		return -1
	}
	fence := s.lines.fence(s.text, at)
	for ; at < fence && s.text[at] != '\n'; at++ {
		if s.text[at] == ']' && s.endsItem(at+1, fence) {
			return at
		}
	}
	s.noBracket = at
	return -1
}

// endsItem says whether an item of a printed map or struct ends before the offset:
// other brackets, the end, or the next name follow.
func (s *scanner) endsItem(at, fence int) bool {
	for at < fence && strings.IndexByte("]})", s.text[at]) >= 0 {
		at++
	}
	if at >= fence || isSpace(s.text[at]) {
		return true
	}
	switch c := s.text[at]; {
	case strings.IndexByte(",;:", c) >= 0:
		return at+1 >= fence || isSpace(s.text[at+1])
	case isQuote(c):
		return s.closes(at, s.lines.at)
	case c == '\\':
		quote := s.quoteAt(at)
		return quote != "" && s.closes(at+len(quote)-1, s.lines.at)
	}
	return false
}

// bare handles a value without quotes behind a name that has them, as numbers
// in dictionaries are. It gets the name's quotes, so that the text still parses.
func (s *scanner) bare(p pair) int {
	end := p.value
	for end < len(s.text) && !isSpace(s.text[end]) && strings.IndexByte(`,}])"'\&`, s.text[end]) < 0 {
		end++
	}
	value := s.text[p.value:end]
	follow := s.byteAt(s.skipSpace(end))
	closed := follow != 0 && strings.IndexByte(",}])&", follow) >= 0
	if p.kind != secret && p.kind != header && p.kind != pairs ||
		s.nothing(value) || strings.IndexByte("[{(<", value[0]) >= 0 || strings.Contains(value, s.rules.mask) {
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
