package gen

import (
	"fmt"
	"strings"
)

// around is how many lines that are the same are shown next to those that differ.
const around = 3

// edit is one line of a diff: ' ' in both, '-' only in the old text, '+' in the new.
type edit struct {
	kind byte
	text string
}

// unified is a diff in the form of diff -u.
func unified(from, to, old, next string) string {
	edits := compare(lines(old), lines(next))
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for start := 0; start < len(edits); {
		if edits[start].kind == ' ' {
			start++
			continue
		}
		end := hunkEnd(edits, start)
		first, last := max(start-around, 0), min(end+around, len(edits))
		printHunk(&b, edits, first, last)
		start = last
	}
	return b.String()
}

// hunkEnd is behind the last changed line that is near enough to the one before it to
// be shown with it.
func hunkEnd(edits []edit, start int) int {
	end := start
	for i := start; i < len(edits) && i-end <= 2*around; i++ {
		if edits[i].kind != ' ' {
			end = i + 1
		}
	}
	return end
}

func printHunk(b *strings.Builder, edits []edit, first, last int) {
	oldLine, newLine := 1, 1
	for _, e := range edits[:first] {
		oldLine, newLine = oldLine+count(e, '+'), newLine+count(e, '-')
	}
	oldCount, newCount := 0, 0
	for _, e := range edits[first:last] {
		oldCount, newCount = oldCount+count(e, '+'), newCount+count(e, '-')
	}
	if oldCount == 0 {
		oldLine--
	}
	if newCount == 0 {
		newLine--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", oldLine, oldCount, newLine, newCount)
	for _, e := range edits[first:last] {
		b.WriteByte(e.kind)
		b.WriteString(e.text)
		if !strings.HasSuffix(e.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// count is 1 unless the line is only on the other side.
func count(e edit, other byte) int {
	if e.kind == other {
		return 0
	}
	return 1
}

func lines(text string) []string {
	if text == "" {
		return nil
	}
	split := strings.SplitAfter(text, "\n")
	if split[len(split)-1] == "" {
		split = split[:len(split)-1]
	}
	return split
}

// most is the size of the table above which texts are shown as replaced whole. A
// generated file of a thousand methods differs from itself in few places, and what
// is the same at both ends is taken off first.
const most = 25_000_000

// compare finds the longest common sequence of lines.
func compare(old, next []string) []edit {
	var head, tail []edit
	for len(old) > 0 && len(next) > 0 && old[0] == next[0] {
		head = append(head, edit{' ', old[0]})
		old, next = old[1:], next[1:]
	}
	for len(old) > 0 && len(next) > 0 && old[len(old)-1] == next[len(next)-1] {
		tail = append([]edit{{' ', old[len(old)-1]}}, tail...)
		old, next = old[:len(old)-1], next[:len(next)-1]
	}
	return append(append(head, between(old, next)...), tail...)
}

func between(old, next []string) []edit {
	var edits []edit
	i, j := 0, 0
	if len(old)*len(next) <= most {
		longest := table(old, next)
		for i < len(old) && j < len(next) {
			switch {
			case old[i] == next[j]:
				edits = append(edits, edit{' ', old[i]})
				i, j = i+1, j+1
			case longest[i+1][j] >= longest[i][j+1]:
				edits = append(edits, edit{'-', old[i]})
				i++
			default:
				edits = append(edits, edit{'+', next[j]})
				j++
			}
		}
	}
	for ; i < len(old); i++ {
		edits = append(edits, edit{'-', old[i]})
	}
	for ; j < len(next); j++ {
		edits = append(edits, edit{'+', next[j]})
	}
	return edits
}

// table holds for each pair of suffixes how many lines they have in common.
func table(old, next []string) [][]int32 {
	longest := make([][]int32, len(old)+1)
	for i := range longest {
		longest[i] = make([]int32, len(next)+1)
	}
	for i := len(old) - 1; i >= 0; i-- {
		for j := len(next) - 1; j >= 0; j-- {
			if old[i] == next[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	return longest
}
