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

func classifyAnswers(err error, answers ...error) Outcome {
	if slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) }) {
		return OutcomeSuccess
	}
	return OutcomeUnjudged
}
