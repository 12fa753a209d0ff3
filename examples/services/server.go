package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// server is a real HTTP server on the loopback interface that misbehaves as it is told to, and counts what reaches it.
type server struct {
	url   string
	work  http.Handler // what it does when it is well
	http  *http.Server
	ended chan struct{}

	mu      sync.Mutex
	script  []fault // one for each of the next requests; nil is none
	outage  fault   // for all requests after those
	counts  counts
	changed chan struct{} // closed and replaced when the counts change
}

// counts is what a server has seen.
type counts struct {
	arrivals []time.Time // of the requests
	inside   int         // requests that it is busy with
	peak     int         // the most that it was busy with at a time
	gone     int         // clients that went away without their answer
}

func startServer(work http.Handler) (*server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{
		url:     "http://" + listener.Addr().String(),
		work:    work,
		ended:   make(chan struct{}),
		changed: make(chan struct{}),
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.ended)
		_ = s.http.Serve(listener) // the error is that it was closed
	}()
	return s, nil
}

// close cuts all connections, and waits for the goroutines behind them.
func (s *server) close() error {
	err := s.http.Close()
	<-s.ended
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, s.await(ctx, func(c counts) bool { return c.inside == 0 }))
}

// ServeHTTP does what the script says, else the work.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server notices that a client has gone only once the request has been read.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f := s.arrive()
	defer s.count(func(c *counts) { c.inside-- })
	if f == nil {
		s.work.ServeHTTP(w, r)
		return
	}
	f(s, w, r)
}

func (s *server) arrive() (f fault) {
	s.count(func(c *counts) {
		c.arrivals = append(c.arrivals, time.Now())
		c.inside++
		c.peak = max(c.peak, c.inside)
		f = s.outage
		if len(s.script) > 0 {
			f, s.script = s.script[0], s.script[1:]
		}
	})
	return f
}

// count changes the counts and tells those who wait for it.
func (s *server) count(change func(c *counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
	close(s.changed)
	s.changed = make(chan struct{})
}

// await waits until the counts are as they should be.
func (s *server) await(ctx context.Context, enough func(c counts) bool) error {
	for {
		s.mu.Lock()
		done, changed := enough(s.counts), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// next sets what happens to the next requests, one by one.
func (s *server) next(faults ...fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = faults
}

// fail makes every request fail in that way, until heal.
func (s *server) fail(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.outage = nil, f
}

func (s *server) heal() { s.fail(nil) }

// seen returns the counts as they are.
func (s *server) seen() counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.arrivals = slices.Clone(c.arrivals)
	return c
}

// requests is how many there were.
func (s *server) requests() int { return len(s.seen().arrivals) }

// answer is a good answer.
func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // a client that is gone is none of its business
}
