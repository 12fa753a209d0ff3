package sanitize

import "strings"

// tokens is the rules about tokens, in the form the scanner asks them in: by the
// bytes before the first joint of the prefix.
type tokens struct {
	endings endings
	bucket  [1 << 10]uint8 // which of the lists, by the last two bytes before the joint
	lists   [][]jointRule
	lasts   [256]bool   // what stands before a joint
	starts  []tokenRule // prefixes with an A, and without a joint
}

// jointRule is a rule with the place of the joint in its prefix.
type jointRule struct {
	tokenRule
	joint int
}

func newTokens() *tokens {
	t := &tokens{lists: make([][]jointRule, 1)}
	for _, rule := range tokenRules {
		n := strings.IndexAny(rule.prefix, "_-.")
		if n < 2 {
			t.starts = append(t.starts, rule)
			continue
		}
		first, last := byte(0), byte(31)
		if n > 2 {
			first, last = rule.prefix[n-3]&31, rule.prefix[n-3]&31
		}
		for before := first; before <= last; before++ {
			if n == 2 && strings.IndexByte(letterBits, before) >= 0 {
				continue
			}
			t.endings.add(before, rule.prefix[n-2], rule.prefix[n-1])
		}
		t.lasts[rule.prefix[n-1]] = true
		if rule.fold {
			t.lasts[lower(rule.prefix[n-1])] = true
		}
		at := key2(rule.prefix[n-2], rule.prefix[n-1])
		if t.bucket[at] == 0 {
			t.bucket[at] = uint8(len(t.lists))
			t.lists = append(t.lists, nil)
		}
		t.lists[t.bucket[at]] = append(t.lists[t.bucket[at]], jointRule{rule, n})
	}
	return t
}

// letterBits are the lowest bits of letters and digits that are not those of a sign
// before which a token may begin, nor of the letter of an escape.
const letterBits = "\x10\x11\x13\x15\x16\x17\x18\x19"

// joint handles the joint of a known prefix, and the dashes of options and keys.
func (s *scanner) joint(at int) int {
	t := s.rules.tokens
	list := t.lists[t.bucket[key2(s.text[at-2], s.text[at-1])]]
	for i := range list {
		start := at - list[i].joint
		if start < s.done || s.text[start] != list[i].prefix[0] {
			continue
		}
		if next := s.token(start, &list[i].tokenRule); next > start {
			return next
		}
	}
	if s.text[at] == '-' && s.text[at-1] <= '-' {
		return s.dash(at)
	}
	return at + 1
}

// token handles a token that may begin at the offset. It returns the offset itself
// if there is none.
func (s *scanner) token(start int, rule *tokenRule) int {
	begin := start + len(rule.prefix)
	if begin >= len(s.text) || start < s.done || rule.mixed && start < s.noMixed || !s.startsToken(start) && !rule.keep {
		return start
	}
	if s.text[start:begin] != rule.prefix && !(rule.fold && strings.EqualFold(s.text[start:begin], rule.prefix)) {
		return start
	}
	end := begin
	for end < len(s.text) && (isAlnum(s.text[end]) || rule.set != "" && strings.IndexByte(rule.set, s.text[end]) >= 0) {
		end++
	}
	for end > begin && s.text[end-1] == '.' {
		end--
	}
	body := s.text[begin:end]
	if len(body) < rule.least {
		return start
	}
	if rule.mixed && !isMixed(body) || rule.part > 0 && !hasPart(body, rule.part) {
		s.noMixed = end
		return start
	}
	if rule.keep {
		start = begin
	}
	s.redact(start, end, "")
	return end
}

// hasPart says whether a part between dashes is mixed, and long enough.
func hasPart(body string, least int) bool {
	for part := range strings.SplitSeq(body, "-") {
		if len(part) >= least && isMixed(part) {
			return true
		}
	}
	return false
}

// startsToken says whether no word goes on at the offset. The letter of an escape
// is no part of it.
func (s *scanner) startsToken(at int) bool {
	if at == 0 || !isAlnum(s.text[at-1]) {
		return true
	}
	if at > 1 && s.text[at-2] == '\\' && strings.IndexByte("nrt", s.text[at-1]) >= 0 {
		return true
	}
	return at > 2 && s.text[at-3] == '%' && hex(s.text[at-2]) >= 0 && hex(s.text[at-1]) >= 0
}

// isMixed says whether a word holds a digit, or letters small and capital.
func isMixed(word string) bool {
	var digits, small, capital bool
	for i := range len(word) {
		c := word[i]
		digits = digits || isDigit(c)
		small = small || isLower(c)
		capital = capital || isUpper(c)
	}
	return digits && (small || capital) || small && capital
}

// capital handles what begins with a byte that little else begins with.
func (s *scanner) capital(at int) int {
	switch s.text[at] {
	case 'J':
		if at >= 2 && s.text[at-2:at] == "ey" {
			return s.jwt(at)
		}
	case 'K':
		if at >= 1 && s.text[at-1] == 'S' {
			return s.numbered(at-1, "SK", 32, func(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' })
		}
	case 'A':
		return s.key(at)
	case '\\':
		if at >= 1 && strings.HasPrefix(s.text[at-1:], escapedSign) {
			return max(at+1, s.url(at-1))
		}
	default:
		return s.scheme(at)
	}
	return at + 1
}

// key handles the keys of clouds, and the other prefixes with an A.
func (s *scanner) key(at int) int {
	for _, prefix := range keyIDs {
		if strings.HasPrefix(s.text[at:], prefix) {
			return s.numbered(at, prefix, 16, func(c byte) bool { return isDigit(c) || isUpper(c) })
		}
	}
	for i := range s.rules.tokens.starts {
		if next := s.token(at, &s.rules.tokens.starts[i]); next > at {
			return next
		}
	}
	return at + 1
}

// numbered handles a prefix with so many bytes of one class behind it, no more.
func (s *scanner) numbered(start int, prefix string, size int, class func(byte) bool) int {
	begin := start + len(prefix)
	end := begin + size
	if start < s.done || end > len(s.text) || !s.startsToken(start) || !all(s.text[begin:end], class) || isAlnum(s.byteAt(end)) {
		return begin
	}
	s.redact(start, end, "")
	return end
}

// jwt handles signed and encrypted tokens: eyJ…, in parts with dots between.
func (s *scanner) jwt(at int) int {
	start, end, dots := at-2, at+1, 0
	if start < s.done || !s.startsToken(start) && s.byteAt(start-1) != '_' {
		return at + 1
	}
	first := 0
	for ; end < len(s.text); end++ {
		c := s.text[end]
		if c == '.' && dots < 4 {
			if dots == 0 {
				first = end - start
			}
			dots++
		} else if !isAlnum(c) && c != '-' && c != '_' && c != '=' {
			break
		}
	}
	if dots == 0 || first < 8 || end-start < 16 {
		return end
	}
	s.redact(start, end, "")
	return end
}

// telegram handles a bot's token at its colon: digits, and then AA and letters.
func (s *scanner) telegram(at int) int {
	if at < 8 || !isDigit(s.text[at-1]) || !strings.HasPrefix(s.text[at+1:], "AA") {
		return at
	}
	start := at
	for start > max(s.done, at-12) && isDigit(s.text[start-1]) {
		start--
	}
	end := at + 1
	for end < len(s.text) && (isAlnum(s.text[end]) || s.text[end] == '-' || s.text[end] == '_') {
		end++
	}
	if at-start < 8 || end-at < 30 {
		return at
	}
	s.redact(start, end, "")
	return end
}
