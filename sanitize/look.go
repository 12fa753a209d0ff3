package sanitize

import "strings"

// nothing says whether a value needs no hiding: it is empty, hidden
// already, a literal, or a reference to a value that is kept elsewhere.
func (s *scanner) nothing(value string) bool {
	if value == "" || s.isHidden(value) {
		return true
	}
	inner := unwrap(value)
	switch {
	case oneOf(literals[:], inner):
		return true
	case value[0] == '<' && inner != value, isYours(value): // <token>, your-token
		return s.rules.names.of(inner) != plain
	case value[0] == ':' || value[0] == '@': // a parameter in SQL: :password, @p1
		return all(value[1:], isName) && s.rules.names.of(value[1:]) != plain || strings.HasPrefix(value, "@p") && isNumber(value[2:])
	}
	return false
}

func (s *scanner) isHidden(value string) bool { return value == s.rules.mask || isHidden(value) }

// isHidden says whether a value was hidden by somebody before, or was never
// filled in: ***, xxxxx, [REDACTED], ${PASSWORD}, $PASSWORD, %s, {}.
func isHidden(value string) bool {
	if value == "" {
		return false
	}
	if all(value, func(c byte) bool { return c == '*' || c == '.' }) ||
		len(value) >= 3 && all(value, func(c byte) bool { return c == 'x' }) {
		return true
	}
	if strings.HasPrefix(value, "{{") || strings.HasPrefix(value, "${{") || strings.HasPrefix(value, "$(") {
		return true // a template, a command
	}
	if inner := unwrap(value); inner != value {
		return inner == "" || isHidden(inner) || oneOf(literals[:], inner)
	}
	if value[0] == '$' {
		if inner := unwrap(value[1:]); inner != value[1:] {
			name, rest, _ := strings.Cut(inner, ":")
			return all(name, isName) && (rest == "" || rest == "-" || rest[0] == '?') // ${NAME:?what is wrong}
		}
		return all(value[1:], func(c byte) bool { return isUpper(c) || c == '_' }) || isNumber(value[1:])
	}
	return value == "?" || isFormat(value)
}

// isYours says whether a value is one that documents leave for the reader to put in.
func isYours(value string) bool {
	return len(value) > len("your_") && strings.EqualFold(value[:len("your")], "your") && isJoint(value[len("your")])
}

// isNumber is what stands behind the sign of a parameter in SQL: $1, @p1.
func isNumber(text string) bool { return text != "" && len(text) <= 3 && all(text, isDigit) }

// isFormat says whether a value is of verbs for printing: %s, 0x%x, %s/%s.
func isFormat(value string) bool {
	verbs := 0
	for at := 0; at < len(value); at++ {
		c := value[at]
		if c == '%' {
			for at++; at < len(value) && strings.IndexByte("+#-0123456789.", value[at]) >= 0; at++ {
			}
			if at == len(value) || !isLower(value[at]) {
				return false
			}
			verbs++
		} else if isAlnum(c) && !strings.HasPrefix(value[at:], "0x%") && !strings.HasPrefix(value[at:], "x%") || c >= 0x80 {
			return false
		}
	}
	return verbs > 0
}

// unwrap takes one pair of brackets off.
func unwrap(value string) string {
	if last := len(value) - 1; last > 0 && closer(value[0]) == value[last] && closer(value[0]) != 0 {
		return value[1:last]
	}
	return value
}

// looksSecret decides about a word that stands where prose could stand too:
// "password: incorrect", "parse token: asn1: structure error". It takes a word
// for a secret if it holds a digit, or is long and mixed; errors' vocabulary is
// left out. With chained set, the word is followed by a colon and a space, as
// packages and error codes are.
func looksSecret(word string, chained bool) bool {
	if word == "" || strings.Contains(word, mask) { // hidden in part is as much as somebody wanted
		return false
	}
	var digits, others, capitals, humps int
	for i := range len(word) {
		switch c := word[i]; {
		case isDigit(c):
			digits++
		case isUpper(c):
			capitals++
			if i > 0 && isLower(word[i-1]) {
				humps++
			}
		case !isLower(c):
			others++
		}
	}
	letters := len(word) - digits - others
	switch {
	case oneOf(plainWords[:], word), isVersion(word):
		return false
	case chained && (word[0] == '/' || digits == 0 || isErrorCode(word)):
		return false
	case isPair(word, "="):
		return false
	case digits == len(word): // a count, a status, a position; or a number nobody would count to
		return digits >= 6
	case letters == 0: // an address, a time, punctuation
		return digits >= 12
	case digits > 0:
		return true
	}
	// Words in camel case change case once in a while, random letters all the time.
	return len(word) >= 16 && capitals > 0 && capitals < letters && (humps*5 >= len(word) || others > 1)
}

// isVersion is v1, v2.10.
func isVersion(word string) bool {
	return word[0] == 'v' && len(word) <= 8 && all(word[1:], func(c byte) bool { return isDigit(c) || c == '.' })
}

// isErrorCode is E11000, ORA-01017.
func isErrorCode(word string) bool {
	code := strings.TrimRight(word, "0123456789")
	return len(code) < len(word) && len(code) <= 4 && all(code, func(c byte) bool { return isUpper(c) || c == '-' })
}

// isPair is name=value, or with the other sign name:value. The signs at the end
// of base64 do not make one.
func isPair(word, sign string) bool {
	name, value, found := strings.Cut(word, sign)
	return found && all(name, isName) && strings.Trim(value, sign) != ""
}

// isPairs is name=value;name=value, as no prose is.
func isPairs(word string) bool {
	return strings.IndexByte(word, ';') > 0 && isPair(word, "=")
}
