package dashboard

import (
	"encoding/json"
	"math"
	"time"
)

// The picture's measures, in its own units.
const (
	pictureLeft  = 30
	pictureWidth = 560
	rowHeight    = 26
)

// picture is when the attempts of a call are made, as coordinates: a row for each, a light
// bar for when it may run, a dark one for when it may begin.
type picture struct {
	Width, Height, Base int
	Rows                []pictureRow
	Ticks               []pictureTick
	Worst               float64 // where the longest call ends
	Label               string
}

type pictureRow struct {
	Number                int
	Y, Middle             int
	From, Width           float64 // when it may run
	BeginsAt, BeginsWidth float64 // when it may begin
	Never                 bool
	Text                  string
}

type pictureTick struct {
	X    float64
	Text string
}

// schedule is what is drawn of an explanation; times are in seconds.
type schedule struct {
	Attempts []struct {
		Number        int     `json:"number"`
		EarliestStart float64 `json:"earliest_start"`
		LatestStart   float64 `json:"latest_start"`
		LatestEnd     float64 `json:"latest_end"`
		Never         bool    `json:"never"`
	} `json:"attempts"`
	Longest       float64 `json:"longest"`
	LongestHinted float64 `json:"longest_hinted"`
}

// pictureOf draws an explanation; nil if it has no schedule.
func pictureOf(e Explained) *picture {
	data, err := e.MarshalJSON()
	if err != nil {
		return nil
	}
	var found struct {
		Schedule schedule `json:"schedule"`
	}
	if json.Unmarshal(data, &found) != nil || len(found.Schedule.Attempts) == 0 {
		return nil
	}
	return found.Schedule.draw()
}

func (s *schedule) draw() *picture {
	end := s.Longest
	for _, a := range s.Attempts {
		end = max(end, a.LatestEnd)
	}
	if !(end > 0) || math.IsInf(end, 0) {
		return nil
	}
	at := func(seconds float64) float64 {
		return pictureLeft + math.Round(10*pictureWidth*min(max(seconds, 0), end)/end)/10
	}
	width := func(from, to float64) float64 { return max(2, math.Round(10*(at(to)-at(from)))/10) }
	p := &picture{
		Width: pictureLeft + pictureWidth + 60, Worst: at(s.Longest),
		Label: "A call that is repeated takes at most " + text(s.Longest),
	}
	if s.LongestHinted > s.Longest {
		p.Label += ", or " + text(s.LongestHinted) + " where the service asks for waits"
	}
	for i, a := range s.Attempts {
		row := pictureRow{
			Number: a.Number, Y: i * rowHeight, Middle: i*rowHeight + 15, Never: a.Never,
			From: at(a.EarliestStart), Width: width(a.EarliestStart, a.LatestEnd),
			BeginsAt: at(a.EarliestStart), BeginsWidth: width(a.EarliestStart, a.LatestStart),
			Text: "begins after " + text(a.EarliestStart) + " to " + text(a.LatestStart) + ", ends by " + text(a.LatestEnd),
		}
		p.Rows = append(p.Rows, row)
	}
	p.Base = len(s.Attempts) * rowHeight
	p.Height = p.Base + 24
	for i := range 5 {
		seconds := end * float64(i) / 4
		p.Ticks = append(p.Ticks, pictureTick{X: at(seconds), Text: text(seconds)})
	}
	return p
}

// text is a number of seconds for people.
func text(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
