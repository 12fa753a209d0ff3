package sanitize

// The classes of bytes the scanner looks at. All are ASCII, so that no cut ever
// falls inside a rune.

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isAlnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isJoint is what joins the words of a name.
func isJoint(c byte) bool { return c == '_' || c == '-' || c == '.' }

// isName is what names of settings, headers and variables consist of.
func isName(c byte) bool { return isAlnum(c) || isJoint(c) }

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// closer returns the bracket that closes c, 0 if c opens none.
func closer(c byte) byte {
	switch c {
	case '(':
		return ')'
	case '[', '{', '<':
		return c + 2
	}
	return 0
}

// all says whether every byte of a text is of one class; an empty text is not.
func all(text string, class func(byte) bool) bool {
	for i := range len(text) {
		if !class(text[i]) {
			return false
		}
	}
	return text != ""
}

func upper(c byte) byte {
	if isLower(c) {
		return c - ('a' - 'A')
	}
	return c
}
