package httpguard_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// What the guard adds to a request that succeeds: the context that outlives the call with its timer, the copies of the
// request and its header, the scope's text, the body that lets go of the context.
func TestWhatARequestAllocates(t *testing.T) {
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		return respond(200, http.Header{}, io.NopCloser(strings.NewReader("text"))), nil
	})
	transport, err := httpguard.New(&httpguard.Options{Guards: httpguard.One(newGuard(t, policy(), resilient.Options{})), Next: next})
	require.NoError(t, err)
	r := request(t, t.Context(), "GET", "http://orders", nil)
	r.Header.Set("Accept", "text/plain")
	count := func(rt http.RoundTripper) float64 {
		return testing.AllocsPerRun(200, func() {
			resp, _ := rt.RoundTrip(r)
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
	}
	plain, guarded := count(next), count(transport)
	t.Logf("allocations: %v without, %v with", plain, guarded)
	assert.LessOrEqual(t, guarded-plain, 40.0)
}

// What the middleware adds where there is no header is nothing.
func TestWhatTheMiddlewareAllocates(t *testing.T) {
	handler := httpguard.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), httpguard.Anyone)
	r := request(t, t.Context(), "GET", "/", nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() { handler.ServeHTTP(nil, r) }))
	r.Header.Set(nesting.Header, "depth=2;left=1500;path=plans.get/orders.GET")
	allocs := testing.AllocsPerRun(100, func() { handler.ServeHTTP(nil, r) })
	t.Logf("allocations with the header: %v", allocs)
	assert.LessOrEqual(t, allocs, 16.0)
}

// BenchmarkRoundTrip compares a request over the loopback with and without a guard.
func BenchmarkRoundTrip(b *testing.B) {
	s := serve(b, status(http.StatusOK, "text"))
	guarded := newClient(b, newGuard(b, policy(), resilient.Options{}), httpguard.Options{})
	for name, client := range map[string]*http.Client{"plain": {Transport: &http.Transport{}}, "guarded": guarded} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				resp, err := client.Get(s.URL)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
}

func BenchmarkMiddleware(b *testing.B) {
	handler := httpguard.Middleware(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), httpguard.Anyone)
	r := request(b, b.Context(), "GET", "/", nil)
	r.Header.Set(nesting.Header, "depth=2;left=1500;path=plans.get/orders.GET")
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(nil, r)
	}
}
