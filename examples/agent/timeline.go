package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const legend = `A letter for each round: x search failed, X its probe failed, s search answered, P its probe answered,
n the notes did, r refused, . the model answers.`

// letter is a round in one character.
func (r round) letter() byte {
	asked := slices.Contains(r.move.calls, search)
	switch {
	case len(r.results) == 0:
		return '.'
	case asked && !r.wasted() && r.probing:
		return 'P'
	case asked && !r.wasted():
		return 's'
	case !r.wasted():
		return 'n'
	case !slices.ContainsFunc(r.results, func(one result) bool { return one.failed }):
		return 'r' // nothing has failed, and nothing was found
	case r.probing:
		return 'X'
	default:
		return 'x'
	}
}

func (t task) letters() string {
	letters := make([]byte, len(t.rounds))
	for i, r := range t.rounds {
		letters[i] = r.letter()
	}
	return string(letters)
}

// timeline is what became of tasks, one after the other; what is the same is counted.
func timeline(tasks []task) string {
	var words []string
	for i := 0; i < len(tasks); {
		word, same := tasks[i].letters(), i
		for i < len(tasks) && tasks[i].letters() == word {
			i++
		}
		if n := i - same; n > 1 {
			word += fmt.Sprintf(" ×%d", n)
		}
		words = append(words, word)
	}
	return strings.Join(words, "  ")
}

// writeRounds tells of each round in a line.
func writeRounds(out io.Writer, who breakers, p phase) {
	for i, t := range p.tasks {
		for j, r := range t.rounds {
			_, _ = fmt.Fprintf(out, "%-14s  %-10s  task %2d on %s, round %2d: [%s] %s\n", // the table tells whether out is written
				who, p.name, i+1, t.replica, j+1, strings.Join(r.offered, " "), r.told())
		}
	}
}

// told is what has happened in a round.
func (r round) told() string {
	if len(r.results) == 0 {
		return fmt.Sprintf("answers %q", r.move.answer)
	}
	said := make([]string, len(r.results))
	for i, one := range r.results {
		verb := "says"
		if one.failed {
			verb = "fails"
		}
		said[i] = fmt.Sprintf("%s %s: %s", one.tool, verb, one.text)
	}
	if r.probing && slices.Contains(r.move.calls, search) {
		said = append(said, "(that was the probe)")
	}
	return strings.Join(said, "; ")
}
