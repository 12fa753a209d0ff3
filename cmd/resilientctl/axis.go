package main

import (
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/policies"
)

// axis is the time from the begin of a call to the latest end of it, with a few marks.
type axis struct {
	end   time.Duration
	marks []time.Duration
}

// mostMarks is how many there may be behind the first, which is 0.
const mostMarks = 6

func axisOf(s policies.Schedule) axis {
	a := axis{end: max(s.Longest, 1)}
	step := stepFor(a.end)
	for at := time.Duration(0); at <= a.end; at += step {
		a.marks = append(a.marks, at)
	}
	return a
}

// stepFor is a round time of which there are few until the end: 1, 2 or 5 in a place of
// a decimal, or from 10 s on one of a clock's.
func stepFor(end time.Duration) time.Duration {
	for decade := time.Duration(1); decade <= time.Second; decade *= 10 {
		for _, step := range []time.Duration{decade, 2 * decade, 5 * decade} {
			if end/step <= mostMarks {
				return step
			}
		}
	}
	for _, step := range []time.Duration{10 * time.Second, 15 * time.Second, 30 * time.Second} {
		if end/step <= mostMarks {
			return step
		}
	}
	step := time.Minute
	for end/step > mostMarks {
		step *= 2
	}
	return step
}

// at is where a time lies among so many places, the first of which is 0.
func (a axis) at(t time.Duration, places int) int {
	return int(float64(min(t, a.end)) / float64(a.end) * float64(places-1))
}

// short is a duration to the millisecond and without zeros at its end: 1m, not 1m0s.
func short(d time.Duration) string {
	if d > time.Second {
		d = d.Round(time.Millisecond)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// tell says in words when an attempt is made.
func tell(at policies.Attempt) string {
	switch {
	case at.Never:
		return "never: the time is over"
	case at.EarliestStart == at.LatestStart:
		return "begins at " + short(at.EarliestStart) + ", ends by " + short(at.LatestEnd)
	default:
		return "begins at " + short(at.EarliestStart) + " … " + short(at.LatestStart) + ", ends by " + short(at.LatestEnd)
	}
}
