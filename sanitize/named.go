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
	for quote != "" && s.byteAt(end) == '/' { // of a store, in which names are paths
		end = s.nameEnd(end + 1)
	}
	if end == start || end-start > maxName || s.quoteAt(end) != quote && quote != "" || s.rules.names.of(s.text[start:end]) < plural {
		return sign
	}
	return s.beside(secret, end+len(quote), quote)
}

// wrapped handles a value that stands in an object with what is said of it, as Terraform
// prints it: {"db_password": {"sensitive": true, "value": "x"}}. It returns where to go
// on, 0 if there is no object.
func (s *scanner) wrapped(p pair) int {
	if p.quote == "" || p.sign != ':' || p.kind != secret && p.kind != plural || s.byteAt(p.value) != '{' {
		return 0
	}
	return max(p.value+1, s.beside(p.kind, p.value, p.quote))
}

// beside handles the value, of that kind, whose name stands behind the offset: value. It
// returns where to go on.
func (s *scanner) beside(k kind, at int, quote string) int {
	name, last, ok := s.valueName(at, quote)
	if !ok {
		return at
	}
	mark := s.skipBlanks(last + len(s.quoteAt(last)))
	if c := s.byteAt(mark); c != '=' && c != ':' {
		return at
	}
	v := pair{kind: k, start: name, end: last, quote: s.quoteAt(last), sign: s.text[mark], before: mark > last+len(s.quoteAt(last))}
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

// valueName returns where the name of the value stands that belongs to what ends at the
// offset. In a list in quotes a few others may come first.
func (s *scanner) valueName(at int, quote string) (name, last int, ok bool) {
	for range 4 {
		next := at
		for next < len(s.text) && next-at < maxName && (isSpace(s.text[next]) || s.text[next] == ',' || s.text[next] == '-' || s.text[next] == '{') {
			next++
		}
		name = next + len(s.quoteAt(next))
		last = s.nameEnd(name)
		if next == at || last == name || last-name > maxName {
			return 0, 0, false
		}
		if oneOf(valueWords[:], s.text[name:last]) {
			return name, last, true
		}
		if at = s.scalarEnd(last, quote); at < 0 {
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// scalarEnd is where the short value ends of the name in quotes that ends at the offset;
// -1 if there is none.
func (s *scanner) scalarEnd(at int, quote string) int {
	if quote == "" || s.quoteAt(at) != quote {
		return -1
	}
	at = s.skipBlanks(at + len(quote))
	if s.byteAt(at) != ':' {
		return -1
	}
	at = s.skipBlanks(at + 1)
	if s.quoteAt(at) != quote {
		if end := s.nameEnd(at); end > at && end-at <= maxName {
			return end
		}
		return -1
	}
	at += len(quote)
	n := strings.Index(s.text[at:min(len(s.text), at+maxName)], quote)
	if n < 0 {
		return -1
	}
	return at + n + len(quote)
}
