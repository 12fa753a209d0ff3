package sanitize

// kind says what a name promises about its value.
type kind int

const (
	plain  kind = iota
	secret      // a secret
	header      // a secret that fills the line when it stands in a header
	pairs       // a secret that is a list of pairs itself
)

// classify tells the kind of a name. Only the end of it counts: what precedes
// says whose secret it is, what follows makes it something else.
func classify(name string) kind {
	for _, word := range headerNames {
		if at := matchEnd(name, word, true); at >= 0 && startsWord(name, at) {
			return header
		}
	}
	if name == "PWD" { // the shell's working directory
		return plain
	}
	name = withoutVariant(name)
	for _, rule := range secretNames {
		if at := matchEnd(name, rule.name, true); at >= 0 && (!rule.whole || startsWord(name, at)) {
			if rule.pairs {
				return pairs
			}
			return secret
		}
	}
	return plain
}

// withoutVariant cuts joints, digits and the words of variants off the end.
func withoutVariant(name string) string {
	for {
		before := len(name)
		for name != "" && !isLower(lower(name[len(name)-1])) {
			name = name[:len(name)-1]
		}
		for _, word := range variants {
			if at := matchEnd(name, word, false); at > 0 {
				name = name[:at]
			}
		}
		if len(name) == before {
			return name
		}
	}
}

// matchEnd returns where in name its end that spells word begins, or -1. Case
// does not matter, and with loose set nor do the joints between the letters.
func matchEnd(name, word string, loose bool) int {
	at := len(name)
	for i := len(word) - 1; i >= 0; i-- {
		for at--; loose && i < len(word)-1 && at >= 0 && (isJoint(name[at]) || isBlank(name[at])); at-- {
		}
		if at < 0 || lower(name[at]) != word[i] {
			return -1
		}
	}
	return at
}

// startsWord says whether a word of the name begins at the offset: after a
// joint, or with a capital after a small letter.
func startsWord(name string, at int) bool {
	if at == 0 || !isAlnum(name[at-1]) {
		return true
	}
	return isUpper(name[at]) && !isUpper(name[at-1])
}
