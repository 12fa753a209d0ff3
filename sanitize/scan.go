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

	lines lines // what is known of the quotes and brackets around us

	// What was looked for in vain, and up to where: not to be looked for again.
	noBracket, noField, noMixed, noEscapedAt int

	escaped int // how far a text that is escaped for a URL is known to go at least

	atSign, tag, cdata, dashes finder
}

// What a byte means to the scanner. It is looked at if the byte before may stand
// before such a one.
const (
	equals  uint8 = 1 << iota // between a name and its value
	colon                     // likewise, and in URLs
	joint                     // _ - . in the prefixes of tokens, and before options
	quote                     // begins or ends a value that has no sign
	capital                   // A, of keys that have no joint
	scheme                    // B and b, of Bearer and Basic
	inner                     // J and K, the second or third letter of a token; \ behind a colon, as in a URL that JSON escapes
	other                     // rare: always looked at
)

// hot is what the bytes mean.
var hot = [256]uint8{
	'=': equals, ':': colon,
	'_': joint, '-': joint, '.': joint,
	'\'': quote, '"': quote, '`': quote,
	'A': capital, 'B': scheme, 'b': scheme, 'J': inner, 'K': inner, '\\': inner,
	'@': other, '%': other, '>': other,
}

// near is what may follow each byte.
func near(names *endings, tokens *tokens) *[256]uint8 {
	var table [256]uint8
	for i := range table {
		c := byte(i)
		table[i] = colon | other
		letter := isLower(lower(c))
		if !letter || names.endsIn(c) {
			table[i] |= equals
		}
		if letter && names.endsIn(c) || isDigit(c) || c >= 0x80 || c == ' ' || c == '(' {
			table[i] |= quote
		}
		if tokens.lasts[c] || c <= '-' {
			table[i] |= joint
		}
		if !letter || c == 'n' || c == 'r' || c == 't' {
			table[i] |= capital | scheme
		}
		if c == 'y' || c == 'S' || c == ':' {
			table[i] |= inner
		}
	}
	return &table
}

// endsIn says whether an ending of the set may have a byte for its last.
func (e *endings) endsIn(c byte) bool {
	for before := byte(0); before < 32; before++ {
		if e[key2(before, c)] != 0 {
			return true
		}
	}
	return false
}

// run goes over the text from the offset on and stops where it is told, or a
// little further.
//
//revive:disable-next-line:cognitive-complexity because this is the loop whose speed counts: calls that are not inlined halve it
func (s *scanner) run(at, stop int) int {
	text, names, tokens, near := s.text, &s.rules.names.endings, &s.rules.tokens.endings, s.rules.near
	for at < min(3, stop) {
		at = max(at+1, s.early(at))
	}
	if at >= stop {
		return at
	}
	upto := text[:stop]
	for {
		before := upto[at-1]
		c := upto[at]
		for hot[c]&near[before] == 0 {
			at++
			if at >= len(upto) {
				return at
			}
			before, c = c, upto[at]
		}
		next := at + 1
		switch hot[c] {
		case equals, colon:
			if isLetter[before] != 0 && !names.has(text, at) && (c == '=' || at+1 >= len(text) || text[at+1] != '/') ||
				before == '"' && isLetter[text[at-2]] != 0 && !names.has(text, at-1) || isLetter[before] == 0 && !s.worthSign(at, names) {
				break
			}
			next = s.sign(at)
		case joint:
			if tokens.has(text, at) || c == '-' && before <= '-' {
				next = s.joint(at)
			}
		case quote:
			if isLetter[before] != 0 && names.has(text, at) || isDigit(before) || before >= 0x80 || c == '\'' && isLetter[before] == 0 ||
				c == '"' && before == ' ' && text[at-2]|0x20 == 'y' { // IDENTIFIED BY "x"
				next = s.quote(at)
			}
		case capital, scheme, inner:
			if at+4 < len(text) && worthwhile(c, text[at+1]) {
				next = s.capital(at)
			}
		default:
			next = s.other(at)
		}
		at = max(at+1, next)
		if at >= len(upto) {
			return at
		}
	}
}

// early handles what stands too early in the text for the tables.
func (s *scanner) early(at int) int {
	switch hot[s.text[at]] {
	case equals, colon:
		if at > 0 {
			return s.sign(at)
		}
	case joint:
		if at == 2 {
			return s.joint(at)
		}
		if at == 1 && s.text[at] == '-' && s.text[0] <= '-' {
			return s.dash(at)
		}
	case capital, scheme, inner:
		return s.capital(at)
	case other:
		return s.other(at)
	}
	return at + 1
}

// isLetter is 1 for a letter of ASCII.
var isLetter = func() (table [256]uint8) {
	for c := byte('a'); c <= 'z'; c++ {
		table[c], table[upper(c)] = 1, 1
	}
	return table
}()

// worthSign says whether a name of interest may stand before a sign, by its last
// letters. Letters beyond ASCII, blanks and the like are looked at more closely.
func (s *scanner) worthSign(at int, names *endings) bool {
	text := s.text
	c := text[at-1]
	switch {
	case c == '"' || c == '\'':
		c = text[at-2]
		return names.has(text, at-1) || isDigit(c) || c == '\\' || c >= 0x80
	case isDigit(c):
		if text[at] == ':' && at+1 < len(text) && (text[at+1] == '/' || text[at+1] == 'A') {
			return true
		}
		end := at - 1
		for least := max(0, at-3); end > least && isDigit(text[end-1]); end-- {
		}
		return end > 0 && !isDigit(text[end-1]) && names.has(text, end)
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
