package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/policies"
)

func TestStepFor(t *testing.T) {
	for end, want := range map[time.Duration]time.Duration{
		1:                       1,
		12:                      2,
		350 * time.Microsecond:  100 * time.Microsecond, // 7 marks of 50 would be too many
		5 * time.Second:         time.Second,
		35 * time.Second:        10 * time.Second,
		70 * time.Second:        15 * time.Second,
		2 * time.Minute:         30 * time.Second,
		5 * time.Minute:         time.Minute,
		24 * time.Hour:          256 * time.Minute,
		999 * time.Millisecond:  200 * time.Millisecond,
		3001 * time.Millisecond: 500 * time.Millisecond,
	} {
		assert.Equal(t, want, stepFor(end), end)
	}
}

// explanationOf loads one override of a service.
func explanationOf(t require.TestingT, override string) policies.Explanation {
	r, err := policies.Load(policies.FormOverrides.Parse([]byte(`{"a":`+override+`}`)), nil)
	require.NoError(t, err)
	require.Empty(t, r.Findings())
	return r.Explain("a")
}

// What is drawn: from when to when each attempt may begin, and how long it may take; of
// one for which there is no time nothing.
func TestDrawText(t *testing.T) {
	e := explanationOf(t, `{"retry":{"max_attempts":3,"base_delay":4,"backoff_strategy":"linear_increasing","jitter":false},"total_timeout":10,"attempt_timeout":1}`)
	assert.Equal(t, `a: when the attempts of a call are made that may be repeated

     0s 1s  2s  3s  4s  5s  6s
     ┴──┴───┴───┴───┴───┴───┴
  1  █───                      begins at 0s, ends by 1s
  2                 █████────  begins at 4s … 5s, ends by 6s
  3                            never: the time is over

█ may begin   ─ may run   the whole call ends by 6s
`, string(drawText(e, 60)))
}

// Whatever the policy is, the pictures hold: no line is wider than it may be, marks stay
// within, and the SVG is XML.
func TestDrawAnything(t *testing.T) {
	seconds := rapid.Float64Range(0.001, 300)
	rapid.Check(t, func(t *rapid.T) {
		e := policies.Explanation{Service: rapid.String().Draw(t, "service"), Schedule: policies.Schedule{
			Longest: time.Duration(seconds.Draw(t, "longest") * float64(time.Second)),
		}}
		for n := range rapid.IntRange(1, 10).Draw(t, "attempts") {
			at := policies.Attempt{Number: n + 1, Never: rapid.Bool().Draw(t, "never")}
			at.EarliestStart = time.Duration(seconds.Draw(t, "earliest") * float64(time.Second))
			at.LatestStart = max(at.EarliestStart, time.Duration(seconds.Draw(t, "latest")*float64(time.Second)))
			at.LatestEnd = max(at.LatestStart, time.Duration(seconds.Draw(t, "end")*float64(time.Second)))
			e.Schedule.Attempts = append(e.Schedule.Attempts, at)
		}
		assert.LessOrEqual(t, len(axisOf(e.Schedule).marks), mostMarks+1)
		lines := strings.Split(string(drawText(e, 120)), "\n")
		for _, line := range lines[len(lines)-len(e.Schedule.Attempts)-3:] {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 120)
		}
		decoder := xml.NewDecoder(bytes.NewReader(drawSVG(e)))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	})
}
