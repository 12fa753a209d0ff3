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
	if strings.HasPrefix(s.text[p.value:], pemBegin) {
		end := s.pemEnd(p.value)
		s.redact(p.value, end, "")
		return end
	}
	if s.inStruct(p) {
		if next, ok := s.structField(p); ok {
			return next
		}
	}
	value, end := s.schemed(p)
	chained := p.sign == ':' && s.byteAt(end) == ':'
	sure := p.sign == '=' && (p.before || !p.after) || p.sign == ':' && !p.after
	switch {
	case meansNothing(value), s.lexical(p, value):
	case spaced && s.depth > 0 && isPair(value, ":"): // the next field; this one is empty
	case sure, s.isLoose(p, value), p.kind == pairs && isPairs(value), looksSecret(value, chained), s.isNumber(value, end):
		s.redact(p.value, end, "")
		return end
	}
	return s.pass(p.value, end)
}

// A PEM block is one value, lines and all.
const (
	pemBegin = "-----BEGIN "
	pemDash  = "-----"
	pemLast  = "-----END "
)

// pemEnd returns where the block that begins at start ends: behind its last line, or
// at the end of the text.
func (s *scanner) pemEnd(start int) int {
	last := strings.Index(s.text[start:], pemLast)
	if last < 0 {
		return len(s.text)
	}
	at := start + last + len(pemLast)
	dash := strings.Index(s.text[at:], pemDash)
	if dash < 0 {
		return len(s.text)
	}
	return at + dash + len(pemDash)
}

// structField handles the value of a field in a printed struct, which goes on until
// the next field. Not ok: it has no end that can be seen.
func (s *scanner) structField(p pair) (next int, ok bool) {
	if s.text[p.value] == '{' {
		return p.value, true
	}
	end := s.fieldEnd(p.value)
	if end < 0 {
		return 0, false
	}
	if !meansNothing(s.text[p.value:end]) {
		s.redact(p.value, end, "")
	}
	return end, true
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
// closes, or before the next pair of a list unless the list is the value. What closes the sentence or a
// bracket around it is not part of it.
func (s *scanner) wordEnd(start int, p pair) int {
	end := start
	slashes := 0
scan:
	for ; end < len(s.text); end++ {
		switch c := s.text[end]; {
		case isSpace(c):
			break scan
		case isQuote(c) && s.closes(end):
			end -= slashes
			break scan
		case c == ',' || c == ';' || c == '&' || c == '?':
			if p.kind != pairs && s.pairFollows(end+1, p.sign) {
				break scan
			}
		case c == '<' && s.byteAt(end+1) == '/':
			break scan
		case c == '\\':
			slashes++
			continue
		}
		slashes = 0
	}
	return start + trimmed(s.text[start:end])
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
	var open [256]int
	for i := range len(value) {
		if c := closer(value[i]); c != 0 {
			open[c]++
		} else {
			open[value[i]]--
		}
	}
	end := len(value)
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
	if p.quote != "" || !strings.EqualFold(s.text[p.start:p.end], "token") || looksSecret(value, false) {
		return false
	}
	before := strings.TrimRight(s.text[max(s.done, p.start-longWord):p.start], " ")
	return oneOf(lexers[:], before[strings.LastIndexByte(before, ' ')+1:])
}
