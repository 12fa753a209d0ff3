package sanitize

import "strings"

// pair is a name with its value: where the value begins and how it is joined.
type pair struct {
	kind       kind
	start, end int    // the name
	quote      string // the quote that closes the name, "" if it has none
	sign       byte   // '=' or ':'
	before     bool   // blanks before the sign
	after      bool   // blanks after the sign
	walrus     bool   // the sign is :=, as in code
	value      int    // where the value begins
}

// sign handles a pair at its sign. It returns where to go on.
func (s *scanner) sign(at int) int {
	if s.text[at] == ':' {
		if strings.HasPrefix(s.text[at:], "://") || strings.HasPrefix(s.text[at:], escapedSign) {
			return s.url(at)
		}
		if next := s.byteAt(at + 1); next == ':' || next == '=' {
			return at + 1
		}
		if next := s.telegram(at); next > at {
			return next
		}
	}
	p, ok := s.name(at)
	if !ok {
		return at + 1
	}
	if p.kind == plain || p.kind == query {
		if next := s.named(p, at); next > at || p.kind == plain {
			return max(next, at+1)
		}
	}
	if !s.joined(&p, at) {
		return max(at+1, s.listBelow(p))
	}
	if next := s.wrapped(p); next > 0 {
		return next
	}
	return s.pair(p)
}

// name reads the name before a sign. Not ok: there is none that may matter.
func (s *scanner) name(at int) (p pair, ok bool) {
	p.sign = s.text[at]
	end := at
	if p.sign == '=' && end > s.done && s.text[end-1] == ':' {
		p.walrus = true
		end--
	} else if p.sign == '=' && end > s.done+1 && s.text[end-1] == '?' && isBlank(s.text[end-2]) {
		end--
	}
	for least := max(s.done, at-16); end > least && isBlank(s.text[end-1]); end-- {
	}
	p.before = end < at
	if p.before && s.byteAt(end-1) == '=' {
		return p, false
	}
	end = s.unstyled(end)
	closed := end
	switch c := s.byteAt(end - 1); {
	case end-1 < s.done:
		return p, false
	case isQuote(c):
		for end--; end > s.done && s.text[end-1] == '\\'; end-- {
		}
		p.quote = s.text[end:closed]
	case c == ';':
		n := s.entityBefore(end)
		if n == 0 {
			return p, false
		}
		end -= n
		p.quote = s.text[end:closed]
	case c == ']':
		if end = s.indexStart(end); end == closed && p.before && s.byteAt(at+1) == '>' { // [name] => x
			end--
		}
	}
	if !s.mayEnd(end) {
		return p, false
	}
	p.start, p.end = s.nameStart(end), end
	if p.start == p.end {
		return p, false
	}
	p.kind = s.classify(&p)
	return p, true
}

// indexStart returns where the index begins that ends at the offset, and before it
// the quote: password[0], params["password"].
func (s *scanner) indexStart(end int) int {
	at := end - 1
	for least := max(s.done, end-8); at > least && isDigit(s.text[at-1]); at-- {
	}
	if at < end-1 && s.byteAt(at-1) == '[' {
		return at - 1
	}
	if c := s.byteAt(at - 1); isQuote(c) {
		return at - 1
	}
	return end
}

// mayEnd says whether a name of interest may end here: by its last letters, where
// digits may follow.
func (s *scanner) mayEnd(end int) bool {
	least := max(s.done, end-3)
	for end > least && isDigit(s.text[end-1]) {
		end--
	}
	if end <= s.done {
		return false
	}
	return s.rules.names.mayEnd(s.text, end) || s.text[end-1] >= 0x80 || s.isDisguised(end)
}

// isDisguised says whether the letters before the offset are escaped, or have between
// them what cannot be seen.
func (s *scanner) isDisguised(end int) bool {
	for at, least := end-1, max(s.done, end-12); at >= least; at-- {
		switch c := s.text[at]; {
		case c == '\\', c >= 0x80:
			return true
		case !isName(c):
			return false
		}
	}
	return false
}

// classify tells the name's kind, where need be with the word before: API key.
func (s *scanner) classify(p *pair) kind {
	c := s.rules.names
	if p.quote != "" && p.start > s.done && (s.text[p.start-1] == ' ' || s.text[p.start-1] == '\\') {
		s.widen(p)
	}
	k := c.of(s.text[p.start:p.end])
	if s.text[p.start:p.end] == "PWD" && p.start > 0 && s.text[p.start-1] == ';' {
		return secret // of a connection string
	}
	if p.sign == ':' && p.quote == "" && s.text[p.start:p.end] == "PASS" {
		return plain // what tests say
	}
	if k != plain && k != query {
		return k
	}
	if p.start > s.done && s.text[p.start-1] == '\\' && strings.IndexByte("nrt", s.text[p.start]) >= 0 && p.end-p.start > 1 {
		if k := c.of(s.text[p.start+1 : p.end]); k != plain {
			p.start++ // the letter belongs to an escape: here begins a line in a quoted text
			return k
		}
	}
	if p.quote == "" && p.start-1 > s.done && s.text[p.start-1] == ' ' && p.end-p.start <= 6 {
		start := s.nameStart(p.start - 1)
		if wide := c.of(s.text[start:p.end]); wide != plain && wide != query && start < p.start-1 {
			p.start = start
			return wide
		}
	}
	return k
}

// widen takes a name in quotes with its blanks and escapes.
func (s *scanner) widen(p *pair) {
	q := p.quote[len(p.quote)-1]
	for at, least := p.start, max(s.done, p.end-maxName); at > least; at-- {
		if s.text[at-1] == q {
			p.start = at
			return
		}
	}
}

// joined reads what is between the name and the value. False: there is no value on
// the line.
func (s *scanner) joined(p *pair, at int) bool {
	end := at + 1
	if p.sign == '=' { // also ==, => and the like
		for c := s.byteAt(end); c == '=' || c == '>' || c == '~'; c = s.byteAt(end) {
			end++
		}
	} else if p.quote == "" && s.isTail(p.start, end) {
		return false
	}
	p.value = s.skipBlanks(s.styled(end))
	if p.quote != "" && p.sign == ':' {
		p.value = s.nextLine(*p, p.value)
	}
	p.after = p.value > end && isBlank(s.text[p.value-1])
	return p.value < len(s.text) && !isSpace(s.text[p.value])
}

// isTail says whether a name that begins at the offset is the end of a path, an address
// or a variable, behind which an error goes on, or which is empty otherwise: ${NAME:-}.
// A slash may also begin an option: /password:x.
func (s *scanner) isTail(start, value int) bool {
	switch before := s.byteAt(start - 1); before {
	case '/':
		return start > 1 && !isSpace(s.text[start-2]) || isSpace(s.byteAt(value))
	case '@', '$':
		return true
	case '{':
		c := s.byteAt(value)
		return s.byteAt(start-2) == '$' && (c == '?' || c == '}' || c == '-' && s.byteAt(value+1) == '}')
	}
	return false
}

// pair handles a pair whose name says that the value matters.
func (s *scanner) pair(p pair) int {
	if strings.HasPrefix(s.text[p.value:], s.rules.mask) && !s.longer(p.value) {
		return p.value + len(s.rules.mask)
	}
	if end, done := s.entity(p); done {
		return end
	}
	if at := s.prefixed(p, p.value); s.quoteAt(at) != "" && !(at == p.value && (s.closesText(at) || s.closesPrompt(p))) {
		p.value = at
		return s.quoted(p, s.quoteAt(at))
	}
	if p.walrus {
		return p.value
	}
	if s.text[p.value] == '[' {
		if next := s.list(p); next > p.value {
			return next
		}
	}
	if end, done := s.block(p); done {
		return end
	}
	switch {
	case p.kind == query && !s.inQuery(p):
		return p.value
	case p.quote != "" && p.sign == ':':
		return s.bare(p)
	case p.sign == ':' && s.isHeader(p) && !s.inStruct(p):
		return s.headerLine(p)
	default:
		return s.word(p)
	}
}

// longer says whether the asterisks at the offset belong to a longer word.
func (s *scanner) longer(at int) bool {
	end := at + len(s.rules.mask)
	c := s.byteAt(end)
	return isAlnum(c) || c >= 0x80 || c == '*'
}

// inQuery says whether the pair stands in the query of a URL or in a form's body.
func (s *scanner) inQuery(p pair) bool {
	if p.sign != '=' || p.before || p.after || p.start == 0 {
		return false
	}
	c := s.text[p.start-1]
	return c == '?' || c == '&' || c == ';' && strings.HasSuffix(s.text[:p.start], "&amp;")
}

// closesText says whether the quote at the offset closes a text around it rather than
// opening one: "enter password:".
func (s *scanner) closesText(at int) bool {
	if s.byteAt(at) != '"' {
		return false
	}
	s.lines.to(s.text, at)
	return s.lines.inside && separates(s.text, at+1) && s.byteAt(at+1) != '\''
}

// closesPrompt says the same of a single quote behind a blank: read -p 'Password: ' pw.
func (s *scanner) closesPrompt(p pair) bool {
	return p.quote == "" && p.after && s.text[p.value] == '\'' && separates(s.text, p.value+1) && s.opened(p.value, p.start)
}
