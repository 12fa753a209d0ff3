package sanitize

import "strings"

// address handles user:password@host without a scheme, at the @: mysql's
// root:pw@tcp(db:3306)/x, svc:pw@db:5432, //svc:pw@cdn/x.
func (s *scanner) address(at int) int {
	begin := s.wordStart(at)
	if at-begin == farBack {
		return at + 1 // no user's name in sight
	}
	word := s.text[begin:at]
	colon := strings.IndexByte(word, ':')
	if colon < 0 {
		return s.slashed(begin, at)
	}
	if word, colon = s.unnamed(word, colon, at); colon < 0 {
		return at + 1
	}
	password := word[colon+1:]
	user := colon
	for user > 0 && isUser(word[user-1]) {
		user--
	}
	start := at - len(word) + user
	if oneOf(addressSchemes[:], word[user:colon]) || word[user:colon] == "jdbc" && strings.HasSuffix(password, ":") {
		return at + 1
	}
	relative := strings.HasSuffix(word[:user], "//")
	if password == "" || user == colon && !relative || strings.HasPrefix(password, "//") || s.isHidden(password) || user > 0 && (isAlnum(word[user-1]) || word[user-1] == '/' && !relative) {
		return at + 1
	}
	last := s.lastAt(at)
	if !relative && !s.isTarget(last+1, password) {
		return at + 1
	}
	s.redact(start, last, "")
	return last
}

// unnamed takes a name off before a user and a password in quotes, "dsn":"app:pw. The
// colon is -1 if there is only a user in the quotes, which close: User:"bob@host:22".
func (s *scanner) unnamed(word string, colon, at int) (string, int) {
	for {
		start := colon + 1
		for start < len(word) && word[start] == '\\' {
			start++
		}
		if start == len(word) || !isQuote(word[start]) {
			return word, colon
		}
		next := strings.IndexByte(word[start+1:], ':')
		if next < 0 {
			if strings.IndexByte(word[start+1:], word[start]) < 0 && s.quotedUpTo(at, word[start]) {
				return word, -1
			}
			return word, colon
		}
		word, colon = word[start+1:], next
	}
}

// quotedUpTo says whether the word at the offset ends with a quote.
func (s *scanner) quotedUpTo(at int, quote byte) bool {
	for most := min(len(s.text), at+farBack); at < most && !isSpace(s.text[at]); at++ {
		if s.text[at] == quote {
			return true
		}
	}
	return false
}

func isUser(c byte) bool { return isName(c) || c == '+' || c == '%' || c == '$' || c == '\\' }

// wordStart returns where the word begins that the @ is in, or far enough before it,
// or behind what was redacted.
func (s *scanner) wordStart(at int) int {
	least := max(s.done, at-farBack)
	for at > least && !isSpace(s.text[at-1]) {
		at--
	}
	return at
}

// slashed handles the credentials of Oracle before an address: scott/pw@//db:1521/x.
func (s *scanner) slashed(begin, at int) int {
	if !strings.HasPrefix(s.text[at+1:], "//") || !isAlnum(s.byteAt(at+len("@//"))) {
		return at + 1
	}
	for begin < at && (isQuote(s.text[begin]) || closer(s.text[begin]) != 0) {
		begin++
	}
	user, password, _ := strings.Cut(s.text[begin:at], "/")
	if user == "" || password == "" || !all(user, isUser) || s.isHidden(password) {
		return at + 1
	}
	s.redact(begin, at, "")
	return at
}

// lastAt returns the last @ of the word that has an address of a host behind it.
func (s *scanner) lastAt(at int) int {
	last := at
	for i, most := at+1, min(len(s.text), at+farBack); i < most && !isSpace(s.text[i]) && !(isQuote(s.text[i]) && s.closes(i, at)); i++ {
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
		return host == "" || oneOf(protocols[:], host)
	case host == "": // no address: user:pw@/db
		path := end + 1
		if s.byteAt(path) == '/' {
			path++
		}
		return c == '/' && isAlnum(s.byteAt(path)) && (password == "" || isAlnum(password[0]) && !isQuote(password[len(password)-1]))
	case c == ':' && s.isPortAt(end+1):
		return !isVersion(host)
	case c == '/' && password != "":
		return looksSecret(password, false) && !strings.Contains(password, "/") && !isVersion(host) && s.isFullHost(at, end)
	}
	return false
}

// isPortAt says whether a number of at most five digits stands at the offset.
func (s *scanner) isPortAt(at int) bool {
	end := at
	for isDigit(s.byteAt(end)) && end-at < 6 {
		end++
	}
	return at < end && end-at < 6 && !isAlnum(s.byteAt(end))
}
