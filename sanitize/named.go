package sanitize

import "strings"

// named handles a name that is told by another, at the sign behind the first:
// {"name": "DB_PASSWORD", "value": "x"}, key="password" value="x". It returns where
// to go on, the sign's own offset if there is nothing of the kind.
func (s *scanner) named(p pair, at int) int {
	if !oneOf(nameWords[:], s.text[p.start:p.end]) || !s.joined(&p, at) {
		return at
	}
	sign := at
	if s.closesText(p.value) {
		return sign
	}
	quote := s.quoteAt(p.value)
	start := p.value + len(quote)
	end := s.nameEnd(start)
	if end == start || end-start > maxName || s.quoteAt(end) != quote && quote != "" || s.rules.names.of(s.text[start:end]) < plural {
		return sign
	}
	at = end + len(quote)
	next := at
	for next < len(s.text) && next-at < maxName && (isSpace(s.text[next]) || s.text[next] == ',' || s.text[next] == '-') {
		next++
	}
	open := s.quoteAt(next)
	name := next + len(open)
	last := s.nameEnd(name)
	if next == at || last == name || !oneOf(valueWords[:], s.text[name:last]) {
		return at
	}
	mark := s.skipBlanks(last + len(open))
	if c := s.byteAt(mark); c != '=' && c != ':' {
		return at
	}
	v := pair{kind: secret, start: name, end: last, quote: s.quoteAt(last), sign: s.text[mark], before: mark > last+len(open)}
	if !s.joined(&v, mark) {
		return at
	}
	if v.sign == ':' && v.quote == "" && v.after && s.quoteAt(v.value) == "" { // YAML
		end := s.lineEnd(v.value)
		value := strings.TrimRight(s.text[v.value:end], " \t\r")
		if !s.nothing(value) {
			s.redact(v.value, v.value+len(value), "")
			return v.value + len(value)
		}
		return v.value
	}
	return s.pair(v)
}
