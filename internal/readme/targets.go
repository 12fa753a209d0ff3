package readme

import (
	"regexp"
	"slices"
	"strings"
)

var (
	rule    = regexp.MustCompile(`(?m)^([A-Za-z0-9][A-Za-z0-9_ .-]*?)\s*:(?:[^=]|$)`)
	command = regexp.MustCompile(`(?:^|[\s;&|(])make((?:[ \t]+[^\s;&|#)]+)*)`)
)

// Targets returns the targets of a Makefile.
func Targets(makefile string) []string {
	var found []string
	for _, match := range rule.FindAllStringSubmatch(makefile, -1) {
		found = append(found, strings.Fields(match[1])...)
	}
	return found
}

// MakeCalls returns the targets that a document tells its readers to make: in code between backquotes, and in fenced
// blocks of shell. In prose the word is only a word.
func MakeCalls(doc Document) []string {
	var found []string
	for _, line := range doc.Prose {
		for _, match := range span.FindAllStringSubmatch(line, -1) {
			found = append(found, called(match[2])...)
		}
	}
	for _, block := range doc.Blocks {
		if !slices.Contains([]string{"", "sh", "bash", "shell", "console", "text"}, block.Lang) {
			continue
		}
		for line := range strings.Lines(block.Code) {
			line, _, _ = strings.Cut(line, "#") // a comment is prose
			found = append(found, called(line)...)
		}
	}
	return found
}

// called returns the targets of the make commands in a piece of shell: their words that are no options or variables.
func called(shell string) []string {
	var found []string
	for _, match := range command.FindAllStringSubmatch(shell, -1) {
		words := strings.Fields(match[1])
		if slices.Contains(words, "-C") || slices.Contains(words, "-f") {
			continue // of another Makefile
		}
		for _, word := range words {
			if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
				found = append(found, word)
			}
		}
	}
	return found
}
