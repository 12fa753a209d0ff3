package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// fault is one way for a server to fail a request. Each happens on the wire, as it does in the field.
type fault func(s *server, w http.ResponseWriter, r *http.Request)

// status answers with a status, an explanation and header lines, given as name, value, name, value.
func status(code int, text string, header ...string) fault {
	return func(_ *server, w http.ResponseWriter, _ *http.Request) {
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		http.Error(w, text, code)
	}
}

// unavailable is a server that is overloaded or restarting.
func unavailable() fault { return status(http.StatusServiceUnavailable, "try later") }

// unavailableFor is one that knows for how long.
func unavailableFor(seconds int) fault {
	return status(http.StatusServiceUnavailable, "try later", "Retry-After", strconv.Itoa(seconds))
}

// tooMany is a rate limit.
func tooMany(seconds int) fault {
	return status(http.StatusTooManyRequests, "slow down", "Retry-After", strconv.Itoa(seconds))
}

// reset cuts the connection with a TCP reset instead of an answer.
func reset(_ *server, w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // cuts it as well, if less rudely
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// resetAfterWork does the work and cuts the connection instead of telling.
func resetAfterWork(s *server, w http.ResponseWriter, r *http.Request) {
	s.work.ServeHTTP(newDraft(), r)
	reset(s, w, r)
}

// resetAfter begins an answer of lines that has no end.
func resetAfter(lines int) fault {
	return func(s *server, w http.ResponseWriter, r *http.Request) {
		for i := range lines {
			_, _ = fmt.Fprintf(w, "event %d\n", i+1)
		}
		_ = http.NewResponseController(w).Flush()
		reset(s, w, r)
	}
}

// hang never answers, until the client goes away.
func hang(s *server, _ http.ResponseWriter, r *http.Request) {
	<-r.Context().Done()
	s.count(func(c *counts) { c.gone++ })
}

// hold answers rightly, but not before the channel is closed.
func hold(release <-chan struct{}) fault {
	return func(s *server, w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			s.work.ServeHTTP(w, r)
		case <-r.Context().Done():
			s.count(func(c *counts) { c.gone++ })
		}
	}
}

// meet answers rightly once that many requests are there together.
func meet(n int, then fault) fault {
	return func(s *server, w http.ResponseWriter, r *http.Request) {
		if err := s.await(r.Context(), func(c counts) bool { return c.peak >= n }); err != nil {
			s.count(func(c *counts) { c.gone++ })
			return
		}
		if then != nil {
			then(s, w, r)
			return
		}
		s.work.ServeHTTP(w, r)
	}
}

// slowBody answers rightly, a few bytes at a time.
func slowBody(s *server, w http.ResponseWriter, r *http.Request) {
	d := newDraft()
	s.work.ServeHTTP(d, r)
	w.Header().Set("Content-Length", strconv.Itoa(d.Len()))
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for part := range slices.Chunk(d.Bytes(), 2) {
		_, _ = w.Write(part)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-tick.C:
		case <-r.Context().Done():
			s.count(func(c *counts) { c.gone++ })
			return
		}
	}
}

// badJSON is the page of a proxy in between, sent as a success.
func badJSON(_ *server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<html><body>Welcome to the proxy</body></html>")
}

// truncated announces the whole answer and sends half of it.
func truncated(s *server, w http.ResponseWriter, r *http.Request) {
	d := newDraft()
	s.work.ServeHTTP(d, r)
	w.Header().Set("Content-Length", strconv.Itoa(d.Len()))
	_, _ = w.Write(d.Bytes()[:d.Len()/2])
}

// draft takes an answer that is not sent, or not as it is.
type draft struct {
	bytes.Buffer
	header http.Header
}

func newDraft() *draft { return &draft{header: http.Header{}} }

func (d *draft) Header() http.Header { return d.header }

func (d *draft) WriteHeader(int) { /* the faults send what they like */ }
