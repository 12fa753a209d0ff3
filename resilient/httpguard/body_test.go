package httpguard_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// P49: a body of 1 MB, of which the half is sent only once the call has returned.
func TestP49TheBodyIsReadableAfterTheCall(t *testing.T) {
	half := bytes.Repeat([]byte("half"), 128<<10)
	returned := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		_, _ = w.Write(half)
		_ = http.NewResponseController(w).Flush()
		<-returned
		_, _ = w.Write(half)
	})
	client := newClient(t, newGuard(t, policy(each(30*time.Second)), resilient.Options{}), httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	close(returned)
	assert.Len(t, read(t, resp), 1<<20)
	assert.EqualValues(t, 1, s.requests.Load())
}

// P49: the attempt timeout is one for the header.
func TestP49TheBodyOutlivesTheAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, newGuard(t, policy(each(time.Second)), resilient.Options{}), httpguard.Options{
			Next: roundTripper(func(r *http.Request) (*http.Response, error) {
				left := 10
				return respond(200, nil, io.NopCloser(readerFunc(func(p []byte) (int, error) {
					select {
					case <-r.Context().Done():
						return 0, context.Cause(r.Context())
					case <-time.After(time.Second):
					}
					if left--; left < 0 {
						return 0, io.EOF
					}
					return copy(p, "more "), nil
				}))), nil
			}),
		})
		resp, err := client.Get("http://orders")
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat("more ", 10), read(t, resp))
	})
}

// The context of a body ends when the body is closed, or read to its end: whoever serves it learns of it.
func TestP49TheContextEndsWithTheBody(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	})
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	select {
	case <-ended:
	case <-time.After(soon):
		t.Fatal("the server still serves what nobody reads")
	}

	synctest.Test(t, func(t *testing.T) {
		var ctx context.Context
		client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{
			Next: roundTripper(func(r *http.Request) (*http.Response, error) {
				ctx = r.Context()
				return respond(200, nil, io.NopCloser(strings.NewReader("text"))), nil
			}),
		})
		for _, end := range []func(resp *http.Response) error{
			func(resp *http.Response) error { return resp.Body.Close() },
			func(resp *http.Response) error { _, err := io.ReadAll(resp.Body); return err },
		} {
			resp, err := client.Get("http://orders")
			require.NoError(t, err)
			assert.NoError(t, ctx.Err())
			require.NoError(t, end(resp))
			assert.Equal(t, context.Canceled, ctx.Err())
		}
	})
}

// P49: what nobody closes ends with the total timeout.
func TestP49TheContextEndsWithTheTotalTimeout(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		_, _ = io.WriteString(w, "begin")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	client := newClient(t, newGuard(t, policy(total(time.Second)), resilient.Options{}), httpguard.Options{})
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	assert.Equal(t, "begin", string(text))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A response without a body has nobody who would have to close it.
func TestAResponseWithoutABodyKeepsNothing(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"none": nil, "http.NoBody": http.NoBody} {
		t.Run(name, func(t *testing.T) {
			var ctx context.Context
			client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{
				Next: roundTripper(func(r *http.Request) (*http.Response, error) {
					ctx = r.Context()
					return respond(204, nil, body), nil
				}),
			})
			resp, err := client.Get("http://orders")
			require.NoError(t, err)
			assert.Error(t, ctx.Err())
			assert.Empty(t, read(t, resp))
		})
	}
}

// The bodies of attempts that failed are read to their end, so that one connection does for all.
func TestFailedAttemptsGiveTheirConnectionBack(t *testing.T) {
	var connections atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status(http.StatusServiceUnavailable, strings.Repeat("busy ", 10_000))(w, nil, 0)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	client := newClient(t, newGuard(t, policy(attempts(20)), resilient.Options{}), httpguard.Options{})
	code, text := fetch(t, client, request(t, t.Context(), "GET", s.URL, nil))
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Len(t, text, 50_000, "the last one is whole")
	assert.EqualValues(t, 1, connections.Load())
}

// Neither a body that is long nor one that does not end holds the next attempt up.
func TestFailedAttemptsAreReadWithinBounds(t *testing.T) {
	t.Run("bytes", func(t *testing.T) {
		var sent atomic.Int64
		var bodies []*closer
		client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{
			Next: roundTripper(func(*http.Request) (*http.Response, error) {
				body := &closer{Reader: readerFunc(func(p []byte) (int, error) { sent.Add(int64(len(p))); return len(p), nil })}
				bodies = append(bodies, body)
				return respond(503, nil, body), nil
			}),
		})
		resp, err := client.Get("http://orders")
		require.NoError(t, err)
		require.Len(t, bodies, 3)
		assert.True(t, bodies[0].closed.Load() && bodies[1].closed.Load())
		assert.False(t, bodies[2].closed.Load(), "the last one is the caller's")
		assert.LessOrEqual(t, sent.Load(), int64(2*(64<<10+1)))
		require.NoError(t, resp.Body.Close())
		assert.True(t, bodies[2].closed.Load())
	})
	t.Run("time", func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
			if n == 3 {
				status(http.StatusOK, "fine")(w, r, n)
				return
			}
			status(http.StatusServiceUnavailable, "begin")(w, r, n)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
		start := time.Now()
		_, text := fetch(t, client, request(t, t.Context(), "GET", s.URL, nil))
		assert.Equal(t, "fine", text)
		assert.Less(t, time.Since(start), soon)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A response that has switched protocols is a connection, which can be written to and has no end.
func TestSwitchedProtocols(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := buffered.ReadString('\n')
		_, _ = io.WriteString(conn, line)
	})
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{})
	r := request(t, t.Context(), "GET", s.URL, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	connection, ok := resp.Body.(io.ReadWriteCloser)
	require.True(t, ok)
	_, err = io.WriteString(connection, "hello\n")
	require.NoError(t, err)
	line, err := bufio.NewReader(connection).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "hello\n", line)
}

func TestClientsLeaveNothing(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case r.URL.Path == "/hang":
			<-r.Context().Done()
		case n%5 == 0:
			status(http.StatusServiceUnavailable, "busy")(w, r, n)
		default:
			status(http.StatusOK, "fine")(w, r, n)
		}
	})
	client := newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{Op: func(r *http.Request) (resilient.Op, bool) {
		return resilient.Idempotent("hang").WithAttemptTimeout(20 * time.Millisecond), r.URL.Path == "/hang"
	}})
	fetch(t, client, request(t, t.Context(), "GET", s.URL, nil))
	client.CloseIdleConnections()
	running := runtime.NumGoroutine()
	for range 500 {
		fetch(t, client, request(t, t.Context(), "GET", s.URL, nil))
	}
	_, err := client.Get(s.URL + "/hang")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var timeout net.Error
	require.True(t, errors.As(err, &timeout) && timeout.Timeout())
	client.CloseIdleConnections()
	goroutines(t, running)
}
