package main

import (
	"context"
	"errors"
	"net/http"
)

// errUnavailable is what a dependency that fails returns.
var errUnavailable = errors.New("unavailable")

// service is the dependency behind every guarded call: the same work for every contestant, and little of it, so that
// what is measured is what stands round it. Each goroutine has its own.
type service struct {
	failures int // how often a call fails before it succeeds
	asksDone bool
	client   *http.Client // nil: the work is here, and not behind a network
	calls    int          // attempts that reached it
	left     int          // failures before the next success
	sum      int

	sink *[64]byte

	_ [128]byte // no cache line is shared with another goroutine's service
}

// call is a method, and has parameters, as the real ones do: the functions that are guarded capture both.
//
//go:noinline
func (s *service) call(ctx context.Context, id int) (int, error) {
	s.calls++
	if s.asksDone {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		default:
		}
	}
	if s.client != nil {
		if err := fetch(ctx, s.client); err != nil {
			return 0, err
		}
	}
	if s.left > 0 {
		s.left--
		return 0, errUnavailable
	}
	s.left = s.failures
	s.sum += id
	return id, nil
}

// newService makes a service whose calls fail that often before each success.
func newService(r row) *service {
	s := &service{failures: r.failures, left: r.failures, asksDone: r.asksDone}
	if r.overHTTP {
		s.client = new(http.Client{Transport: new(http.Transport{})}) // with a connection of its own
	}
	return s
}
