package sanitize

import "strings"

// address handles user:password@host without a scheme, at the @: mysql's
// root:pw@tcp(db:3306)/x, svc:pw@db:5432, //svc:pw@cdn/x.
func (s *scanner) address(at int) int {
	start := s.addressStart(at)
	if start == at {
		return at + 1
	}
	word := s.text[start:at]
	relative := strings.HasPrefix(word, "//")
	word = strings.TrimPrefix(word, "//")
	user, password, both := strings.Cut(word, ":")
	start = at - len(word)
	if !both || password == "" || strings.HasPrefix(password, "//") || !all(user, isUser) && user != "" || s.isHidden(password) || s.isHidden(word) {
		return at + 1
	}
	last := s.lastAt(at)
	if !relative && !s.isTarget(last+1, password) {
		return at + 1
	}
	s.redact(start, last, "")
	return last
}

func isUser(c byte) bool { return isName(c) || c == '+' || c == '%' || c == '$' || c == '\\' }

// addressStart returns where the word begins that the @ is in.
func (s *scanner) addressStart(at int) int {
	start := at
	for least := max(s.done, at-farBack); start > least; start-- {
		c := s.text[start-1]
		if isSpace(c) || isQuote(c) && !isAlnum(s.byteAt(start-2)) || (c == '[' || c == '(' || c == '<' || c == '=') && !s.hasColon(start, at) {
			break
		}
	}
	for start < at && (s.text[start] == '[' || s.text[start] == '(' || s.text[start] == '<') {
		start++
	}
	if s.done > 0 && start == s.done {
		return at // the word begins in what was redacted
	}
	if eq := strings.IndexByte(s.text[start:at], '='); eq >= 0 && !strings.Contains(s.text[start:start+eq], ":") {
		start += eq + 1
	}
	return start
}

// hasColon says whether a user's name ends before the offset: what precedes belongs
// to a word of its own.
func (s *scanner) hasColon(start, at int) bool {
	return strings.IndexByte(s.text[start:at], ':') < 0
}

// lastAt returns the last @ of the word that has an address of a host behind it.
func (s *scanner) lastAt(at int) int {
	last := at
	for i, most := at+1, min(len(s.text), at+farBack); i < most && !isSpace(s.text[i]) && !isQuote(s.text[i]); i++ {
		if s.text[i] == '@' && s.isTarget(i+1, "") {
			last = i
		}
	}
	return last
}

// isTarget says whether what begins behind an @ is where programs connect to: a
// protocol with its address in brackets, or a host with a port. A host alone will do
// where the password looks like one.
func (s *scanner) isTarget(at int, password string) bool {
	end := s.hostEnd(at)
	if end-at > farBack {
		return false
	}
	c := s.byteAt(end)
	host := s.text[at:end]
	switch {
	case c == '(':
		return host == "" || all(host, isAlnum)
	case host == "":
		return false
	case c == ':' && isDigit(s.byteAt(end+1)):
		return !isVersion(host)
	case c == '/' && password != "":
		return looksSecret(password, false) && !strings.Contains(password, "/") && !isVersion(host) && s.isFullHost(at, end)
	}
	return false
}
