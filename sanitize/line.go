package sanitize

import "strings"

// line handles a pair that fills its line, as in YAML: the value may be of many
// words. Not ok: it is no such line, or it looks like prose.
func (s *scanner) line(p pair) (next int, ok bool) {
	begin, first := s.lineStart(p.start)
	if !first || p.kind == pairs {
		return 0, false
	}
	end := s.lineEnd(p.value)
	value := s.text[p.value:end]
	if at := strings.Index(value, " #"); at >= 0 {
		value = value[:at]
	}
	value = strings.TrimRight(value, " \t\r")
	if !s.worth(p, value) || !s.isValue(value, begin, end) {
		return 0, false
	}
	s.redact(p.value, p.value+len(value), "")
	return p.value + len(value), true
}

// lineStart returns where the line begins on which the name is the first thing.
func (s *scanner) lineStart(at int) (begin int, first bool) {
	for at > s.done && isBlank(s.text[at-1]) {
		at--
	}
	if at > s.done && s.text[at-1] == '-' && isBlank(s.byteAt(at)) { // an item of a list
		for at--; at > s.done && isBlank(s.text[at-1]); at-- {
		}
	}
	if at == 0 || s.text[at-1] == '\n' {
		return at, true
	}
	if at > 1 && s.text[at-2] == '\\' && (s.text[at-1] == 'n' || s.text[at-1] == 'r') {
		s.lines.to(s.text, at)
		return at, s.lines.inside
	}
	return at, false
}

// lineEnd returns where the line ends, or the text in quotes around it.
func (s *scanner) lineEnd(at int) int {
	fence := s.lines.fence(s.text, at)
	slashes := 0
	for ; at < fence; at++ {
		switch s.text[at] {
		case '\n', '\r':
			return at
		case '\\':
			if s.lineBreak(at, slashes) {
				return at
			}
			slashes++
			continue
		}
		slashes = 0
	}
	return fence
}

// isValue says whether the rest of a line is a value and not the text of an error.
// Between other such lines it is taken for one as long as no word complains.
func (s *scanner) isValue(value string, begin, end int) bool {
	if strings.Contains(value, ": ") || strings.Contains(value, "://") {
		return false
	}
	looks := false
	for word := range strings.FieldsSeq(value) {
		bare := strings.Trim(word, ".,;!?'\"")
		if oneOf(complaints[:], bare) || oneOf(remarks[:], bare) {
			return false
		}
		looks = looks || looksSecret(word, false)
	}
	return looks || s.isPairLine(s.nextLineStart(end)) || begin > 1 && s.isPairLine(s.lineBefore(begin-1))
}

func (s *scanner) nextLineStart(end int) int {
	for end < len(s.text) && (s.text[end] == '\r' || s.text[end] == '\n') {
		end++
	}
	return end
}

// lineBefore returns where the line begins that ends at the offset.
func (s *scanner) lineBefore(end int) int {
	if end > 0 && s.text[end-1] == '\r' {
		end--
	}
	at := end
	for least := max(0, end-farBack); at > least && s.text[at-1] != '\n'; at-- {
	}
	return at
}

// isPairLine says whether a line begins with a name, a colon, and a blank or nothing.
func (s *scanner) isPairLine(at int) bool {
	for at < len(s.text) && (isBlank(s.text[at]) || s.text[at] == '-') {
		at++
	}
	end := at
	for end < len(s.text) && end-at < maxName && isName(s.text[end]) {
		end++
	}
	return end > at && s.byteAt(end) == ':' && (end+1 >= len(s.text) || isSpace(s.text[end+1]))
}

// listBelow handles a list in YAML below its name: the items that look like values. It
// returns where to go on, 0 if there is no such list.
func (s *scanner) listBelow(p pair) int {
	if p.sign != ':' || p.kind != secret && p.kind != plural || p.quote != "" {
		return 0
	}
	if _, first := s.lineStart(p.start); !first {
		return 0
	}
	next := 0
	for at := p.value; at < len(s.text); at = next {
		begin, end, ok := s.itemBelow(at)
		if !ok {
			return next
		}
		word := s.text[begin:end]
		if strings.HasSuffix(word, ":") || s.isHidden(word) {
			return next
		}
		if looksSecret(word, false) && s.rules.names.of(word) == plain {
			s.redact(begin, end, "")
		}
		next = s.commentEnd(s.skipBlanks(end + len(s.quoteAt(end))))
	}
	return next
}

// itemBelow is the first word of the item of a list below the line that ends at the
// offset.
func (s *scanner) itemBelow(at int) (begin, end int, ok bool) {
	if s.byteAt(at) == '\r' {
		at++
	}
	if s.byteAt(at) != '\n' {
		return 0, 0, false
	}
	begin = s.skipBlanks(at + 1)
	if s.byteAt(begin) != '-' || !isBlank(s.byteAt(begin+1)) {
		return 0, 0, false
	}
	begin = s.skipBlanks(begin + 1)
	begin += len(s.quoteAt(begin))
	end = begin
	for most := min(len(s.text), begin+farBack); end < most && !isSpace(s.text[end]) && !isQuote(s.text[end]); end++ {
	}
	return begin, end, true
}

// commentEnd is the end of the line if a comment begins at the offset, else the offset.
func (s *scanner) commentEnd(at int) int {
	if s.byteAt(at) != '#' {
		return at
	}
	if n := strings.IndexByte(s.text[at:min(len(s.text), at+farBack)], '\n'); n >= 0 {
		return at + n
	}
	return at
}

// block handles the lines of a block in YAML: password: | and what is further in.
func (s *scanner) block(p pair) (next int, done bool) {
	c := s.text[p.value]
	if p.sign != ':' || c != '|' && c != '>' || p.kind == query || p.kind == weak {
		return 0, false
	}
	begin, first := s.lineStart(p.start)
	at := p.value + 1
	for at < len(s.text) && strings.IndexByte("+-0123456789 \t\r", s.text[at]) >= 0 {
		at++
	}
	if s.byteAt(at) != '\n' {
		return 0, false
	}
	indent := p.start - begin
	if !first { // behind what a logger has put before it; once in a line at most
		line := strings.LastIndexByte(s.text[:p.start], '\n') + 1
		indent = s.skipBlanks(line) - line
	}
	from, to := s.indented(at+1, indent)
	if from < 0 {
		return 0, false
	}
	if !s.nothing(s.text[from:to]) {
		s.redact(from, to, "")
	}
	return to, true
}

// indented returns where the lines begin and end that are further in.
func (s *scanner) indented(at, indent int) (from, to int) {
	from, to = -1, -1
	for at < len(s.text) {
		end := len(s.text)
		if n := strings.IndexByte(s.text[at:], '\n'); n >= 0 {
			end = at + n
		}
		text := s.skipBlanks(at)
		if text < end && s.text[text] != '\r' {
			if text-at <= indent {
				break
			}
			if from < 0 {
				from = text
			}
			to = end
		}
		at = end + 1
	}
	return from, to
}
