package httpguard_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

func TestP133WhatMayBeRepeated(t *testing.T) {
	tests := []struct {
		method string
		header string
		tries  int64
	}{
		{method: "GET", tries: 3}, {method: "HEAD", tries: 3}, {method: "OPTIONS", tries: 3}, {method: "TRACE", tries: 3},
		{method: "PUT", tries: 3}, {method: "DELETE", tries: 3},
		{method: "POST", tries: 1}, {method: "PATCH", tries: 1}, {method: "BREW", tries: 1},
		{method: "POST", header: "Idempotency-Key", tries: 3}, {method: "PATCH", header: "Idempotency-Key", tries: 3},
		{method: "POST", header: "X-Idempotency-Key", tries: 3},
	}
	for _, test := range tests {
		t.Run(test.method+" "+test.header, func(t *testing.T) {
			s := serve(t, status(http.StatusServiceUnavailable, ""))
			client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
			r := request(t, t.Context(), test.method, s.URL, http.NoBody)
			if test.header != "" {
				r.Header.Set(test.header, "k-1")
			}
			code, _ := fetch(t, client, r)
			assert.Equal(t, http.StatusServiceUnavailable, code)
			assert.Equal(t, test.tries, s.requests.Load())
		})
	}
}

func TestMethod(t *testing.T) {
	assert.Equal(t, resilient.Idempotent("GET"), httpguard.Method(&http.Request{}))
	assert.Equal(t, resilient.NonIdempotent("other"), httpguard.Method(&http.Request{Method: "BREW-1234"}), "names are bounded")
	assert.Equal(t, resilient.NonIdempotent("CONNECT"), httpguard.Method(&http.Request{Method: "CONNECT"}))
}

func TestAnExplicitOpDecides(t *testing.T) {
	s := serve(t, status(http.StatusServiceUnavailable, ""))
	var ops []string
	guard := newGuard(t, policy(), resilient.Options{Observers: []resilient.Observer{resilient.ObserverFunc(
		func(_ context.Context, event resilient.Event) {
			if done, ok := event.(resilient.CallDone); ok {
				ops = append(ops, done.Operation)
			}
		})}})
	client := newClient(t, guard, httpguard.Options{Op: func(r *http.Request) (resilient.Op, bool) {
		switch r.URL.Path {
		case "/search":
			return resilient.Idempotent("search"), true
		case "/next":
			return resilient.NonIdempotent("next"), true
		}
		return resilient.Op{}, false
	}})
	for _, test := range []struct {
		method, path string
		tries        int64
	}{{"POST", "/search", 3}, {"GET", "/next", 1}, {"GET", "/", 3}, {"POST", "/", 1}} {
		before := s.requests.Load()
		fetch(t, client, request(t, t.Context(), test.method, s.URL+test.path, strings.NewReader("q")))
		assert.Equal(t, test.tries, s.requests.Load()-before, test)
	}
	assert.Equal(t, []string{"search", "next", "GET", "POST"}, ops)
}

func TestAGuardPerHostOrRoute(t *testing.T) {
	a, b := serve(t, status(http.StatusInternalServerError, "")), serve(t, status(http.StatusOK, ""))
	var mu sync.Mutex
	guards := guardsByName{}
	client := newClient(t, nil, httpguard.Options{
		Guards: guardsFunc(func(name string) *resilient.Guard {
			mu.Lock()
			defer mu.Unlock()
			return guards.get(t, name)
		}),
		Name: func(r *http.Request) string {
			if strings.HasPrefix(r.URL.Path, "/orders/") {
				return "orders"
			}
			return ""
		},
	})
	for _, url := range []string{a.URL, b.URL, a.URL + "/orders/1", a.URL + "/orders/2"} {
		fetch(t, client, request(t, t.Context(), "GET", url, nil))
	}
	assert.Equal(t, map[string]int{
		strings.TrimPrefix(a.URL, "http://"): 3, strings.TrimPrefix(b.URL, "http://"): 0, "orders": 6,
	}, guards.failures())
	assert.Equal(t, "example.com:80", httpguard.Host(httptest.NewRequest("GET", "http://EXAMPLE.com:80/x", nil)))
	assert.Len(t, httpguard.Host(httptest.NewRequest("GET", "http://"+strings.Repeat("a", 1000), nil)), 260)
}

type guardsByName map[string]*resilient.Guard

func (g guardsByName) get(tb testing.TB, name string) *resilient.Guard {
	if g[name] == nil {
		g[name] = newGuard(tb, policy(), resilient.Options{})
	}
	return g[name]
}

func (g guardsByName) failures() map[string]int {
	found := map[string]int{}
	for name, guard := range g {
		found[name] = guard.Circuit().Snapshot().Failures
	}
	return found
}

type guardsFunc func(name string) *resilient.Guard

func (f guardsFunc) Guard(name string) *resilient.Guard { return f(name) }

func TestP134EachAttemptSendsTheWholeBody(t *testing.T) {
	for name, body := range map[string]func() io.Reader{
		"in memory":              func() io.Reader { return strings.NewReader(strings.Repeat("order ", 50_000)) },
		"one that says too much": func() io.Reader { return bytes.NewReader([]byte("order")) },
	} {
		t.Run(name, func(t *testing.T) {
			want, _ := io.ReadAll(body())
			s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
				got, err := io.ReadAll(r.Body)
				assert.NoError(t, err)
				assert.Equal(t, string(want), string(got))
				failing(2, http.StatusBadGateway)(w, r, n)
			})
			client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
			code, text := fetch(t, client, request(t, t.Context(), "PUT", s.URL, body()))
			assert.Equal(t, http.StatusOK, code)
			assert.Equal(t, "fine", text)
			assert.EqualValues(t, 3, s.requests.Load())
		})
	}
}

// A body that can be read only once is sent once, also where the policy says that all ops may be repeated.
func TestP134ABodyThatCannotBeHadAgainIsSentOnce(t *testing.T) {
	for _, method := range []string{"PUT", "POST"} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
			got, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Equal(t, "order", string(got))
			failing(1, http.StatusBadGateway)(w, r, n)
		})
		all := policy(func(p *resilient.Policy) { p.Retry.IdempotentOnly = false })
		client := newClient(t, newGuard(t, all, resilient.Options{}), httpguard.Options{})
		code, text := fetch(t, client, request(t, t.Context(), method, s.URL, io.MultiReader(strings.NewReader("order"))))
		assert.Equal(t, http.StatusBadGateway, code)
		assert.Equal(t, "no", text)
		assert.EqualValues(t, 1, s.requests.Load())
	}
}

func TestABodyThatCannotBeMadeAnewEndsTheCall(t *testing.T) {
	s := serve(t, status(http.StatusBadGateway, ""))
	guard := newGuard(t, policy(), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	r := request(t, t.Context(), "PUT", s.URL, strings.NewReader("order"))
	gone := errors.New("the file is gone")
	r.GetBody = func() (io.ReadCloser, error) { return nil, gone }
	_, err := client.Do(r)
	require.ErrorIs(t, err, gone)
	assert.EqualValues(t, 1, s.requests.Load())
	assert.Equal(t, 1, guard.Circuit().Snapshot().Failures, "it says nothing about the server")
}

// closer is a body that knows whether it has been closed.
type closer struct {
	io.Reader
	closed atomic.Bool
}

func (c *closer) Close() error {
	c.closed.Store(true)
	return nil
}

// A RoundTripper closes the request's body, whatever happens.
func TestTheRequestsBodyIsClosed(t *testing.T) {
	s := serve(t, status(http.StatusOK, ""))
	forced := newGuard(t, policy(), resilient.Options{})
	forced.Circuit().ForceOpen()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name  string
		ctx   context.Context
		guard *resilient.Guard
		url   string
		err   error

		refused bool
	}{
		{name: "an answer", ctx: t.Context(), guard: newGuard(t, policy(), resilient.Options{}), url: s.URL},
		{name: "refused", ctx: t.Context(), guard: forced, url: s.URL, refused: true},
		{name: "no guard", ctx: t.Context(), url: s.URL, err: resilient.ErrNilGuard},
		{name: "over already", ctx: over, guard: newGuard(t, policy(), resilient.Options{}), url: s.URL, err: context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := &closer{Reader: strings.NewReader("order")}
			client := newClient(t, test.guard, httpguard.Options{})
			resp, err := client.Transport.RoundTrip(request(t, test.ctx, "POST", test.url, body))
			var rejected *resilient.RejectedError
			switch {
			case test.refused:
				require.ErrorAs(t, err, &rejected)
			case test.err != nil:
				require.ErrorIs(t, err, test.err)
			default:
				require.NoError(t, err)
				read(t, resp)
			}
			assert.Eventually(t, body.closed.Load, soon, 1e6)
		})
	}
	body := &closer{Reader: strings.NewReader("order")}
	_, err := (*httpguard.Transport)(nil).RoundTrip(request(t, t.Context(), "POST", s.URL, body))
	require.ErrorIs(t, err, resilient.ErrNilGuard)
	assert.True(t, body.closed.Load())
	(*httpguard.Transport)(nil).CloseIdleConnections()
}

func TestTheRequestStaysAsItIs(t *testing.T) {
	s := serve(t, failing(1, http.StatusBadGateway))
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
	r := request(t, t.Context(), "GET", s.URL, nil)
	r.Header.Set("Accept", "text/plain")
	before := r.Clone(r.Context())
	resp, err := client.Do(r)
	require.NoError(t, err)
	read(t, resp)
	assert.Equal(t, before.Header, r.Header)
	assert.Same(t, r, resp.Request, "and not the attempt's, whose context ends")
	assert.NoError(t, resp.Request.Context().Err())
}

func TestARequestWithoutAHostIsNobodysFault(t *testing.T) {
	guard := newGuard(t, policy(), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	_, err := client.Get("http:///path")
	require.Error(t, err)
	assert.Zero(t, guard.Circuit().Snapshot().Failures)
}

// The replay mode of tests makes what has succeeded again, and the caller has the first one's response.
func TestTheReplayModeLeavesTheFirstResponse(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		body, _ := io.ReadAll(r.Body)
		if n == 1 {
			_, _ = w.Write(append(body, " one"...))
			return
		}
		w.WriteHeader(http.StatusConflict)
	})
	outcomes := make(chan resilient.Outcome, 1)
	guard := newGuard(t, policy(), resilient.Options{Replay: func(context.Context, resilient.Call) func(resilient.Outcome, error) {
		return func(outcome resilient.Outcome, _ error) { outcomes <- outcome }
	}})
	client := newClient(t, guard, httpguard.Options{})
	code, text := fetch(t, client, request(t, t.Context(), "PUT", s.URL, strings.NewReader("order")))
	assert.Equal(t, http.StatusOK, code)
	assert.Equal(t, "order one", text)
	assert.EqualValues(t, 2, s.requests.Load())
	assert.Equal(t, resilient.OutcomeSuccess, <-outcomes)

	var bodies []*closer
	client = newClient(t, guard, httpguard.Options{Next: roundTripper(func(*http.Request) (*http.Response, error) {
		bodies = append(bodies, &closer{Reader: strings.NewReader("text")})
		return respond(200, nil, bodies[len(bodies)-1]), nil
	})})
	resp, err := client.Get("http://orders")
	require.NoError(t, err)
	require.Len(t, bodies, 2)
	assert.False(t, bodies[0].closed.Load(), "the caller's")
	assert.True(t, bodies[1].closed.Load(), "nobody's")
	assert.Equal(t, "text", read(t, resp))
}

func TestNewRefusesWhatHasNoGuards(t *testing.T) {
	_, err := httpguard.New(nil)
	require.ErrorIs(t, err, httpguard.ErrNoGuards)
	_, err = httpguard.New(&httpguard.Options{})
	require.ErrorIs(t, err, httpguard.ErrNoGuards)
}
