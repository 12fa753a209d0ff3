package sanitize

import "strings"

// element handles <password>…</password>, <entry key="password">…</entry> and
// the like, at the bracket that ends the first tag.
func (s *scanner) element(end int) int {
	begin, ok := s.tagBegin(end)
	if !ok {
		return end + 1
	}
	tag := s.text[begin:end]
	name, attributes, _ := strings.Cut(tag, " ")
	k := s.rules.names.of(name[strings.LastIndexByte(name, ':')+1:])
	if k == plain && attributes != "" {
		k = s.namedBy(attributes)
	}
	start := end + 1
	if k < plural && (strings.EqualFold(name, "key") || strings.EqualFold(name, "name")) {
		return s.listed(start, name)
	}
	if k < plural || strings.HasSuffix(tag, "/") {
		return start
	}
	return s.content(start, k)
}

// content handles what is between two tags.
func (s *scanner) content(start int, k kind) int {
	if at := s.skipSpace(start); strings.HasPrefix(s.text[at:], "<value>") {
		start = at + len("<value>")
	}
	end := s.tag.next(s.text, "<", start)
	if strings.HasPrefix(s.text[end:], "<![CDATA[") {
		if end = s.cdata.next(s.text, "]]>", end); end < len(s.text) {
			end += len("]]>")
		}
	}
	if closing := s.text[end:]; !strings.HasPrefix(closing, "</") && !strings.HasPrefix(closing, `<\/`) {
		return start
	}
	value := s.text[start:end]
	if s.worth(pair{kind: k, quote: `"`}, strings.TrimSpace(value)) {
		s.redact(start, end, "")
	}
	return end
}

// tagBegin returns where the text of the tag begins that ends at the offset.
func (s *scanner) tagBegin(end int) (begin int, ok bool) {
	c := s.byteAt(end - 1)
	if !isQuote(c) && !s.mayEnd(end) {
		return 0, false
	}
	for at, least := end-1, max(s.done, end-2*maxName); at >= least; at-- {
		switch s.text[at] {
		case '<':
			c := s.byteAt(at + 1)
			return at + 1, isLower(lower(c))
		case '\n', '>':
			return 0, false
		}
	}
	return 0, false
}

// namedBy is the kind of an element that an attribute names.
func (s *scanner) namedBy(attributes string) kind {
	for _, name := range [...]string{"name=", "key=", "Name=", "Key="} {
		at := strings.Index(attributes, name)
		if at < 0 {
			continue
		}
		value := attributes[at+len(name):]
		if value != "" && isQuote(value[0]) {
			value, _, _ = strings.Cut(value[1:], value[:1])
			return s.rules.names.of(value)
		}
	}
	return plain
}

// listed handles <key>Password</key><string>…</string>, and the same of name and value.
func (s *scanner) listed(start int, tag string) int {
	end := s.nameEnd(start)
	closing := end + len("</") + len(tag)
	if end-start > maxName || !strings.HasPrefix(s.text[end:], "</") || !s.hasAt(end+len("</"), tag) || s.byteAt(closing) != '>' ||
		s.rules.names.of(s.text[start:end]) < plural {
		return start
	}
	at := s.skipSpace(closing + 1)
	for _, behind := range [...]string{"<string>", "<value>"} {
		if strings.HasPrefix(s.text[at:], behind) {
			return s.content(at+len(behind), secret)
		}
	}
	return at
}
