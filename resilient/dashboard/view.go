package dashboard

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// MaxShown is how many guards the page shows, the first by the order of the Source. Of
// those beyond it says how many there are, and how many of them are not closed.
const MaxShown = 1000

// view is what one page knows: frames are what it does not know yet.
type view struct {
	board  *Dashboard
	guards []*resilient.Guard
	tiles  []tile
	rates  []string // as they were sent
	second uint32   // up to which the line is known
	news   uint64
}

// frame is what a page is sent. The full one has everything, the others what has changed.
type frame struct {
	Now     int64                   `json:"now"`
	Seconds uint32                  `json:"seconds"` // that have passed since the last one
	Guards  []tile                  `json:"guards,omitempty"`
	Changed map[int]tile            `json:"changed,omitempty"`
	Traffic map[int]json.RawMessage `json:"traffic,omitempty"` // rates; with points, a pair for each second
	Points  map[int]json.RawMessage `json:"points,omitempty"`
	News    []item                  `json:"news,omitempty"`
	More    int                     `json:"more,omitempty"` // guards that are not shown
	Broken  int                     `json:"broken,omitempty"`
}

// next returns the frame that brings the page up to date, and whether it is a full one.
func (v *view) next() (f frame, full bool) {
	all := v.board.guards()
	shown := all[:min(len(all), MaxShown)]
	meter := v.board.meter
	now := meter.now()
	full = v.second == 0 || now-v.second > history || !slices.Equal(shown, v.guards)
	if full {
		*v = view{board: v.board, guards: slices.Clone(shown), tiles: make([]tile, len(shown)), rates: make([]string, len(shown))}
		v.second = now - min(history, now)
	}
	f = frame{Now: time.Now().UnixMilli(), Seconds: now - v.second, More: len(all) - len(shown)}
	f.Traffic, f.Points = map[int]json.RawMessage{}, map[int]json.RawMessage{}
	f.Changed = map[int]tile{}
	for i, guard := range shown {
		v.look(&f, i, guard, now)
	}
	if full {
		f.Guards, f.Changed = v.tiles, nil
	}
	for _, guard := range all[len(shown):] {
		if guard.Circuit().State() != breaker.Closed {
			f.Broken++
		}
	}
	v.second = now
	f.News, v.news = meter.news(v.news)
	return f, full
}

// look adds what is new of one guard.
func (v *view) look(f *frame, i int, guard *resilient.Guard, now uint32) {
	if t := tileOf(guard, v.tiles[i]); t != v.tiles[i] {
		v.tiles[i] = t
		f.Changed[i] = t
	}
	c := v.board.meter.of(guard.Name())
	if c == nil {
		return
	}
	if sent := c.rates(now).encode(); sent != v.rates[i] {
		v.rates[i] = sent
		f.Traffic[i] = json.RawMessage(sent)
	}
	if points := c.points(v.second, now); points != nil {
		f.Points[i] = points
	}
}

// points are the seconds from one to before another, a pair for each; nil if nothing
// happened.
func (c *counts) points(from, to uint32) json.RawMessage {
	out, some := make([]byte, 0, 64), false
	for at := from; at < to; at++ {
		p := c.point(at)
		some = some || p.all > 0
		out = append(out, "[,"[min(len(out), 1)])
		out = strconv.AppendUint(out, p.all, 10)
		out = append(out, ',')
		out = strconv.AppendUint(out, p.errors, 10)
	}
	if !some {
		return nil
	}
	return append(out, ']')
}

// encode writes [calls/s, refused/s, errors, attempts, p50, p90, p99], the last three in
// microseconds. What has no meaning is null.
func (r rates) encode() string {
	out := append(make([]byte, 0, 64), '[')
	for _, x := range []float64{r.calls, r.refused, r.errors, r.attempts} {
		if x < 0 {
			out = append(out, "null,"...)
			continue
		}
		out = strconv.AppendFloat(out, math.Round(x*1000)/1000, 'f', -1, 64)
		out = append(out, ',')
	}
	for _, d := range r.took {
		out = strconv.AppendInt(out, d.Microseconds(), 10)
		out = append(out, ',')
	}
	out[len(out)-1] = ']'
	return string(out)
}

// write is a frame as an event of a stream.
func (f frame) write(to *bytes.Buffer, full bool, id uint32) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	kind := "tick"
	if full {
		kind = "full"
	}
	to.WriteString("event: " + kind + "\nid: " + strconv.FormatUint(uint64(id), 10) + "\ndata: ")
	to.Write(data)
	to.WriteString("\n\n")
	return nil
}
