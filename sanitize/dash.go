package sanitize

import "strings"

// dash handles a dash behind a blank, a quote, a bracket or another dash: an option
// of a command, or the first line of a key.
func (s *scanner) dash(at int) int {
	if s.text[at-1] == '-' && s.byteAt(at+1) == '-' {
		return s.armour(at - 1)
	}
	start := at + 1
	before := at - 1
	if s.text[at-1] == '-' {
		before--
	}
	if c := s.byteAt(before); before >= 0 && !isSpace(c) && !isQuote(c) && c != '[' {
		return start
	}
	return s.option(start)
}

// isPEM says whether the first line of a key begins at the offset.
func (s *scanner) isPEM(at int) bool {
	return strings.HasPrefix(s.text[at:], "-----") && s.hasAt(at+len("-----"), "BEGIN ")
}

// armour handles a block of lines with dashes round its name. Only those of private
// keys are secret. It returns where to go on.
func (s *scanner) armour(start int) int {
	at := start
	for s.byteAt(at) == '-' {
		at++
	}
	name := s.skipBlanks(at)
	if at-start < 4 || !s.hasAt(name, "BEGIN ") {
		return at
	}
	end := name
	for most := min(len(s.text), name+maxName); end < most && (isAlnum(s.text[end]) || s.text[end] == ' '); end++ {
	}
	if indexFold(s.text[name:end], "PRIVATE KEY") < 0 && indexFold(s.text[name:end], "SECRET KEY") < 0 && indexFold(s.text[name:end], "STATIC KEY") < 0 {
		return end
	}
	last := s.pemEnd(start)
	s.redact(start, last, "")
	return last
}

// pemEnd returns where the block that begins at start ends: behind its last line, or
// with the text.
func (s *scanner) pemEnd(start int) int {
	fence := s.lines.fence(s.text, start)
	for at := start + len("-----BEGIN"); at < fence; {
		at = s.dashes.next(s.text, "----", at)
		if at >= fence {
			break
		}
		for s.byteAt(at) == '-' {
			at++
		}
		if name := s.skipBlanks(at); s.hasAt(name, "END ") {
			for at = name; at < fence && s.text[at] != '-' && s.text[at] != '\n'; at++ {
			}
			for at < fence && s.text[at] == '-' {
				at++
			}
			return at
		}
	}
	return fence
}

// option handles an option whose value is the next word: --token x, -password "x",
// -u user:x. The name begins at the offset.
func (s *scanner) option(start int) int {
	end := s.nameEnd(start)
	if end == start || end-start > maxName {
		return max(end, start)
	}
	name := s.text[start:end]
	long := s.text[start-2] == '-'
	switch {
	case name == "u" && !long, name == "user" && long, name == "proxy-user" && long, name == "U" && !long:
		return s.userOption(end)
	case name[0] == 'u' && !long && s.byteAt(end) == ':' && s.onLine(start, "curl"):
		return s.user(start+1, s.argumentEnd(start+1))
	case !long && s.isClient(start, name):
		return s.letter(start+1, end)
	case !s.mayEnd(end):
		return start
	case name == "passin" || name == "passout":
		return s.passOption(end)
	}
	k := s.rules.names.of(name)
	if k < plural || s.inUsage(start, end) {
		return start
	}
	begin, quote := s.argument(end)
	if begin < 0 {
		return start
	}
	p := pair{kind: k, start: start, end: end, sign: '=', value: begin}
	if quote != "" {
		return s.quoted(p, quote)
	}
	value := s.text[begin:s.wordEnd(begin, p)]
	if !s.worth(p, value) || !s.isArgument(begin, value, long) {
		return begin
	}
	s.redact(begin, begin+len(value), "")
	return begin + len(value)
}

// argument returns where the next argument begins, behind a blank, or behind the
// quotes and commas of a printed list; -1 if there is none.
func (s *scanner) argument(end int) (begin int, quote string) {
	begin = s.skipBlanks(end)
	closing := s.quoteAt(end)
	if closing != "" {
		begin = s.skipSpace(end + len(closing))
		if s.byteAt(begin) == ',' {
			begin = s.skipSpace(begin + 1)
		}
		quote = s.quoteAt(begin)
		if len(quote) != len(closing) || begin == end+len(closing) {
			return -1, ""
		}
		if s.byteAt(begin+len(quote)) == '-' {
			return -1, ""
		}
		return begin, quote
	}
	if begin == end || begin >= len(s.text) || s.text[begin] == '-' || isSpace(s.text[begin]) {
		return -1, ""
	}
	if s.closesText(begin) {
		return -1, ""
	}
	return begin, s.quoteAt(begin)
}

// inUsage says whether an option stands in a text that explains it: [--token x]. A
// printed list of arguments begins like that, too; its words look like values.
func (s *scanner) inUsage(start, end int) bool {
	for start > 0 && s.text[start-1] == '-' {
		start--
	}
	switch s.byteAt(start - 1) {
	case '[':
		begin := s.skipBlanks(end)
		last := begin
		for most := min(len(s.text), begin+longWord); last < most && !isSpace(s.text[last]) && s.text[last] != ']'; last++ {
		}
		return !looksSecret(s.text[begin:last], false)
	case '(', '<':
		return true
	}
	return false
}

// isArgument says whether a word behind an option is its value, and the sentence does
// not go on with it.
func (s *scanner) isArgument(begin int, value string, long bool) bool {
	switch {
	case closer(value[0]) != 0 && value[0] != '{', oneOf(complaints[:], value), oneOf(remarks[:], value), oneOf(usages[:], value):
		return false
	case looksSecret(value, false) || strings.ContainsAny(value, "!@#%^&*+=/~;?$"):
		return true
	case all(value, func(c byte) bool { return isUpper(c) || c == '_' }):
		return false
	}
	rest := s.skipBlanks(begin + len(value))
	return long && (rest >= len(s.text) || s.text[rest] == '-' || isSpace(s.text[rest]) || s.text[rest] == ':')
}

// userOption handles what follows -u: a user with the password.
func (s *scanner) userOption(end int) int {
	begin, quote := s.argument(end)
	if s.byteAt(end) == '=' {
		begin, quote = end+1, s.quoteAt(end+1)
	}
	if begin < 0 {
		return end
	}
	if quote == "" {
		return s.user(begin, s.argumentEnd(begin))
	}
	begin, last, next := s.inQuotes(begin+len(quote), quote)
	return max(next, s.user(begin, last))
}

// argumentEnd is where an argument without quotes ends.
func (s *scanner) argumentEnd(begin int) int {
	last := begin
	for last < len(s.text) && !isSpace(s.text[last]) && !(isQuote(s.text[last]) && s.closes(last, begin)) {
		last++
	}
	return last
}

// user handles user:password. It returns where to go on.
func (s *scanner) user(begin, last int) int {
	user, password, both := strings.Cut(s.text[begin:last], ":")
	if !both || s.nothing(password) || !all(user, isUserOption) || strings.HasPrefix(password, "//") {
		return begin
	}
	if user != "" && all(user, isDigit) && all(password, isDigit) && !s.onLine(begin, "curl") {
		return begin // a user and a group, by their numbers
	}
	s.redact(begin+len(user)+1, last, "")
	return last
}

func isUserOption(c byte) bool { return isUser(c) || c == '@' }

// passOption handles the argument of openssl: pass:x.
func (s *scanner) passOption(end int) int {
	begin := s.skipBlanks(end)
	if !strings.HasPrefix(s.text[begin:], "pass:") {
		return end
	}
	begin += len("pass:")
	last := s.argumentEnd(begin)
	if s.nothing(s.text[begin:last]) {
		return last
	}
	s.redact(begin, last, "")
	return last
}

// isClient says whether an option of one letter is the one for a password of the
// command before it. What is glued to the letter, or quoted behind it, is the password.
func (s *scanner) isClient(start int, name string) bool {
	for i := range clients {
		c := &clients[i]
		switch {
		case c.letter != name[0]:
		case len(name) > 1 || s.quoteAt(start+1) != "" && !isQuote(s.byteAt(start-2)):
			return s.onLine(start, c.glued...)
		case s.onLine(start, c.spaced...):
			return true
		}
	}
	return false
}

// onLine says whether one of the words stands before the offset on its line.
func (s *scanner) onLine(start int, words ...string) bool {
	line := s.text[max(s.done, start-farBack):start]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	for _, word := range words {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

// letter handles -pSECRET, -p'SECRET' and, where nothing is glued to it, -p SECRET.
func (s *scanner) letter(begin, end int) int {
	quote := ""
	switch {
	case begin < end:
	case s.quoteAt(end) != "" && !isQuote(s.byteAt(begin-3)):
		quote = s.quoteAt(end)
	default:
		if begin, quote = s.argument(end); begin < 0 {
			return end
		}
	}
	p := pair{kind: secret, start: begin, end: begin, sign: '=', value: begin}
	if quote != "" {
		return s.quoted(p, quote)
	}
	last := s.wordEnd(begin, p)
	if value := s.text[begin:last]; s.nothing(value) || isPorts(value) {
		return begin
	}
	s.redact(begin, last, "")
	return last
}

// isPorts is what other commands on the line have behind -p: 127.0.0.1:8080:80.
func isPorts(value string) bool {
	return strings.IndexByte(value, ':') > 0 && all(value, func(c byte) bool { return isDigit(c) || c == '.' || c == ':' })
}
