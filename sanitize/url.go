package sanitize

import "strings"

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
	case info == "", isHidden(info), both && isHidden(password):
		return end
	case !both && (oneOf(plainUsers[:], user) || s.isShell(start)):
		return end
	}
	s.redact(start, end, "")
	return end
}

// isShell says whether the URL is one of a protocol in which the user's name
// alone is never a secret.
func (s *scanner) isShell(start int) bool {
	before := s.text[:start-len("://")]
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
		case isSpace(c), isQuote(c) && s.closes(at), c == ':' && strings.HasPrefix(s.text[at:], "://"),
			c == '*' && s.isDone(start, at): // nothing is left beyond
			return last
		case (c == '/' || c == '?' || c == '#') && !path:
			path = true
			front := s.text[start:at]
			inside = last < 0 && !s.isHost(start, at)
			maybe = last >= 0 || strings.IndexByte(front, ':') >= 0 && !s.isWeb(start)
		case c == '@':
			host := s.hostEnd(at + 1)
			if !path || inside && (host > at+1 || !s.isWeb(start)) || maybe && s.isFullHost(at+1, host) {
				last = at
			}
		}
	}
	return last
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
	before := s.text[:start-len("://")]
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
