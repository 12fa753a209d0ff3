package sanitize

import "strings"

// isDone says whether a URL was sanitised before at the offset: the place of its
// password is taken, or a mask stands where another rule puts one. Such a rule may
// have taken away the blank where the URL ended, so it ends at the mask. Any other
// run of asterisks is part of a password.
func (s *scanner) isDone(start, at int) bool {
	if !strings.HasPrefix(s.text[at:], mask) {
		return false
	}
	front := s.text[start:at]
	if front == "" || strings.IndexByte(front, ':') == len(front)-1 {
		if strings.HasPrefix(strings.TrimLeft(s.text[at:], "*"), "@") {
			return true
		}
	}
	if front == "" {
		return false
	}
	last := front[len(front)-1]
	if isQuote(last) || last == '[' || last == '>' {
		return true
	}
	if last != '=' && last != ':' {
		return false
	}
	end := len(strings.TrimRight(front, "=:"))
	name := end
	for name > 0 && isName(front[name-1]) {
		name--
	}
	if name == end { // what is no name's end; but a quote or an index may close a name
		return end > 0 && (isQuote(front[end-1]) || front[end-1] == ']')
	}
	return classify(front[name:end]) != plain || name > 0 && front[name-1] == '\\'
}
