package dashboard

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"path"
	"sync"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
)

//go:embed assets
var assets embed.FS

var pages = template.Must(template.ParseFS(assets, "assets/*.html"))

// Dashboard is the operators' page: an [http.Handler] for the root of a path that is its
// own. Under another one, http.StripPrefix takes the prefix away; it must end with a slash
// in the browser. It is safe for concurrent use. Make it with [New]; a program that shuts
// its server down ends the streams with Close.
type Dashboard struct {
	source     resilient.Source
	options    Options
	meter      *Meter
	mux        *http.ServeMux
	maxClients int64
	clients    atomic.Int64
	closed     chan struct{}
	closeOnce  sync.Once
}

// New makes a dashboard of the guards of a source; a nil one has none. A nil options is
// valid.
func New(source resilient.Source, options *Options) *Dashboard {
	d := &Dashboard{source: source, mux: http.NewServeMux(), closed: make(chan struct{})}
	if options != nil {
		d.options = *options
	}
	if d.source == nil {
		d.source = resilient.GuardList(nil)
	}
	if d.options.Title == "" {
		d.options.Title = defaultTitle
	}
	d.meter = d.options.Meter
	if d.meter == nil {
		d.meter = NewMeter() // a clock, and room for orders
	}
	d.maxClients = int64(d.options.MaxClients)
	if d.maxClients <= 0 {
		d.maxClients = defaultMaxClients
	}
	d.mux.HandleFunc("GET /{$}", d.index)
	d.mux.HandleFunc("GET /events", d.events)
	d.mux.HandleFunc("GET /guards/{name}", d.guardPage)
	for name, kind := range map[string]string{
		"app.css": "text/css; charset=utf-8",
		"app.js":  "text/javascript; charset=utf-8",
	} {
		d.mux.HandleFunc("GET /"+name, asset(name, kind))
	}
	if d.options.Control != nil {
		d.mux.HandleFunc("POST /guards/{name}/control", d.control)
	}
	return d
}

// policy is what a browser may do with the page: nothing but what comes from where it does.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP serves the page, its parts, and its stream of events.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")        // for those who do not know frame-ancestors
	h.Set("Referrer-Policy", "same-origin") // with less, a form's Origin is "null"
	h.Set("Cache-Control", "no-store")
	d.mux.ServeHTTP(w, r)
}

// Close ends the streams of events, and keeps new ones from beginning: for
// http.Server.RegisterOnShutdown, since a shutdown waits for them. It may be called again.
func (d *Dashboard) Close() { d.closeOnce.Do(func() { close(d.closed) }) }

// all goes through the guards there are now, by the names that the source has for them.
func (d *Dashboard) all(yield func(name string, guard *resilient.Guard) bool) {
	if own, ok := d.source.(resilient.GuardList); ok { // without a search for each name, and with those of one name
		for _, guard := range own {
			if guard.Circuit() != nil && !yield(guard.Name(), guard) {
				return
			}
		}
		return
	}
	for _, name := range d.source.Names() {
		if guard, ok := d.source.Lookup(name); ok && guard.Circuit() != nil && !yield(name, guard) {
			return
		}
	}
}

// guards are those there are now.
func (d *Dashboard) guards() (found []*resilient.Guard) {
	for _, guard := range d.all {
		found = append(found, guard)
	}
	return found
}

// find returns the guard that is shown under exactly that name, and the source's name for
// it, which may hold secrets. Where several are shown under it, it is none of them.
func (d *Dashboard) find(shown string) (guard *resilient.Guard, name string, ok bool) {
	for candidate, g := range d.all {
		if g.Name() != shown || g == guard {
			continue
		}
		if guard != nil {
			return nil, "", false
		}
		guard, name = g, candidate
	}
	return guard, name, guard != nil
}

func asset(name, kind string) http.HandlerFunc {
	data, err := assets.ReadFile(path.Join("assets", name))
	return func(w http.ResponseWriter, r *http.Request) {
		if err != nil { // a name that is not embedded, as a test would show
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(data)
	}
}

// render writes a page, or says that it could not be made.
func (d *Dashboard) render(w http.ResponseWriter, r *http.Request, name string, data any) {
	var out bytes.Buffer
	if err := pages.ExecuteTemplate(&out, name, data); err != nil {
		d.options.logger().ErrorContext(r.Context(), "dashboard: page", "page", name, "error", err.Error())
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

func (d *Dashboard) index(w http.ResponseWriter, r *http.Request) {
	d.render(w, r, "index.html", map[string]any{"Title": d.options.Title, "Counts": d.options.Meter != nil})
}
