package dashboard

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// guardView is what the page of one guard is made of.
type guardView struct {
	Title   string
	Tile    tile
	Since   string
	Until   string
	Failed  string
	Window  breaker.Counts // of a closed circuit that looks at one
	Over    uint64         // calls that went on to an alternative
	Policy  string
	Picture *picture
	News    []line
	Path    string // where orders go; "" if nobody may give any
}

// line is an item with its time for people.
type line struct {
	item
	When string
}

func (d *Dashboard) guardPage(w http.ResponseWriter, r *http.Request) {
	guard, name, ok := d.find(r.PathValue("name"))
	if !ok {
		http.Error(w, "there is no guard of exactly that name", http.StatusNotFound)
		return
	}
	v := guardView{Title: d.options.Title, Tile: tileOf(guard, tile{})}
	v.Since, v.Until, v.Failed = when(v.Tile.Since), when(v.Tile.Until), when(v.Tile.Failed)
	v.Window = guard.Circuit().Snapshot().Window
	c := d.meter.of(guard.Name())
	if c != nil {
		v.Over = c.totals.fellOver.Load()
	}
	v.Policy, v.Picture = d.explain(guard, name)
	for _, i := range slices.Backward(c.news()) {
		v.News = append(v.News, line{item: i, When: when(i.At)})
	}
	if d.options.Control != nil {
		v.Path = "./" + url.PathEscape(guard.Name())
	}
	d.render(w, r, "guard.html", v)
}

// explain is what the policy comes to, in words and as a picture.
func (d *Dashboard) explain(guard *resilient.Guard, name string) (text string, drawn *picture) {
	if d.options.Explain != nil {
		if explained := d.options.Explain(name); explained != nil {
			return explained.String(), pictureOf(explained)
		}
	}
	return bare(guard.Policy()), nil
}

// bare lists a policy's values, for want of an explanation.
func bare(p resilient.Policy) string {
	var out strings.Builder
	row := func(name string, value any) { fmt.Fprintf(&out, "%-22s %v\n", name, value) }
	row("attempts", p.Retry.MaxAttempts)
	row("backoff", p.Retry.Backoff)
	row("base delay", p.Retry.BaseDelay)
	row("max delay", p.Retry.MaxDelay)
	row("jitter", p.Retry.Jitter)
	row("idempotent ops only", p.Retry.IdempotentOnly)
	row("total timeout", p.TotalTimeout)
	if p.AttemptTimeout > 0 {
		row("attempt timeout", p.AttemptTimeout)
	}
	if !p.Circuit.Enabled {
		row("circuit", breaker.Disabled)
		return out.String()
	}
	row("failure threshold", p.Circuit.FailureThreshold)
	row("recovery timeout", p.Circuit.RecoveryTimeout)
	row("cooldown", p.Circuit.Cooldown)
	return out.String()
}

// when is a time for people; "" is none.
func when(millis int64) string {
	if millis == 0 {
		return ""
	}
	return time.UnixMilli(millis).UTC().Format("2006-01-02 15:04:05 UTC")
}
