package dashboard

import (
	"bytes"
	"net/http"
	"time"
)

const (
	// writeLimit is how long a page may take to receive a frame.
	writeLimit = 5 * time.Second
	// late is how far into a second frames are made, so that the one before it is whole.
	late = 20 * time.Millisecond
)

// events is the stream of one page: everything at first, and each second what has changed,
// if only that a second has passed. A page that was away is told everything anew, so the
// Last-Event-ID that it sends does not matter.
func (d *Dashboard) events(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead { // it would wait for an end that does not come
		w.Header().Set("Content-Type", "text/event-stream")
		return
	}
	if d.clients.Add(1) > d.maxClients {
		d.clients.Add(-1)
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	defer d.clients.Add(-1)
	connection := http.NewResponseController(w)
	if r.ProtoMajor == 1 {
		// The limit that is set below is the connection's, and holds for its last bytes too:
		// nothing must follow on it.
		w.Header().Set("Connection", "close")
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies that would wait for more

	v := view{board: d}
	out := bytes.NewBufferString("retry: 1000\n")
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		case <-d.closed:
			return
		}
		f, full := v.next()
		if err := f.write(out, full, v.second); err != nil {
			d.options.logger().ErrorContext(r.Context(), "dashboard: frame", "error", err.Error())
			return
		}
		_ = connection.SetWriteDeadline(time.Now().Add(writeLimit)) // where it cannot be set, the server's own holds
		if _, err := w.Write(out.Bytes()); err != nil {
			return
		}
		if err := connection.Flush(); err != nil {
			return
		}
		out.Reset()
		timer.Reset(d.meter.untilNext() + late)
	}
}
