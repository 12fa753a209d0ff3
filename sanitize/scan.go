package sanitize

import "strings"

// mask is what stands in the place of a secret, where the options say nothing
// else.
const mask = "***"

// scanner goes over the text once, from left to right. Text that needs no
// change is not copied until the first secret is found.
//
// A table finds the few bytes at which something can begin or be told: the signs
// of pairs, quotes, dashes, the joints of known tokens. From there the scanner
// looks back, a bounded way, for a name, and forward for the extent of the value,
// which is then passed over. What was looked for in vain is remembered, so that no
// byte is looked at over and over: the work grows with the length of the text,
// whatever the text.
type scanner struct {
	text  string
	rules *rules
	out   strings.Builder
	done  int // text[:done] is in out

	lines   lines // what is known of the quotes and brackets around us
	pending int   // where a value begins that an earlier name has made a secret

	// What was looked for in vain, and up to where: not to be looked for again.
	noBracket, noField int

	atSign, tag, cdata, dashes finder
}

// What a byte means to the scanner.
const (
	cold    = iota
	sign    // = and :, between a name and its value
	joint   // _ - . in the prefixes of tokens
	quote   // begins or ends a value that has no sign
	capital // begins a token without a joint, or a scheme
	other   // rare: always looked at
)

var hot = heat()

func heat() (table [256]uint8) {
	for c, what := range map[byte]uint8{
		'=': sign, ':': sign,
		'_': joint, '-': joint, '.': joint,
		'\'': quote, '"': quote, '`': quote,
		'A': capital, 'J': capital, 'B': capital, 'b': capital, 'K': capital,
		'@': other, '%': other, '>': other,
	} {
		table[c] = what
	}
	return table
}

// run goes over the text from the offset on and stops where it is told, or a
// little further.
func (s *scanner) run(at, stop int) int {
	text, names, tokens := s.text, &s.rules.names.endings, &s.rules.tokens.endings
	for at < stop {
		c := text[at]
		switch hot[c] {
		case cold:
			at++
			continue
		case sign:
			if at < 3 || !s.worthSign(at, names) {
				at = max(at+1, s.early(at))
				continue
			}
			at = max(at+1, s.sign(at))
		case joint:
			if at < 3 || !tokens.has(text, at) && !(c == '-' && text[at-1] <= '-') {
				at = max(at+1, s.early(at))
				continue
			}
			at = max(at+1, s.joint(at))
		case quote:
			if at < 3 || !(isAlnum(text[at-1]) && names.has(text, at) || c == '\'' && (text[at-1] == ' ' || text[at-1] == '(')) {
				at++
				continue
			}
			at = max(at+1, s.quote(at))
		case capital:
			if at+4 >= len(text) || !worthwhile(c, text[at+1]) {
				at++
				continue
			}
			at = max(at+1, s.capital(at))
		default:
			at = max(at+1, s.other(at))
		}
	}
	return at
}

// early handles signs and joints that stand too early in the text for the tables.
func (s *scanner) early(at int) int {
	switch {
	case at >= 3 || at == 0:
		return at + 1
	case hot[s.text[at]] == sign:
		return s.sign(at)
	case at == 2:
		return s.joint(at)
	case s.text[at] == '-' && s.text[at-1] <= '-':
		return s.dash(at)
	}
	return at + 1
}

// worthSign says whether a name of interest may stand before a sign, by its last
// letters. Letters beyond ASCII, blanks and the like are looked at more closely.
func (s *scanner) worthSign(at int, names *endings) bool {
	text := s.text
	c := text[at-1]
	switch {
	case isLower(c) || isUpper(c):
		return names.has(text, at) || text[at] == ':' && at+1 < len(text) && text[at+1] == '/'
	case c == '"' || c == '\'':
		c = text[at-2]
		return names.has(text, at-1) || isDigit(c) || c == '\\' || c >= 0x80
	case isDigit(c):
		if c = text[at-2]; !isDigit(c) {
			return names.has(text, at-1) || text[at] == ':' && at+1 < len(text) && text[at+1] == '/'
		}
		return text[at] == ':' && at+1 < len(text) && text[at+1] == 'A' || !isDigit(text[at-3])
	}
	return true
}

// worthwhile says whether what a capital begins may be of interest, by the letter
// behind it.
func worthwhile(c, next byte) bool {
	switch c {
	case 'A':
		return isUpper(next)
	case 'B', 'b':
		next |= 0x20
		return next == 'e' || next == 'a'
	}
	return true
}

// other handles the bytes that are rare.
func (s *scanner) other(at int) int {
	switch s.text[at] {
	case '@':
		return s.address(at)
	case '%':
		return s.percent(at)
	default:
		return s.element(at)
	}
}

// redact puts the mask in the place of text[from:to], between the quotes where
// the value had none but needs them.
func (s *scanner) redact(from, to int, quote string) {
	s.lines.pass(s.text, from, to)
	if s.out.Len() == 0 {
		s.out.Grow(len(s.text) + 16)
	}
	s.out.WriteString(s.text[s.done:from])
	s.out.WriteString(quote)
	s.out.WriteString(s.rules.mask)
	s.out.WriteString(quote)
	s.done = to
}

func (s *scanner) result() string {
	if s.done == 0 {
		return s.text
	}
	s.out.WriteString(s.text[s.done:])
	return s.out.String()
}

// nameEnd returns where the run of name bytes that begins at the offset ends.
func (s *scanner) nameEnd(at int) int {
	for at < len(s.text) && isName(s.text[at]) {
		at++
	}
	return at
}

// nameStart returns where the run of name bytes that ends at the offset begins, or
// the last of it.
func (s *scanner) nameStart(at int) int {
	for least := max(s.done, at-maxName); at > least && (isName(s.text[at-1]) || s.text[at-1] >= 0x80); at-- {
	}
	return at
}

func (s *scanner) skipBlanks(at int) int {
	for at < len(s.text) && isBlank(s.text[at]) {
		at++
	}
	return at
}

// quoteAt returns the quote at the offset together with the backslashes before
// it, which say how deep it is nested: ", \", \\\" and so on. "" if there is
// none, or if the last backslash is escaped itself.
func (s *scanner) quoteAt(at int) string {
	end := at
	for end < len(s.text) && s.text[end] == '\\' {
		end++
	}
	if n := end - at; end < len(s.text) && isQuote(s.text[end]) && n&(n+1) == 0 {
		return s.text[at : end+1]
	}
	return ""
}

// byteAt is 0 beyond the end and before the begin.
func (s *scanner) byteAt(at int) byte {
	if at >= 0 && at < len(s.text) {
		return s.text[at]
	}
	return 0
}

// hasAt says whether the text goes on like this, in small letters or capitals.
func (s *scanner) hasAt(at int, word string) bool {
	return at >= 0 && len(s.text)-at >= len(word) && strings.EqualFold(s.text[at:at+len(word)], word)
}

// finder remembers where something was found, or that it is not there.
type finder struct {
	from, at int
	used     bool
}

// next returns the offset of the first needle from the offset on, the length of
// the text if there is none.
func (f *finder) next(text, needle string, from int) int {
	if f.used && f.from <= from && from <= f.at {
		return f.at
	}
	f.used, f.from, f.at = true, from, len(text)
	if n := strings.Index(text[from:], needle); n >= 0 {
		f.at = from + n
	}
	return f.at
}
