package readme

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	span      = regexp.MustCompile("(`+)(.+?)`+")
	inlined   = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	reference = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?`)
	attribute = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	scheme    = regexp.MustCompile(`^(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//)`)
	heading   = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	linked    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// Links returns the targets of a document's links, by line; what stands in code is none.
func Links(doc Document) map[string]int {
	targets := map[string]int{}
	for i, line := range doc.Prose {
		line = span.ReplaceAllString(line, "")
		for _, pattern := range []*regexp.Regexp{inlined, reference, attribute} {
			for _, match := range pattern.FindAllStringSubmatch(line, -1) {
				if _, ok := targets[match[1]]; !ok {
					targets[match[1]] = i + 1
				}
			}
		}
	}
	return targets
}

// CheckLink says what is wrong with a link in the document name; nothing if it leads out of the repository, or to a
// file that exists and, where it has a fragment in a Markdown file, to a heading of it.
func CheckLink(root, name, target string) error {
	if scheme.MatchString(target) {
		return nil
	}
	file, fragment, _ := strings.Cut(target, "#")
	file, err := url.PathUnescape(file)
	if err != nil {
		return err
	}
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	if !filepath.IsLocal(to) {
		return fmt.Errorf("%s leads out of the repository", target)
	}
	if _, err := os.Stat(filepath.Join(root, to)); err != nil {
		return fmt.Errorf("%s leads to no file", target)
	}
	if fragment == "" || path.Ext(to) != ".md" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(root, to))
	if err != nil {
		return err
	}
	if !anchors(Parse(string(text)))[fragment] {
		return fmt.Errorf("%s leads to no heading", target)
	}
	return nil
}

// anchors returns the fragments of a document's headings, formed as the usual forges do: lower case, without
// punctuation, spaces as hyphens, repeated ones numbered.
func anchors(doc Document) map[string]bool {
	found := map[string]bool{}
	seen := map[string]int{}
	for _, line := range doc.Prose {
		match := heading.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, linked.ReplaceAllString(match[1], "$1"))
		if n := seen[anchor]; n > 0 {
			found[anchor+"-"+strconv.Itoa(n)] = true
		} else {
			found[anchor] = true
		}
		seen[anchor]++
	}
	return found
}
