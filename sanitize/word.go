package sanitize

import "strings"

// longWord bounds how much of a word is looked at twice: what is longer and
// stays is passed over, so that the work remains linear.
const longWord = 64

// word handles a value without quotes. Behind a tight sign or " = " it is one,
// whatever it looks like; behind ": " it could as well be prose.
func (s *scanner) word(p pair) int {
	spaced := p.sign == ':' && p.after
	if spaced && strings.HasPrefix(s.text[s.nameEnd(p.value):], "://") {
		return p.value // a URL, for which there is a rule
	}
	if s.isPEM(p.value) {
		end := s.pemEnd(p.value)
		s.redact(p.value, end, "")
		return end
	}
	if end := s.remarkEnd(p.value); end > p.value {
		return end
	}
	if s.inStruct(p) {
		if next, ok := s.structField(p); ok {
			return next
		}
	}
	if spaced {
		if next, ok := s.line(p); ok {
			return next
		}
	}
	value, end := s.schemed(p)
	chained := p.sign == ':' && s.byteAt(end) == ':'
	sure := p.sign == '=' && (p.before || !p.after) || p.sign == ':' && !p.after
	switch {
	case !s.worth(p, value):
	case spaced && s.isField(p, value): // the next field; this one is empty
	case sure, s.isLoose(p, value), p.kind == pairs && isPairs(value), s.rules.strict, looksSecret(value, chained), s.isNumber(value, end):
		s.redact(p.value, end, "")
		return end
	}
	return s.pass(p.value, end)
}

// longRemark bounds a remark in the place of a value.
const longRemark = 32

// remarkEnd is where a remark or a template of several words ends that stands in the
// place of a value: (sensitive value), {{ .Values.password | quote }}. The offset itself
// if there is none.
func (s *scanner) remarkEnd(start int) int {
	text := s.text[start:min(len(s.text), start+longWord)]
	if strings.HasPrefix(strings.TrimPrefix(text, "$"), "{{") {
		if n := strings.Index(text, "}}"); n >= 0 && strings.IndexByte(text[:n], '\n') < 0 {
			return start + n + len("}}")
		}
		return start
	}
	c := closer(text[0])
	if c == 0 {
		return start
	}
	text = text[:min(len(text), longRemark)]
	if n := strings.IndexByte(text, c); n > 0 && oneOf(literals[:], text[1:n]) {
		return start + n + 1
	}
	return start
}

// isField says whether what stands behind an empty field is the next one.
func (s *scanner) isField(p pair, value string) bool {
	s.lines.to(s.text, p.start)
	return s.lines.depth > 0 && isPair(value, ":")
}

// schemed returns the word that counts and where it ends: the one behind a scheme
// such as Bearer, if there is one.
func (s *scanner) schemed(p pair) (value string, end int) {
	end = s.wordEnd(p.value, p)
	value = s.text[p.value:end]
	if !oneOf(schemes[:], value) {
		return value, end
	}
	if next := s.skipBlanks(end); next > end {
		tail := s.wordEnd(next, p)
		if second := s.text[next:tail]; second != "" && !isPair(second, "=") {
			return second, tail
		}
	}
	return value, end
}

// pass returns where to go on after a value that stays. What is in it may hold
// secrets of its own, so it is gone through unless it is too long for that.
func (s *scanner) pass(start, end int) int {
	if end-start > longWord {
		return end
	}
	return start
}

// isNumber says whether a number is all that is left of the line, not the begin
// of a text; short ones are statuses and counts even so.
func (s *scanner) isNumber(value string, end int) bool {
	return len(value) >= 4 && all(value, isDigit) && (end == len(s.text) || s.text[end] == '\r' || s.text[end] == '\n')
}

// wordEnd returns where the unquoted value ends: at a space, at a quote that
// closes, or before the next pair of a list unless the list is the value. What
// closes the sentence or a bracket around it is not part of it.
func (s *scanner) wordEnd(start int, p pair) int {
	if start >= len(s.text) {
		return start
	}
	if s.text[start] == '{' && p.sign == '=' {
		if end := s.braced(start); end > start {
			return end
		}
	}
	fence := s.lines.fence(s.text, start)
	end := start
	slashes := 0
scan:
	for ; end < fence; end++ {
		switch c := s.text[end]; {
		case isSpace(c):
			break scan
		case c == 0x1b && s.styled(end) > end:
			break scan
		case isQuote(c) && s.closes(end, start):
			end -= slashes
			break scan
		case c == '\\' && s.lineBreak(end, slashes), c == '<' && s.closesElement(end), p.kind != pairs && isSeparator(c) && s.nextPair(p, end):
			break scan
		}
		if slashes++; s.text[end] != '\\' {
			slashes = 0
		}
	}
	return start + trimmed(s.text[start:end])
}

func isSeparator(c byte) bool { return c == ',' || c == ';' || c == '&' || c == '?' }

// closesElement says whether the tag that closes an element begins at the offset.
func (s *scanner) closesElement(at int) bool {
	last := s.nameEnd(at + 2)
	return s.byteAt(at+1) == '/' && last > at+2 && s.byteAt(last) == '>' && isLower(lower(s.text[at+2]))
}

// braced is where a value in braces ends that is quoted as ODBC has it; the offset
// itself if it is none.
func (s *scanner) braced(start int) int {
	fence := s.lines.fence(s.text, start)
	for at, most := start+1, min(fence, start+farBack); at < most && s.text[at] != '\n'; at++ {
		if s.text[at] != '}' {
			continue
		}
		if s.byteAt(at+1) == '}' && at+2 < fence {
			at++
			continue
		}
		if c := s.byteAt(at + 1); at+1 >= fence || c == ';' {
			return at + 1
		}
		return start
	}
	return start
}

// lineBreak says whether a line ends, in a text in quotes, at the backslash.
func (s *scanner) lineBreak(at, slashes int) bool {
	c := s.byteAt(at + 1)
	return slashes%2 == 0 && (c == 'n' || c == 'r') && s.lines.fence(s.text, at) < len(s.text)
}

// nextPair says whether another pair of the same list begins behind the separator.
// Of a list that begins with this pair, nothing is known: there the next name must
// look like one, since passwords hold such signs as well.
func (s *scanner) nextPair(p pair, at int) bool {
	c := s.text[at]
	var before byte
	if p.start > 0 {
		before = s.text[p.start-1]
	}
	if before == ' ' && p.start > 1 {
		before = s.text[p.start-2]
	}
	least := 3
	switch {
	case c == '?' && p.sign == '=' && before == ';': // ;jsessionid=…?x=1
		least = 1
	case c == before, c == '&' && before == '?':
		least = 1
	case strings.IndexByte(",;&?", before) >= 0 && before != 0, c == '?':
		return false
	}
	if c == ';' && strings.HasPrefix(s.text[max(0, at-4):], "&amp;") {
		least = 1
	}
	if p.sign == ':' && s.quoteAt(at+1) != "" {
		return true
	}
	begin := s.skipBlanks(at + 1)
	end := s.nameEnd(begin)
	for c == ';' && before == ';' && s.byteAt(end) == ' ' && s.nameEnd(end+1) > end+1 && end-begin < maxName { // Persist Security Info=
		end = s.nameEnd(end + 1)
	}
	if end-begin < least || !isLower(lower(s.text[begin])) {
		return false
	}
	sign := s.byteAt(end)
	return sign == '=' || sign == ':' && p.sign == ':'
}

// pairFollows says whether another pair begins at the offset.
func (s *scanner) pairFollows(at int, sign byte) bool {
	if sign == ':' && s.quoteAt(at) != "" {
		return true
	}
	end := s.nameEnd(at)
	c := s.byteAt(end)
	return end > at && (c == '=' || c == ':' && sign == ':')
}

// trimmed returns the length of a value without the punctuation at its end, and
// without the brackets there that were not opened in it.
func trimmed(value string) int {
	end := len(value)
	if end == 0 || strings.IndexByte(",;:)]}>", value[end-1]) < 0 {
		return end
	}
	var open [256]int
	for i := range len(value) {
		if c := closer(value[i]); c != 0 {
			open[c]++
		} else {
			open[value[i]]--
		}
	}
	for ; end > 0; end-- {
		c := value[end-1]
		if strings.IndexByte(",;:", c) >= 0 {
			continue
		}
		if strings.IndexByte(")]}>", c) < 0 || open[c] >= 0 {
			break
		}
		open[c]++
	}
	return end
}

// lexical says whether a parser speaks of a token: unexpected token: "}".
func (s *scanner) lexical(p pair, value string) bool {
	if p.quote != "" || !s.hasAt(p.end-len("token"), "token") {
		return false
	}
	start, end := max(s.done, p.start-longWord), p.end-len("token")
	if start > end { // a later item of a list, behind one that was taken out
		return false
	}
	before := strings.TrimRight(s.text[start:end], " ")
	before = before[strings.LastIndexByte(before, ' ')+1:]
	if looksSecret(value, false) { // x1 is none where a parser expects something
		return len(value) < 8 && strings.HasSuffix(before, "expected")
	}
	return oneOf(lexers[:], before)
}
