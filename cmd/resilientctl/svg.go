package main

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"github.com/seed42274fcc/stoic/policies"
)

// The picture's measures, in pixels.
const (
	svgWidth  = 720
	svgLeft   = 40
	svgPlot   = 420
	svgTop    = 56
	svgRow    = 24
	svgBottom = 16
)

// drawSVG draws the schedule as a picture that stands by itself: dark where an attempt
// may begin, light until it ends at the latest.
func drawSVG(e policies.Explanation) []byte {
	a := axisOf(e.Schedule)
	bottom := svgTop + svgRow*len(e.Schedule.Attempts)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="sans-serif" font-size="12">`+"\n",
		svgWidth, bottom+svgBottom, svgWidth, bottom+svgBottom)
	title := fmt.Sprintf("%s: attempts of a call, which ends by %s", e.Service, short(e.Schedule.Longest))
	fmt.Fprintf(&out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", escape(title))
	label(&out, svgLeft, 20, title)
	for _, mark := range a.marks {
		x := svgLeft + a.at(mark, svgPlot)
		fmt.Fprintf(&out, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#d0d7de"/>`+"\n", x, svgTop-8, x, bottom)
		label(&out, x, svgTop-12, short(mark))
	}
	for i, at := range e.Schedule.Attempts {
		y := svgTop + svgRow*i
		label(&out, 12, y+16, fmt.Sprint(at.Number))
		label(&out, svgLeft+svgPlot+12, y+16, tell(at))
		if !at.Never {
			a.box(&out, at, y)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// box draws one attempt.
func (a axis) box(out *bytes.Buffer, at policies.Attempt, y int) {
	from, until, end := a.at(at.EarliestStart, svgPlot), a.at(at.LatestStart, svgPlot), a.at(at.LatestEnd, svgPlot)
	bar := func(from, to int, fill string) {
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", svgLeft+from, y+5, max(to-from, 2), svgRow-10, fill)
	}
	bar(from, end, "#a6c8e8")
	bar(from, until, "#1f5f99")
}

func label(out *bytes.Buffer, x, y int, text string) {
	fmt.Fprintf(out, `<text x="%d" y="%d" fill="#24292f">%s</text>`+"\n", x, y, escape(text))
}

func escape(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // a buffer takes everything
	return out.String()
}
