package sanitize

// lines knows what the line around an offset is like: how many brackets are open,
// which tells a printed struct from prose, and whether a text in double quotes is,
// which no value in it can leave. It is asked for growing offsets, and goes over
// each byte once.
type lines struct {
	at      int    // what is known holds here
	depth   int    // brackets open on this line
	kinds   uint64 // which they are, the last one lowest: 1 is a square one
	inside  bool   // a double quote is open
	opened  int    // where it was
	escapes bool   // the byte before is a backslash that escapes

	fenceFrom, fenceEnd int // from there on, the quote that closes is here
}

// to moves on to the offset.
func (l *lines) to(text string, at int) {
	for ; l.at < at; l.at++ {
		c := text[l.at]
		if l.escapes {
			l.escapes = false
			if c != '\n' {
				continue
			}
		}
		switch c {
		case '\\':
			l.escapes = true
		case '{', '[':
			l.depth++
			l.kinds = l.kinds<<1 | uint64(c>>5&1^1)
		case '}', ']':
			l.depth = max(0, l.depth-1)
			l.kinds >>= 1
		case '"':
			l.inside = !l.inside
			l.opened = l.at
		case '\n':
			l.depth, l.inside = 0, false
		}
	}
}

// opener is the last bracket that is open.
func (l *lines) opener() byte {
	switch {
	case l.depth == 0:
		return 0
	case l.kinds&1 != 0:
		return '['
	}
	return '{'
}

// pass moves on behind what is taken out, and does not look at it.
func (l *lines) pass(text string, from, to int) {
	if from > l.at {
		l.to(text, from)
	}
	l.at = max(l.at, to)
	l.escapes = false
}

// fence returns the offset of the double quote that closes the text around the
// offset; the length of the whole where there is none.
func (l *lines) fence(text string, at int) int {
	l.to(text, at)
	if !l.inside {
		return len(text)
	}
	if l.fenceFrom <= at && at <= l.fenceEnd && l.fenceEnd > 0 {
		return l.fenceEnd
	}
	l.fenceFrom, l.fenceEnd = at, len(text)
	for i := at; i < len(text) && text[i] != '\n'; i++ {
		if text[i] == '\\' {
			i++
		} else if text[i] == '"' && separates(text, i+1) {
			l.fenceEnd = i
			break
		}
	}
	return l.fenceEnd
}

// separates says whether what stands at the offset separates: the end, a space or
// a sign as between the parts of a list.
func separates(text string, at int) bool {
	if at >= len(text) {
		return true
	}
	switch c := text[at]; c {
	case ',', ';', ':', ')', ']', '}', '>', '\\', '/', '\'', '`':
		return true
	default:
		return isSpace(c)
	}
}
