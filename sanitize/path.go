package sanitize

import (
	"fmt"
	"strings"
)

// PathRule says which segments of the paths of a host are secrets.
type PathRule struct {
	// Host is a name without a port: "hooks.example.com"; "*.example.com" is every
	// host below it.
	Host string

	// Path is a pattern of segments from the first on: a word stands for itself, "*"
	// for any segment, "***" for one that is a secret. What follows the pattern in a
	// URL does not matter: "/services/*/***".
	Path string
}

type pathRule struct {
	host     string
	below    bool
	segments []string
}

func compilePaths(rules []PathRule) ([]pathRule, error) {
	var out []pathRule
	for _, rule := range rules {
		r := pathRule{host: strings.ToLower(rule.Host), segments: strings.Split(strings.Trim(rule.Path, "/"), "/")}
		r.host, r.below = strings.CutPrefix(r.host, "*")
		if len(r.host) < 2 || !strings.Contains(rule.Path, mask) {
			return nil, fmt.Errorf("%w: path rule %q %q: want a host, and a path with *** in it", ErrOptions, rule.Host, rule.Path)
		}
		out = append(out, r)
	}
	return out, nil
}

// path masks what is secret in the path of a URL whose host begins at the offset. It
// returns where to go on.
func (s *scanner) path(at int) int {
	if s.byteAt(at) == '@' {
		at++
	}
	end := s.hostEnd(at)
	host := s.text[at:end]
	for s.byteAt(end) == ':' || end < len(s.text) && isDigit(s.text[end]) {
		end++
	}
	if s.byteAt(end) != '/' {
		return at
	}
	for _, rule := range s.rules.paths {
		if !rule.matches(host) {
			continue
		}
		if next := s.segments(end, rule.segments); next > end {
			return next
		}
	}
	return at
}

func (r pathRule) matches(host string) bool {
	if r.below {
		return len(host) > len(r.host) && strings.EqualFold(host[len(host)-len(r.host):], r.host)
	}
	return strings.EqualFold(host, r.host)
}

// segments masks those that a pattern names. It returns the offset itself if the path
// is another one.
func (s *scanner) segments(start int, pattern []string) int {
	at := start
	for _, want := range pattern {
		if s.byteAt(at) != '/' {
			return start
		}
		end := s.segmentEnd(at + 1)
		if segment := s.text[at+1 : end]; segment == "" || want[0] != '*' && segment != want {
			return start
		}
		at = end
	}
	at = start
	for _, want := range pattern {
		end := s.segmentEnd(at + 1)
		if want == mask && !s.isHidden(s.text[at+1:end]) {
			s.redact(at+1, end, "")
		}
		at = end
	}
	return at
}

func (s *scanner) segmentEnd(at int) int {
	for at < len(s.text) && !isSpace(s.text[at]) && strings.IndexByte(`/?#"'<>\,)`, s.text[at]) < 0 {
		at++
	}
	return at
}
