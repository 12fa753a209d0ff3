package resilient

import (
	"database/sql"
	"errors"
	"io/fs"
	"slices"
)

// NotFound is a ready classifier for [Options].Classify: that a row
// (sql.ErrNoRows) or a file (fs.ErrNotExist) does not exist is an answer, not an
// outage.
func NotFound(err error) Outcome { return classifyAnswers(err, sql.ErrNoRows, fs.ErrNotExist) }

// Answers returns a classifier for [Options].Classify that takes these errors, as
// errors.Is finds them, for answers of a healthy dependency, and has no opinion on
// others.
func Answers(answers ...error) func(err error) Outcome {
	answers = slices.Clone(answers)
	return func(err error) Outcome { return classifyAnswers(err, answers...) }
}

// Chain returns a classifier for [Options].Classify that asks these, in their order,
// until one has an opinion: anything but [OutcomeUnjudged]. Nil ones are passed over.
// Where none has an opinion, neither has the chain.
func Chain(classifiers ...func(err error) Outcome) func(err error) Outcome {
	chain := slices.DeleteFunc(slices.Clone(classifiers), func(c func(error) Outcome) bool { return c == nil })
	return func(err error) Outcome {
		for _, classify := range chain {
			if outcome := classify(err); outcome != OutcomeUnjudged {
				return outcome
			}
		}
		return OutcomeUnjudged
	}
}

func classifyAnswers(err error, answers ...error) Outcome {
	if slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }) {
		return OutcomeSuccess
	}
	return OutcomeUnjudged
}
