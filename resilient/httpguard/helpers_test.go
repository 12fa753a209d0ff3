package httpguard_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// The test binary is also one of the processes of the chain.
func TestMain(m *testing.M) {
	if os.Getenv(chainNext) != "" {
		os.Exit(serveChain())
	}
	os.Exit(m.Run())
}

// policy has three attempts without delays, and a circuit that never opens by itself.
func policy(edits ...func(*resilient.Policy)) resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffNone
	p.Retry.BaseDelay = 0
	p.Circuit.FailureThreshold = 1_000_000
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func attempts(n int) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Retry.MaxAttempts = n }
}

func threshold(n int) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Circuit.FailureThreshold = n }
}

func each(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.AttemptTimeout = d }
}

func total(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.TotalTimeout = d }
}

func newGuard(tb testing.TB, p resilient.Policy, options resilient.Options) *resilient.Guard {
	tb.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	guard, err := resilient.NewGuard("orders", p, &options)
	require.NoError(tb, err)
	return guard
}

// newClient makes a client with one guard, with connections of its own.
func newClient(tb testing.TB, guard *resilient.Guard, options httpguard.Options) *http.Client {
	tb.Helper()
	if options.Guards == nil {
		options.Guards = httpguard.One(guard)
	}
	if options.Next == nil {
		options.Next = &http.Transport{}
	}
	transport, err := httpguard.New(&options)
	require.NoError(tb, err)
	tb.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// server is one on the loopback that counts its requests.
type server struct {
	*httptest.Server
	requests atomic.Int64
}

// serve starts a server that is told the number of each request, from 1.
func serve(tb testing.TB, handle func(w http.ResponseWriter, r *http.Request, n int)) *server {
	tb.Helper()
	s := new(server)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle(w, r, int(s.requests.Add(1)))
	}))
	tb.Cleanup(s.Close)
	return s
}

// status answers with a status and a text.
func status(code int, text string) func(w http.ResponseWriter, r *http.Request, n int) {
	return func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// failing answers with a status so many times, and then with "fine".
func failing(times, code int) func(w http.ResponseWriter, r *http.Request, n int) {
	return func(w http.ResponseWriter, r *http.Request, n int) {
		if n <= times {
			status(code, "no")(w, r, n)
			return
		}
		_, _ = io.WriteString(w, "fine")
	}
}

func request(tb testing.TB, ctx context.Context, method, url string, body io.Reader) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	require.NoError(tb, err)
	return r
}

// fetch makes a request, which has a response, and reads its body.
func fetch(tb testing.TB, client *http.Client, r *http.Request) (code int, text string) {
	tb.Helper()
	resp, err := client.Do(r)
	require.NoError(tb, err)
	return resp.StatusCode, read(tb, resp)
}

func read(tb testing.TB, resp *http.Response) string {
	tb.Helper()
	text, err := io.ReadAll(resp.Body)
	assert.NoError(tb, err)
	assert.NoError(tb, resp.Body.Close())
	return string(text)
}

// roundTripper is a transport made to order, for what needs a bubble's time.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond is a response without a network.
func respond(code int, header http.Header, body io.ReadCloser) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: code, Header: header, Body: body}
}

// goroutines waits until no more than so many are left.
func goroutines(tb testing.TB, baseline int) {
	tb.Helper()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > baseline; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			require.LessOrEqual(tb, runtime.NumGoroutine(), baseline, "goroutines are left")
		}
	}
}

const soon = 10 * time.Second // generous: what is waited for comes at once
