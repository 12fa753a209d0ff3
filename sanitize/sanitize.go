// Package sanitize takes secrets out of text that is about to be logged, shown
// or put into an error.
//
// It knows what secrets look like when programs print them:
//
//	postgres://user:pass@host        ->  postgres://***@host
//	password=hunter2                 ->  password=***
//	DB_PASSWORD: hunter2             ->  DB_PASSWORD: ***
//	Authorization: Bearer abc        ->  Authorization: ***
//	{'api_key': 'abc', "token": 1}   ->  {'api_key': '***', "token": "***"}
//
// and leaves alone what merely speaks of them: "token expired", "password must
// be set", max_tokens=5, token_endpoint=https://idp.example/token. A log that
// hides the error is no use either.
//
// It works on form, by the name in front of a value. A secret that stands in
// running text without a name, in the path of a URL or inside an encoding is
// not found: do not log what you know to be one.
//
// All functions are safe for concurrent use and keep no state. They accept any
// bytes; text that was valid UTF-8 stays valid. The work grows linearly with
// the length of the text.
package sanitize

import "strings"

// mask is what stands in the place of a secret.
const mask = "***"

// String returns text with its secrets replaced by "***". Everything else comes
// back byte for byte, line breaks included; text without a secret is returned
// as it is, at no allocation. What was sanitised before does not change again.
func String(text string) string {
	s := scanner{text: text}
	for at := 0; at < len(text); {
		at = s.step(at)
	}
	return s.result()
}

// scanner goes over the text once, from left to right. Text that needs no
// change is not copied until the first secret is found.
type scanner struct {
	text string
	out  strings.Builder
	done int // text[:done] is in out

	depth int // brackets open on this line; it tells a printed struct from prose

	// What was looked for in vain, and up to where: not to be looked for again.
	noBracket, noField int

	tag   int // the next <, unless it is behind us
	ahead int // bytes looked through for it; only a test reads it, to tell linear work from quadratic
}

// step handles what begins at the offset and returns where to go on, always
// further right.
func (s *scanner) step(at int) int {
	c := s.text[at]
	if isName(c) {
		end := s.nameEnd(at)
		return max(end, s.named(at, end))
	}
	switch c {
	case ':':
		if strings.HasPrefix(s.text[at:], "://") {
			return s.credentials(at + len("://"))
		}
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth = max(0, s.depth-1)
	case '\n':
		s.depth = 0
	}
	return at + 1
}

// redact puts the mask in the place of text[from:to], between the quotes where
// the value had none but needs them.
func (s *scanner) redact(from, to int, quote string) {
	s.out.WriteString(s.text[s.done:from])
	s.out.WriteString(quote)
	s.out.WriteString(mask)
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

func (s *scanner) skipBlanks(at int) int {
	for at < len(s.text) && isBlank(s.text[at]) {
		at++
	}
	return at
}

// quoteAt returns the quote at the offset together with the backslashes before
// it, which say how deep it is nested: ", \", \\\" and so on. "" if there is
// none.
func (s *scanner) quoteAt(at int) string {
	end := at
	for end < len(s.text) && s.text[end] == '\\' {
		end++
	}
	if end < len(s.text) && isQuote(s.text[end]) {
		return s.text[at : end+1]
	}
	return ""
}

// byteAt is 0 beyond the end.
func (s *scanner) byteAt(at int) byte {
	if at < len(s.text) {
		return s.text[at]
	}
	return 0
}
