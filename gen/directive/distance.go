package directive

import "strings"

// closest is the verb that a word was most likely meant to be, "" if none is near.
func closest(word string) Verb {
	word = strings.ToLower(word)
	var best Verb
	least := 3 // a third of "idempotent" may be wrong, and half of "skip"
	for _, form := range Forms() {
		if d := distance(word, string(form.Verb)); d < least && d <= len(form.Verb)/2 {
			best, least = form.Verb, d
		}
	}
	return best
}

// distance counts the letters to insert, to delete, to replace, and the neighbours to
// swap between two words.
func distance(first, second string) int {
	a, b := []rune(first), []rune(second)
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		table[i][0] = i
	}
	for j := range table[0] {
		table[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := table[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			table[i][j] = min(replace, table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}
