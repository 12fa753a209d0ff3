package resilient_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/outage.svg anew")

// The picture, in its own units.
const (
	pictureWide         = 860
	fromLeft, fromRight = 60, 20
	plotWide            = pictureWide - fromLeft - fromRight
	plotHigh            = 190
	topPanel            = 70
	lowPanel            = topPanel + plotHigh + 70
	pictureHigh         = lowPanel + plotHigh + 60
	topLoad             = 1300 // calls a second
)

func across(at time.Duration) float64 { return fromLeft + plotWide*at.Seconds()/simEnd.Seconds() }
func down(load float64) float64       { return plotHigh * (1 - load/topLoad) }

// pictureStyle has colours that remain apart for those who see few, on light and on dark.
const pictureStyle = `<style>
  .page { fill: #ffffff } .text { fill: #1f2328 } .faint { fill: #59636e } .grid { stroke: #d1d9e0 }
  .slow { fill: #f6f0dc } .down { fill: #f3e1dc }
  .offered { stroke: #59636e; stroke-dasharray: 5 4 } .sent { stroke: #c2500a } .answered { stroke: #0969b2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } .text { fill: #e6edf3 } .faint { fill: #9198a1 } .grid { stroke: #30363d }
    .slow { fill: #26230f } .down { fill: #301a15 }
    .offered { stroke: #9198a1 } .sent { stroke: #ff9b4e } .answered { stroke: #5cb3f5 }
  }
  text { font: 13px system-ui, sans-serif } .title { font-size: 15px; font-weight: 600 }
  polyline { fill: none; stroke-width: 2; stroke-linejoin: round }
</style>
`

// picture draws two runs, one below the other.
func picture(alone, guarded *outage) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="title desc">
<title id="title">An outage, with retries alone and with guards</title>
<desc id="desc">Calls a second over time: offered by %d clients, sent to the server, and answered.</desc>
%s<rect class="page" width="100%%" height="100%%"/>
`, pictureWide, pictureHigh, clients, pictureStyle)
	for i, class := range []string{"offered", "sent", "answered"} {
		x := fromLeft + 110*i
		fmt.Fprintf(&b, `<line class="%s" x1="%d" y1="24" x2="%d" y2="24" stroke-width="2"/><text class="text" x="%d" y="28">%s</text>`+"\n",
			class, x, x+26, x+32, class)
	}
	fmt.Fprintf(&b, `<text class="faint" x="%d" y="28" text-anchor="end">calls a second</text>`+"\n", pictureWide-fromRight)
	panel(&b, topPanel, "Three attempts, no circuit, no budget", alone)
	panel(&b, lowPanel, "The same attempts, with a circuit and a retry budget in each client", guarded)
	fmt.Fprintf(&b, `<text class="faint" x="%d" y="%d" text-anchor="end">seconds</text>`+"\n</svg>\n", pictureWide-fromRight, pictureHigh-14)
	return []byte(b.String())
}

func panel(b *strings.Builder, top int, title string, o *outage) {
	fmt.Fprintf(b, `<g transform="translate(0 %d)"><text class="title text" x="%d" y="-12">%s</text>`+"\n", top, fromLeft, title)
	for _, band := range []struct {
		class, label string
		from, to     time.Duration
	}{{"slow", "slow", slowFrom, downFrom}, {"down", "down", downFrom, upFrom}} {
		fmt.Fprintf(b, `<rect class="%s" x="%.1f" y="0" width="%.1f" height="%d"/><text class="faint" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			band.class, across(band.from), across(band.to)-across(band.from), plotHigh, across(band.from+(band.to-band.from)/2), 16, band.label)
	}
	for load := 0; load < topLoad; load += normal {
		y := down(float64(load))
		fmt.Fprintf(b, `<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>`, fromLeft, y, pictureWide-fromRight, y)
		fmt.Fprintf(b, `<text class="faint" x="%d" y="%.1f" text-anchor="end">%d</text>`+"\n", fromLeft-8, y+4, load)
	}
	for at := time.Duration(0); at <= simEnd; at += 20 * time.Second {
		fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%d" text-anchor="middle">%.0f</text>`, across(at), plotHigh+18, at.Seconds())
	}
	b.WriteByte('\n')
	line(b, "offered", &o.offered)
	line(b, "sent", &o.sent)
	line(b, "answered", &o.answered)
	b.WriteString("</g>\n")
}

// line draws what was counted, each second in its middle.
func line(b *strings.Builder, class string, counted *tally) {
	fmt.Fprintf(b, `<polyline class="%s" points="`, class)
	for i := range counted {
		if i > 0 {
			b.WriteByte(' ')
		}
		at := time.Duration(i)*time.Second + time.Second/2
		fmt.Fprintf(b, "%.1f,%.1f", across(at), down(float64(counted[i].Load())))
	}
	b.WriteString(`"/>` + "\n")
}

var polyline = regexp.MustCompile(`points="([^"]*)"`)

// checkPicture holds the picture in a file against one that was just drawn. Retries are jittered, so lines may differ by
// a little, and nothing else may. With -update it writes the file instead.
func checkPicture(t *testing.T, file string, fresh []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, fresh, 0o644))
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Less(t, len(kept), 60_000, "bytes")
	for decoder := xml.NewDecoder(strings.NewReader(string(kept))); ; {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "not well-formed")
	}
	const how = "%s is out of date: go test ./resilient -run TestOutage -update"
	require.Equal(t, polyline.ReplaceAllString(string(fresh), ""), polyline.ReplaceAllString(string(kept), ""), how, file)
	now, then := polyline.FindAllStringSubmatch(string(fresh), -1), polyline.FindAllStringSubmatch(string(kept), -1)
	require.Len(t, then, len(now), how, file)
	for i := range now {
		assert.Less(t, apart(t, now[i][1], then[i][1]), 4.0, how, file)
	}
}

// apart is how far two lines are from each other, on the average.
func apart(t *testing.T, a, b string) float64 {
	t.Helper()
	as, bs := strings.Fields(a), strings.Fields(b)
	require.Len(t, bs, len(as))
	sum := 0.0
	for i := range as {
		var ax, ay, bx, by float64
		_, err := fmt.Sscanf(as[i]+" "+bs[i], "%f,%f %f,%f", &ax, &ay, &bx, &by)
		require.NoError(t, err)
		require.InDelta(t, ax, bx, 0.01)
		sum += math.Abs(ay - by)
	}
	return sum / float64(len(as))
}
