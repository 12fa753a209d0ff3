package sanitize

import (
	"strings"
	"unicode/utf8"
)

// classifier is the rules about names, in the form the scanner asks them in.
type classifier struct {
	words   map[string][]nameRule
	ends    []nameRule
	variant map[string]bool
	keep    map[string]bool // whole names that are never secrets

	// Nearly all names are told to be of no interest by their last three letters, and
	// the others by the words that end so.
	endings endings
	bucket  [1 << 10]uint8 // which of the lists, by the last two letters
	lists   [][]nameRule
}

func newClassifier() *classifier {
	c := &classifier{words: map[string][]nameRule{}, variant: map[string]bool{}, keep: map[string]bool{}, lists: make([][]nameRule, 1)}
	for _, rule := range nameRules {
		c.add(rule)
	}
	for _, word := range variants {
		c.variant[word] = true
		c.ending(nameRule{word: word})
	}
	for _, word := range nameWords {
		c.ending(nameRule{word: word})
	}
	for digit := byte('0'); digit <= '9'; digit++ { // ends the colours of terminals, before an m
		for _, before := range []byte{'[', ';', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'} {
			c.endings.add(before, digit, 'm')
		}
	}
	return c
}

func (c *classifier) add(rule nameRule) {
	c.words[rule.word] = append(c.words[rule.word], rule)
	if rule.ends {
		c.ends = append(c.ends, rule)
	}
	c.ending(rule)
}

// ending notes the last letters of a word. Before a short one stands whatever may.
func (c *classifier) ending(rule nameRule) {
	switch word := rule.word; len(word) {
	case 0, 1:
	case 2:
		for before := byte(0); before < 32; before++ {
			c.endings.add(before, word[0], word[1])
		}
	default:
		last := word[len(word)-3:]
		c.endings.add(last[0], last[1], last[2])
	}
	if n := len(rule.word); n >= 2 {
		at := key2(rule.word[n-2], rule.word[n-1])
		if c.bucket[at] == 0 {
			c.bucket[at] = uint8(len(c.lists))
			c.lists = append(c.lists, nil)
		}
		c.lists[c.bucket[at]] = append(c.lists[c.bucket[at]], rule)
	}
}

// mayEnd says whether a name of interest may end before the offset.
func (c *classifier) mayEnd(text string, end int) bool {
	if end < 3 {
		return end == 2
	}
	if !c.endings.has(text, end) {
		return false
	}
	for _, rule := range c.lists[c.bucket[key2(text[end-2], text[end-1])]] {
		begin := end - len(rule.word)
		if begin >= 0 && equalFold(text[begin:end], rule.word) && (rule.after == "" || follows(text[:begin], rule.after)) {
			return true
		}
	}
	return false
}

// equalFold says whether a text is a word, whose letters are small.
func equalFold(text, word string) bool {
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

// follows says whether a text ends with one of the words of a list, and perhaps with
// what joins it to the next.
func follows(text, list string) bool {
	for text != "" && !isAlnum(text[len(text)-1]) && len(text) > 1 {
		text = text[:len(text)-1]
	}
	for word := range strings.SplitSeq(list, " ") {
		if n := len(text) - len(word); n >= 0 && equalFold(text[n:], word) {
			return true
		}
	}
	return false
}

// endings is a set of endings of three bytes, of which the lowest five bits count:
// capitals are like small letters.
type endings [1 << 10]uint32

func key2(a, b byte) uint16 { return uint16(a&31)<<5 | uint16(b&31) }

func (e *endings) add(a, b, c byte) { e[key2(b, c)] |= 1 << (a & 31) }

// has says whether the text before the offset may end so. Less than three bytes may.
func (e *endings) has(text string, end int) bool {
	return end < 3 || e[key2(text[end-2], text[end-1])]>>(text[end-3]&31)&1 != 0
}

// maxName is how long a name may be. Of a longer one the last bytes count.
const maxName = 64

// words of a name, in small letters; the end of a long name.
type words struct {
	buf    [maxName + 8]byte
	n      int
	starts [maxName + 8]uint8
	count  int
}

func (w *words) from(i int) string {
	end := w.n
	if i+1 < w.count {
		end = int(w.starts[i+1])
	}
	return view(w.buf[w.starts[i]:end])
}

// split cuts a name into words: at joints, where small letters turn into
// capitals, and before the last of many capitals. What cannot be seen is left
// out.
func (w *words) split(name string) {
	name = name[max(0, len(name)-maxName):]
	fresh := true
	for i := 0; i < len(name); i++ {
		c := name[i]
		if n := invisible(name[i:]); n > 0 {
			i += n - 1
			continue
		}
		if isJoint(c) || isBlank(c) || c == '/' || c == ':' {
			fresh = true
			continue
		}
		if isUpper(c) && i > 0 && (isLower(name[i-1]) || isDigit(name[i-1]) ||
			i+1 < len(name) && isUpper(name[i-1]) && isLower(name[i+1])) {
			fresh = true
		}
		if fresh {
			w.starts[w.count] = uint8(w.n)
			w.count++
			fresh = false
		}
		w.buf[w.n] = lower(c)
		w.n++
	}
}

// invisible is how many bytes a character takes that has no width.
func invisible(text string) int {
	if text[0] < 0xC2 {
		return 0
	}
	switch r, n := utf8.DecodeRuneInString(text); r {
	case '\u00AD', '\u200B', '\u200C', '\u200D', '\u2060', '\uFEFF':
		return n
	}
	return 0
}

// of tells the kind of a name.
func (c *classifier) of(name string) kind {
	if name == "PWD" || name == "OLDPWD" {
		return query // the shell's working directory; a password only where the value is no path
	}
	if strings.IndexByte(name, '\\') >= 0 {
		name = unescaped(name)
	}
	var w words
	w.split(name)
	if len(c.keep) > 0 && c.kept(&w) {
		return plain
	}
	if w.count > 2 && w.n <= 2*w.count {
		w.count = 1 // PaSsWoRd
	}
	n := w.count
	for n > 0 {
		last := strings.TrimRight(w.from(n-1), "0123456789")
		if last == "" || n > 1 && c.variant[last] {
			n--
			continue
		}
		before := ""
		if n > 1 {
			before = w.from(n - 2)
		}
		return c.decide(last, before)
	}
	return plain
}

func (c *classifier) decide(last, before string) kind {
	for _, rule := range c.words[last] {
		if rule.after != "" && !hasWord(rule.after, before) || rule.unless != "" && hasWord(rule.unless, before) {
			continue
		}
		return rule.kind
	}
	for _, rule := range c.ends {
		if len(last) > len(rule.word) && strings.HasSuffix(last, rule.word) {
			return rule.kind
		}
	}
	return plain
}

// hasWord says whether a word stands in a list of words.
func hasWord(list, word string) bool {
	if word == "" {
		return false
	}
	for at := 0; ; {
		n := strings.Index(list[at:], word)
		if n < 0 {
			return false
		}
		at += n
		end := at + len(word)
		if (at == 0 || list[at-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return true
		}
		at = end
	}
}

// kept says whether the name is one that the options keep.
func (c *classifier) kept(w *words) bool {
	return c.keep[view(w.buf[:w.n])]
}

// unescaped takes the escapes of JSON out of a name: p\u0061ssword.
func unescaped(name string) string {
	var out []byte
	for i := 0; i < len(name); i++ {
		if c, ok := escape(name[i:]); ok {
			out = append(out, c)
			i += len(`\u0000`) - 1
		} else if name[i] != '\\' {
			out = append(out, name[i])
		}
	}
	return string(out)
}

// escape reads \u00xx.
func escape(text string) (byte, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2] != '0' || text[3] != '0' {
		return 0, false
	}
	high, low := hex(text[4]), hex(text[5])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

func hex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= lower(c) && lower(c) <= 'f':
		return int(lower(c)-'a') + 10
	}
	return -1
}
