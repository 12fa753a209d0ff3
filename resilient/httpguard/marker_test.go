package httpguard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	url, name, operation, header, body, sent, path string
	fail                                           error
}

// A91: a secret goes into every input of a guarded request, one at a time, and comes out of none of the sinks.
func TestNoSecretLeavesARequest(t *testing.T) {
	sinks := marker.New(t, "resilient/httpguard")
	for input, p := range map[string]poison{
		"URL":               {url: "http://app:" + marker.Secret + "@orders.internal/x?token=" + marker.Secret},
		"guard's name":      {name: "orders " + marker.Pair},
		"operation":         {operation: marker.URL},
		"request's header":  {sent: "Bearer " + marker.Secret},
		"response's header": {header: marker.Text},
		"response's body":   {body: marker.Text},
		"transport's error": {fail: errors.New(marker.Text)},
		"path on the wire":  {path: marker.Pair},
	} {
		t.Run(input, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) })
	}
}

// lockedBuilder is a log.
type lockedBuilder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	log := &lockedBuilder{}
	observer := resilient.ObserverFunc(func(_ context.Context, e resilient.Event) { out.Put("event", e) })
	if p.name == "" {
		p.name = "orders"
	}
	guard, err := resilient.NewGuard(p.name, policy(threshold(5)), &resilient.Options{
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), Observers: []resilient.Observer{observer},
	})
	require.NoError(t, err)
	transport, err := httpguard.New(&httpguard.Options{
		Guards: httpguard.One(guard), StatusErrors: true,
		Op: func(*http.Request) (resilient.Op, bool) { return resilient.Idempotent("GET " + p.operation), true },
		Next: roundTripper(func(r *http.Request) (*http.Response, error) {
			out.Put("scope on the wire", r.Header.Get(nesting.Header))
			if p.fail != nil {
				return nil, p.fail
			}
			if p.sent != "" || strings.Contains(p.url, marker.Secret) { // as the standard library's own do
				return nil, &url.Error{Op: "Get", URL: r.URL.String(), Err: errors.New("refused: Authorization: " + r.Header.Get("Authorization"))}
			}
			return &http.Response{
				StatusCode: http.StatusServiceUnavailable, Header: http.Header{"X-Debug": {p.header}, "Set-Cookie": {p.header}},
				Body: io.NopCloser(strings.NewReader(p.body)), Request: r,
			}, nil
		}),
	})
	require.NoError(t, err)
	if p.url == "" {
		p.url = "http://orders.internal/x"
	}
	handler := httpguard.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		out.Put("nesting path", nesting.Path(in.Context()))
		for range 3 {
			request, err := http.NewRequestWithContext(context.WithoutCancel(in.Context()), http.MethodGet, p.url, nil)
			require.NoError(t, err)
			request.Header.Set("Authorization", p.sent)
			response, err := transport.RoundTrip(request)
			if response != nil {
				_ = response.Body.Close()
			}
			putErrors(out, err)
		}
	}), httpguard.Anyone)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	handler.ServeHTTP(httptest.NewRecorder(), r) // with retries of its own
	r.Header.Set(nesting.Header, "depth=1;path=plans."+url.QueryEscape(p.path))
	handler.ServeHTTP(httptest.NewRecorder(), r) // under somebody's
	_, err = httpguard.New(&httpguard.Options{})
	out.Put("error of options", err)
	out.Put("log at debug", log.text.String())
}

// putErrors looks at the errors that are ours.
func putErrors(out *marker.Seed, err error) {
	var (
		exhausted *resilient.ExhaustedError
		rejected  *resilient.RejectedError
		status    *httpguard.StatusError
	)
	if errors.As(err, &exhausted) {
		out.Put("ExhaustedError", exhausted)
	}
	if errors.As(err, &rejected) {
		out.Put("RejectedError", rejected)
	}
	if errors.As(err, &status) {
		out.Put("StatusError", status)
	}
}
