package resilient_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
)

// The context of a call goes all the way through net/http, which makes children of it and asks it for Done; and nothing of
// that is left, neither by calls that succeed nor by those that are cut.
func TestAGuardedHTTPClientLeaksNothing(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := requests.Add(1); {
		case r.URL.Path == "/hang":
			<-r.Context().Done()
		case n%50 == 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = io.WriteString(w, "hello")
		}
	}))
	defer server.Close()
	client := server.Client()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	g := newGuard(t, steady(noDelay, each(sec)), nil)
	fetch := resilient.Wrap(g, get, func(ctx context.Context, path string) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			return "", resilient.Permanent(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %s", strconv.Itoa(response.StatusCode))
		}
		return string(body), err
	})
	call := func(n int) {
		for range n {
			text, err := fetch(ctx, "/")
			require.NoError(t, err)
			require.Equal(t, "hello", text)
		}
	}
	call(500)
	client.CloseIdleConnections()
	running, before := runtime.NumGoroutine(), heap()
	call(10_000)
	hang := named(t, "hang", steady(attempts(1), total(20*ms)), nil)
	for range 5 {
		err := resilient.Do(ctx, hang, get, func(ctx context.Context) error {
			_, err := fetch(ctx, "/hang")
			return err
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	client.CloseIdleConnections()
	goroutines(t, running)
	assert.Less(t, heap()-before, int64(2<<20))
	assert.Greater(t, requests.Load(), int64(10_000), "with retries in between")
}

// transport is a guarded http.RoundTripper, as the client library of a service has one.
type transport struct {
	guard *resilient.Guard
	next  http.RoundTripper
}

// RoundTrip reads the answer inside of the call, whose context ends with it.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := resilient.Execute(r.Context(), t.guard, get, func(ctx context.Context) ([]byte, error) {
		response, err := t.next.RoundTrip(r.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		defer func() { _ = response.Body.Close() }()
		return io.ReadAll(response.Body)
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(body))}, nil
}

type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The retries of a client library and those round it do not multiply: the scope is in the request's context.
func TestA63AGuardedTransportUnderAGuardedCallTriesOnce(t *testing.T) {
	requests := 0
	client := http.Client{Transport: transport{
		guard: newGuard(t, steady(noDelay), nil),
		next:  roundTripper(func(*http.Request) (*http.Response, error) { requests++; return nil, errDown }),
	}}
	fetch := func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost", http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err
	}
	require.ErrorIs(t, fetch(t.Context()), errDown)
	assert.Equal(t, 3, requests, "by itself it retries")
	requests = 0
	require.ErrorIs(t, resilient.Do(t.Context(), newGuard(t, steady(noDelay), nil), get, fetch), errDown)
	assert.Equal(t, 3, requests, "not 9")
}
