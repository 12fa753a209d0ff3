package sanitize

import "strings"

// escapedSign is how the sign behind a scheme may stand in JSON.
const escapedSign = `:\/\/`

// url handles a URL at the sign behind its scheme.
func (s *scanner) url(sign int) int {
	start := sign + len("://")
	if s.text[sign+1] == '\\' {
		start = sign + len(escapedSign)
	}
	next := start
	if s.atSign.next(s.text, "@", start) < len(s.text) {
		next = s.credentials(start)
	}
	if next == start {
		next = s.unparsed(start)
	}
	if len(s.rules.paths) > 0 {
		next = max(next, s.path(next))
	}
	return next
}

// credentials handles what stands between "://" and the host of a URL. Programs
// print URLs that were never valid, so a password may hold anything but a blank:
// the last @ that leaves a host counts. Returns where to go on.
func (s *scanner) credentials(start int) int {
	end := s.userinfoEnd(start)
	if end < 0 {
		return start
	}
	info := s.text[start:end]
	user, password, both := strings.Cut(info, ":")
	switch {
	case info == "", s.isHidden(info), both && s.isHidden(password):
		return end
	case !both && (oneOf(plainUsers[:], user) || s.isShell(start)):
		return end
	}
	s.redact(start, end, "")
	return s.complaint(end)
}

// schemeEnd is where the scheme ends of a URL whose host begins at the offset.
func (s *scanner) schemeEnd(start int) int {
	if s.text[start-2] == '\\' {
		return start - len(escapedSign)
	}
	return start - len("://")
}

// isShell says whether the URL is one of a protocol in which the user's name
// alone is never a secret.
func (s *scanner) isShell(start int) bool {
	before := s.text[:s.schemeEnd(start)]
	return strings.HasSuffix(before, "ssh") || strings.HasSuffix(before, "sftp")
}

// userinfoEnd returns the offset of the @ before the host, -1 if the URL has
// no credentials. Where a path has begun, an @ may be part of it:
// https://host/@user, http://host:8080/pkg@v1.
func (s *scanner) userinfoEnd(start int) int {
	last := -1      // the @ that counts so far
	path := false   // a path, query or fragment seems to have begun
	inside := false // no: the slash belongs to a password
	maybe := false  // what precedes could be host:port, or a password that begins like one
	for at := start; at < len(s.text); at++ {
		switch c := s.text[at]; {
		case c == '@':
			host := s.hostEnd(at + 1)
			if !path || inside && (host > at+1 || !s.isWeb(start)) || maybe && s.isFullHost(at+1, host) {
				last = at
			}
		case (c == '?' || c == ';') && last < 0 && s.isHostPort(start, at) && s.pairFollows(at+1, '='):
			return last // from here on, settings
		case (c == '/' || c == '?' || c == '#') && !path:
			path = true
			front := strings.TrimSuffix(s.text[start:at], `\`)
			inside = last < 0 && !s.isHost(start, start+len(front))
			maybe = last >= 0 || strings.IndexByte(front, ':') >= 0 && !s.isWeb(start)
		case s.endsURL(start, at, last), c == ':' && (strings.HasPrefix(s.text[at:], "://") || strings.HasPrefix(s.text[at:], escapedSign)),
			c == '*' && s.isDone(start, at): // nothing is left beyond
			return last
		}
	}
	return last
}

// isHostPort says whether what precedes the settings of a URL is where it leads to: a
// host, with or without a port and a path.
func (s *scanner) isHostPort(start, end int) bool {
	host, _, _ := strings.Cut(s.text[start:end], "/")
	_, port, _ := strings.Cut(host, ":")
	if port == "" || all(port, isDigit) || host[0] == '[' {
		return true
	}
	return isDigit(port[0]) && strings.IndexByte(port, ',') > 0 && all(port, func(c byte) bool { return isName(c) || c == ':' || c == ',' })
}

// endsURL says whether the URL ends at the offset: at a quote that closes, and at a
// blank, unless the URL stands in quotes by itself, and the blank in its password.
func (s *scanner) endsURL(start, at, last int) bool {
	c := s.text[at]
	switch {
	case isQuote(c):
		return s.closes(at, start)
	case c == ' ':
		return last >= 0 || !s.isQuoted(start) || !s.isPassword(start, at)
	}
	return isSpace(c)
}

// isQuoted says whether a quote stands before the scheme of the URL.
func (s *scanner) isQuoted(start int) bool {
	scheme := s.schemeEnd(start)
	for least := max(0, scheme-16); scheme > least && (isName(s.text[scheme-1]) || s.text[scheme-1] == '+'); scheme-- {
	}
	return scheme > 0 && isQuote(s.text[scheme-1])
}

// isPassword says whether what stands between a scheme and a blank is a user and the
// begin of a password, rather than hosts.
func (s *scanner) isPassword(start, end int) bool {
	_, password, both := strings.Cut(s.text[start:end], ":")
	return both && password != "" && !all(password, isDigit) && strings.IndexByte(password, '/') < 0 && end-start < farBack
}

// isDone says whether a URL was sanitised before at the offset, by the mask in the
// place of its password.
func (s *scanner) isDone(start, at int) bool {
	front := s.text[start:at]
	if front != "" && strings.IndexByte(front, ':') != len(front)-1 {
		return false
	}
	return strings.HasPrefix(s.text[at:], s.rules.mask) && strings.HasPrefix(strings.TrimLeft(s.text[at:], "*"), "@")
}

// isHost says whether the text before a path is a host with or without a port,
// or several, rather than the begin of a password with a slash in it. A number may
// be either; only on the web an @ behind it is more likely in the path.
func (s *scanner) isHost(start, end int) bool {
	text := s.text[start:end]
	if strings.HasPrefix(text, "[") {
		return true
	}
	for more := true; more; {
		var host string
		host, text, more = strings.Cut(text, ",")
		if _, port, found := strings.Cut(host, ":"); found && !(s.isWeb(start) && all(port, isDigit)) {
			return false
		}
	}
	return true
}

// isWeb says whether the URL's paths may well hold an @.
func (s *scanner) isWeb(start int) bool {
	before := s.text[:s.schemeEnd(start)]
	return strings.HasSuffix(before, "http") || strings.HasSuffix(before, "https")
}

// hostEnd returns where the host that begins at the offset ends.
func (s *scanner) hostEnd(at int) int {
	if s.byteAt(at) == '[' {
		for at++; at < len(s.text) && (isName(s.text[at]) || s.text[at] == ':' || s.text[at] == '%'); at++ {
		}
		return at
	}
	for at < len(s.text) && (isName(s.text[at]) || s.text[at] == '%' || s.text[at] >= 0x80) {
		at++
	}
	return at
}

// isFullHost says whether a host where a path could be is clearly one: it has
// a port, or it is an address or a domain and not a version.
func (s *scanner) isFullHost(start, end int) bool {
	if start == end {
		return false
	}
	if s.text[start] == '[' || s.byteAt(end) == ':' && isDigit(s.byteAt(end+1)) {
		return true
	}
	host := s.text[start:end]
	dot := strings.LastIndexByte(host, '.')
	if dot > 0 && all(host[dot+1:], isLower) {
		return true
	}
	return strings.Count(host, ".") == 3 && all(host, func(c byte) bool { return isDigit(c) || c == '.' })
}
