package sanitize

import "strings"

// The errors of net/url quote what they could not parse, the password once more:
//
//	parse "postgres://app:F4KE/x": invalid port ":F4KE" after host

// The beginnings of what follows the quoted URL, up to the quote of its part.
var urlComplaints = [...]string{`: invalid port `, `: invalid URL escape `}

// unparsed handles a URL without an @ that could not be parsed: what stands where
// the port should be is a password. It returns the offset itself if there is none.
func (s *scanner) unparsed(start int) int {
	scheme := s.schemeEnd(start)
	for least := max(s.done, scheme-16); scheme > least && (isName(s.text[scheme-1]) || s.text[scheme-1] == '+'); scheme-- {
	}
	quote := scheme - 1
	for quote > s.done && s.text[quote-1] == '\\' {
		quote--
	}
	if quote < len("parse ") || !isQuote(s.text[scheme-1]) || s.text[quote-len("parse "):quote] != "parse " {
		return start
	}
	end, next := s.quoteEnd(start, s.text[quote:scheme])
	if s.byteAt(next) != ':' {
		return start
	}
	authority := s.text[start:end]
	if at := strings.IndexAny(authority, "/?#"); at >= 0 && !strings.HasPrefix(s.text[next:], ": invalid port") {
		authority = authority[:at]
	}
	_, port, found := strings.Cut(authority, ":")
	if !found || !s.isPort(start, port) {
		return s.complaint(end)
	}
	if port == "" || all(strings.TrimRight(port, "/"), isDigit) || s.nothing(port) || strings.HasPrefix(authority, "[") {
		return start
	}
	s.redact(start, end, "")
	return s.complaint(end)
}

// isPort says whether what stands in the place of a port is a word that says so, and
// no password.
func (s *scanner) isPort(start int, port string) bool {
	port, _, _ = strings.Cut(port, "/")
	if s.isWeb(start) && len(port) <= 8 && all(port, isLower) {
		return false
	}
	return port != "port" && !s.nothing(port)
}

// complaint takes the part of the URL that was redacted out of the text that follows
// its end, somewhat further.
func (s *scanner) complaint(end int) int {
	if s.done == 0 || s.done < end {
		return end
	}
	near := s.text[end:min(len(s.text), end+farBack)]
	for _, words := range urlComplaints {
		n := strings.Index(near, words)
		if n < 0 {
			continue
		}
		from := end + n + len(words)
		quote := s.quoteAt(from)
		if quote == "" {
			continue
		}
		from += len(quote)
		to, next := s.quoteEnd(from, quote)
		from += len(s.text[from:to]) - len(strings.TrimLeft(s.text[from:to], ":"))
		if from < to && !all(s.text[from:to], isDigit) && s.text[from:to] != s.rules.mask {
			s.redact(from, to, "")
		}
		return next
	}
	return end
}
