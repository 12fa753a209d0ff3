package sanitize

import "strings"

// isLoose says whether a word is the value in "password= word". Here a blank may
// also mean that there is no value, and the word is something else.
func (s *scanner) isLoose(p pair, value string) bool {
	if p.sign != '=' || p.before || !p.after {
		return false
	}
	switch {
	case p.start > 0 && strings.IndexByte("?&", s.text[p.start-1]) >= 0: // a URL's query, which the blank ends
		return false
	case closer(value[0]) != 0, isPair(value, "="): // what is inside has names of its own
		return false
	case oneOf(complaints[:], value), oneOf(remarks[:], value), !saysSomething(value):
		return false
	}
	end := s.nameEnd(p.value)
	follow := s.skipBlanks(end)
	if c := s.byteAt(follow); c != '=' && c != ':' {
		return true
	}
	return s.rules.names.of(s.text[p.value:end]) == plain // the next name, of a secret as well: its value counts
}

// saysSomething says whether there is more to a word than punctuation.
func saysSomething(word string) bool {
	return !all(word, func(c byte) bool { return !isAlnum(c) && c < 0x80 })
}
