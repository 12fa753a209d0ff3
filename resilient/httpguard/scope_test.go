package httpguard_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// sent is the scope header that a server gets for a request.
func sent(t *testing.T, guard *resilient.Guard, options httpguard.Options, method string, header ...string) string {
	t.Helper()
	got := ""
	s := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
		got = strings.Join(r.Header.Values("Resilience-Scope"), "|")
	})
	r := request(t, t.Context(), method, s.URL, nil)
	for _, value := range header {
		r.Header.Add("Resilience-Scope", value)
	}
	fetch(t, newClient(t, guard, options), r)
	return got
}

func TestTheScopeIsWrittenWhereACallRetries(t *testing.T) {
	retries := newGuard(t, policy(total(10*time.Second)), resilient.Options{})
	once := newGuard(t, policy(attempts(1)), resilient.Options{})

	wire, err := nesting.ParseWire(sent(t, retries, httpguard.Options{}, "GET"))
	require.NoError(t, err)
	assert.Equal(t, 1, wire.Depth)
	assert.Equal(t, []string{"orders.GET"}, wire.Path)
	assert.Greater(t, wire.Left, time.Second)
	assert.LessOrEqual(t, wire.Left, 10*time.Second)

	assert.Empty(t, sent(t, retries, httpguard.Options{}, "POST"), "what is not repeated holds nobody down")
	assert.Empty(t, sent(t, once, httpguard.Options{}, "GET"))
	assert.Empty(t, sent(t, resilient.Passthrough(), httpguard.Options{}, "GET"))
	external := httpguard.Options{External: func(*http.Request) bool { return true }}
	assert.Empty(t, sent(t, retries, external, "GET"), "no business of theirs")
}

// One that a request has already, copied from another request by a proxy, say, is not ours.
func TestTheRequestsOwnHeaderIsDropped(t *testing.T) {
	once := newGuard(t, policy(attempts(1)), resilient.Options{})
	assert.Empty(t, sent(t, once, httpguard.Options{}, "GET", "depth=5"))
	retries := newGuard(t, policy(), resilient.Options{})
	assert.True(t, strings.HasPrefix(sent(t, retries, httpguard.Options{}, "GET", "depth=5", "depth=6"), "depth=1;"))
}

// A63: a guarded transport under a guarded call tries once, and tells the server of both.
func TestA63ATransportUnderAGuardedCallTriesOnce(t *testing.T) {
	got := ""
	s := serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		got = r.Header.Get("Resilience-Scope")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	guard := newGuard(t, policy(), resilient.Options{})
	client := newClient(t, guard, httpguard.Options{})
	above, err := resilient.NewGuard("plans", policy(), &resilient.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	err = resilient.Do(t.Context(), above, resilient.Idempotent("get"), func(ctx context.Context) error {
		resp, err := client.Do(request(t, ctx, "GET", s.URL, nil))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		return httpguard.Check(resp)
	})
	var exhausted *resilient.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, "plans", exhausted.Service)
	assert.EqualValues(t, 3, s.requests.Load(), "not 9")
	assert.Equal(t, 3, guard.Circuit().Snapshot().Failures)
	assert.True(t, strings.HasPrefix(got, "depth=2;left=") && strings.HasSuffix(got, ";path=plans.get/orders.GET"), got)
}

// inside is what a handler behind the middleware finds.
type inside struct {
	underRetry bool
	path       []string
	left       time.Duration
	header     []string
	after      context.Context
}

func through(t *testing.T, trusted func(*http.Request) bool, values ...string) (in inside) {
	t.Helper()
	handler := httpguard.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		in.underRetry, in.path = nesting.UnderRetry(r.Context()), nesting.Path(r.Context())
		if deadline, ok := r.Context().Deadline(); ok {
			in.left = time.Until(deadline)
		}
		in.header = r.Header.Values("Resilience-Scope")
		in.after = context.WithoutCancel(r.Context())
	}), trusted)
	r := httptest.NewRequest("GET", "/", nil)
	for _, value := range values {
		r.Header.Add("Resilience-Scope", value)
	}
	handler.ServeHTTP(httptest.NewRecorder(), r)
	assert.Equal(t, values, r.Header["Resilience-Scope"], "a handler leaves the request as it is")
	return in
}

func TestTheMiddlewareRestoresTheScope(t *testing.T) {
	in := through(t, httpguard.Anyone, "depth=2;left=60000;path=plans.get/orders.GET")
	assert.True(t, in.underRetry)
	assert.Equal(t, []string{"plans.get", "orders.GET"}, in.path)
	assert.Greater(t, in.left, 30*time.Second)
	assert.LessOrEqual(t, in.left, time.Minute)
	assert.False(t, nesting.UnderRetry(in.after), "what it has started and goes on retries by itself")

	in = through(t, httpguard.Anyone, "depth=1;path=a%20password%3Dhunter2%0A")
	require.Len(t, in.path, 1)
	assert.NotContains(t, in.path[0], "hunter2", "names leave without secrets")
	assert.Zero(t, in.left)
}

// At an edge that is not trusted the header is dropped; what is not in its form is nowhere believed.
func TestTheMiddlewareDropsWhatItDoesNotTrust(t *testing.T) {
	good := "depth=1;left=1"
	onlyOurs := func(r *http.Request) bool { return r.Header.Get("X-Ours") != "" }
	for name, in := range map[string]inside{
		"nobody is trusted":  through(t, nil, good),
		"not this one":       through(t, onlyOurs, good),
		"not in its form":    through(t, httpguard.Anyone, "depth=0"),
		"much too long":      through(t, httpguard.Anyone, "depth=1;x="+strings.Repeat("x", 1<<20)),
		"two of them":        through(t, httpguard.Anyone, good, good),
		"none":               through(t, httpguard.Anyone),
		"one without a text": through(t, httpguard.Anyone, ""),
	} {
		assert.False(t, in.underRetry, name)
		assert.Empty(t, in.path, name)
		assert.Zero(t, in.left, name)
		assert.Empty(t, in.header, name)
	}
}

// The time that the caller has left is the handler's deadline.
func TestTheTimeLeftIsADeadline(t *testing.T) {
	var cut atomic.Bool
	ended := make(chan struct{})
	s := httptest.NewServer(httpguard.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		defer close(ended)
		<-r.Context().Done()
		cut.Store(r.Context().Err() == context.DeadlineExceeded)
	}), httpguard.Anyone))
	defer s.Close()
	r := request(t, t.Context(), "GET", s.URL, nil)
	r.Header.Set("Resilience-Scope", "depth=1;left=100")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	read(t, resp)
	<-ended
	assert.True(t, cut.Load())
}

// A proxy in the middle passes the scope on, with its own call in it, whoever's header it has copied.
func TestAProxyPassesTheScopeOn(t *testing.T) {
	got := make(chan string, 1)
	behind := serve(t, func(_ http.ResponseWriter, r *http.Request, _ int) { got <- r.Header.Get("Resilience-Scope") })
	target, err := url.Parse(behind.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: newClient(t, newGuard(t, policy(), resilient.Options{}), httpguard.Options{}).Transport,
	}
	for name, test := range map[string]struct {
		trusted func(*http.Request) bool
		path    []string
	}{
		"of whom it trusts": {httpguard.Anyone, []string{"plans.get", "orders.GET"}},
		"of nobody":         {nil, []string{"orders.GET"}},
	} {
		front := httptest.NewServer(httpguard.Middleware(proxy, test.trusted))
		r := request(t, t.Context(), "GET", front.URL, nil)
		r.Header.Set("Resilience-Scope", "depth=1;left=60000;path=plans.get")
		fetch(t, http.DefaultClient, r)
		wire, err := nesting.ParseWire(<-got)
		require.NoError(t, err)
		assert.Equal(t, test.path, wire.Path, name)
		front.Close()
	}
}
