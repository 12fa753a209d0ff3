package main

import (
	"slices"
	"strings"
)

// model stands for a language model: a pure function of the tools that it is offered and of what came of its last
// calls, none at the beginning of a task. What differs between models is here; all else in the program is real.
type model func(offered []string, last []result) move

// move is what a model wants: calls of tools, or, where there are none, to answer.
type move struct {
	calls  []string
	answer string // "" where it has nothing to say, and gives up
}

// result is what a tool has answered, as a model reads it.
type result struct {
	tool   string
	text   string
	failed bool // it is marked as an error
}

// found is what every answer of the tools in server.go begins with. A refusal does not.
const found = "found "

func (r result) useful() bool { return !r.failed && strings.HasPrefix(r.text, found) }

// persistent takes a failure for bad luck and tries again while the tool is there, for ever: most models do. It takes
// another way once the tool is not offered any more.
func persistent(offered []string, last []result) move {
	switch {
	case slices.ContainsFunc(last, result.useful):
		return answer(last)
	case slices.Contains(offered, search):
		return move{calls: []string{search}}
	case slices.Contains(offered, notes):
		return move{calls: []string{notes}}
	default:
		return move{}
	}
}

// stubborn remembers search from an earlier turn, and calls it whatever it is offered or told.
func stubborn(_ []string, last []result) move {
	if slices.ContainsFunc(last, result.useful) {
		return answer(last)
	}
	return move{calls: []string{search}}
}

// parallel is persistent, and asks three things at once.
func parallel(offered []string, last []result) move {
	next := persistent(offered, last)
	if slices.Equal(next.calls, []string{search}) {
		next.calls = []string{search, search, search}
	}
	return next
}

// lazy makes do with its notes, also where it is offered more.
func lazy(_ []string, last []result) move {
	if slices.ContainsFunc(last, result.useful) {
		return answer(last)
	}
	return move{calls: []string{notes}}
}

// obedient likes search best, but does what a refusal tells it: it takes the other tool.
func obedient(_ []string, last []result) move {
	for _, r := range last {
		if r.useful() {
			return answer(last)
		}
		if _, others, ok := strings.Cut(r.text, "Other tools: "); ok && strings.Contains(others, `"`+notes+`"`) {
			return move{calls: []string{notes}}
		}
	}
	return move{calls: []string{search}}
}

// answer is made of the first thing that was found.
func answer(last []result) move {
	return move{answer: last[slices.IndexFunc(last, result.useful)].text}
}
