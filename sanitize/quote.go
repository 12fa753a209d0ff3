package sanitize

import "strings"

// quote handles a quote without a sign: SQL's PASSWORD 'x' and IDENTIFIED BY "x", and
// lists of names and values, ('Authorization', 'Bearer x').
func (s *scanner) quote(at int) int {
	before := s.text[at-1]
	switch {
	case before == ' ' || before == '(':
		return s.sql(at)
	case isAlnum(before):
		return s.tuple(at)
	}
	return at + 1
}

// sql handles a string behind a word that says what it is.
func (s *scanner) sql(at int) int {
	end := at
	for least := max(s.done, at-8); end > least && (isBlank(s.text[end-1]) || s.text[end-1] == '('); end-- {
	}
	sign := s.text[at : at+1]
	if end > s.done && s.text[end-1] == '=' && sign == "'" {
		return s.setPassword(at, end-1)
	}
	if end <= s.done || !isAlnum(s.text[end-1]) {
		return at + 1
	}
	start := s.nameStart(end)
	name := s.text[start:end]
	switch {
	case strings.EqualFold(name, "by"), strings.EqualFold(name, "as"):
		from := max(s.done, start-maxName)
		if indexFold(s.text[from:start], "IDENTIFIED") < 0 {
			return at + 1
		}
	case sign != "'":
		return at + 1 // a name, as it is written in SQL
	case strings.EqualFold(name, "password"):
	case !s.mayEnd(end) || !all(name, func(c byte) bool { return isUpper(c) || c == '_' }) || s.rules.names.of(name) < secret:
		return at + 1
	}
	return s.quoted(pair{kind: secret, start: start, end: end, sign: '=', after: true, value: at}, sign)
}

// setPassword handles SET PASSWORD FOR name = 'x'.
func (s *scanner) setPassword(at, equals int) int {
	from := max(s.done, equals-maxName)
	if indexFold(s.text[from:equals], "SET PASSWORD FOR ") < 0 {
		return at + 1
	}
	return s.quoted(pair{kind: secret, start: from, end: equals, sign: '=', after: true, value: at}, "'")
}

// tuple handles a name and its value as two strings in brackets of their own.
func (s *scanner) tuple(at int) int {
	if !s.mayEnd(at) {
		return at + 1
	}
	start := s.nameStart(at)
	open := start - 1
	for open > s.done && s.text[open-1] == '\\' {
		open--
	}
	closing := s.quoteAt(s.slashesBefore(at))
	if open <= s.done || s.text[start-1] != s.text[at] || closing != s.text[open:start] {
		return at + 1
	}
	c := s.byteAt(open - 1)
	if c != '(' && c != '[' && c != '{' {
		return at + 1
	}
	k := s.rules.names.of(s.text[start:at])
	comma := s.skipBlanks(at + 1)
	if c == '[' && k < header && strings.IndexByte(s.text[start:at], '-') < 0 {
		return at + 1 // a list of words
	}
	if k < plural || s.byteAt(comma) != ',' {
		return at + 1
	}
	begin := s.prefixed(pair{quote: closing}, s.skipSpace(comma+1))
	quote := s.quoteAt(begin)
	if quote == "" {
		return at + 1
	}
	_, end, next := s.inQuotes(begin+len(quote), quote)
	if c := s.byteAt(s.skipSpace(next)); c != ')' && c != ']' && c != '}' || s.rules.names.of(s.text[begin+len(quote):end]) != plain {
		return at + 1
	}
	return s.quoted(pair{kind: k, quote: closing, sign: ':', value: begin}, quote)
}

// slashesBefore is where the backslashes begin before the offset.
func (s *scanner) slashesBefore(at int) int {
	for at > s.done && s.text[at-1] == '\\' {
		at--
	}
	return at
}
