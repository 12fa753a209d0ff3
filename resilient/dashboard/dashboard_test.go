package dashboard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// Everything that is served forbids what is not its own, and is not kept.
func TestHeaders(t *testing.T) {
	board := dashboard.New(resilient.GuardList{newGuard(t, "orders", nil)}, nil)
	for target, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/guards/orders": "text/html; charset=utf-8",
		"/app.js": "text/javascript; charset=utf-8", "/app.css": "text/css; charset=utf-8",
	} {
		w := serve(board, "GET", target, nil)
		assert.Equal(t, http.StatusOK, w.Code, target)
		assert.Equal(t, kind, w.Header().Get("Content-Type"))
		assert.NotEmpty(t, w.Body.String())
		assert.NotContains(t, w.Body.String(), "http://www.example.com")
		if strings.HasPrefix(kind, "text/html") {
			assert.NotContains(t, w.Body.String(), "<style")
			assert.NotContains(t, w.Body.String(), " style=")
			assert.NotContains(t, w.Body.String(), " onclick")
			assert.NotContains(t, w.Body.String(), "//", "nothing from elsewhere")
		}
	}
	for _, target := range []string{"/", "/nothing", "/guards/nobody"} {
		h := serve(board, "GET", target, nil).Header()
		policy := h.Get("Content-Security-Policy")
		assert.True(t, strings.HasPrefix(policy, "default-src 'none'; script-src 'self'; style-src 'self';"), policy)
		assert.NotContains(t, policy, "unsafe")
		assert.Contains(t, policy, "frame-ancestors 'none'")
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))
		assert.Equal(t, "no-store", h.Get("Cache-Control"))
	}
}

// A81: a name with a typing error is 404 and makes nothing, whatever is asked of it.
func TestUnknownNamesMakeNothing(t *testing.T) {
	registry, err := policies.FromEnv("X", &policies.Options{
		Options:   resilient.Options{Logger: quiet},
		LookupEnv: func(string) (string, bool) { return "", false },
	})
	require.NoError(t, err)
	registry.Guard("payments")
	before := registry.Names()
	board := dashboard.New(registry, &dashboard.Options{
		Logger:  quiet,
		Control: func(*http.Request) (string, error) { return "ann", nil },
		Explain: func(name string) dashboard.Explained { return registry.Explain(name) },
	})
	for _, name := range []string{"paymnets", "Payments", "payments ", "payments/", "payment", policies.SharedGuard} {
		assert.Equal(t, http.StatusNotFound, serve(board, "GET", "/guards/"+url.PathEscape(name), nil).Code, name)
		assert.Equal(t, http.StatusNotFound, order(board, name, url.Values{"action": {"reset"}, "reason": {"r"}}).Code, name)
	}
	assert.Equal(t, before, registry.Names())
	assert.Equal(t, http.StatusOK, serve(board, "GET", "/guards/payments", nil).Code)
}

// A guard's page has its policy as Explain gives it, and the picture of it.
func TestGuardPage(t *testing.T) {
	registry, err := policies.FromEnv("X", &policies.Options{
		Options: resilient.Options{Logger: quiet},
		LookupEnv: func(name string) (string, bool) {
			return `{"a/b <i>": {"retry": {"max_attempts": 5, "base_delay": 20, "max_delay": 40, "backoff_strategy": "exponential"}, "attempt_timeout": 2, "total_timeout": 70}}`,
				name == "X_RETRY_SERVICE_OVERRIDES"
		},
	})
	require.NoError(t, err)
	board := dashboard.New(registry, &dashboard.Options{Explain: func(name string) dashboard.Explained { return registry.Explain(name) }})
	w := serve(board, "GET", "/guards/"+url.PathEscape("a/b <i>"), nil)
	require.Equal(t, http.StatusOK, w.Code)
	page := w.Body.String()
	assert.Contains(t, page, "<h1>a/b &lt;i&gt;</h1>")
	assert.Contains(t, page, "retry.max_attempts")
	assert.Contains(t, page, "override of the service")
	assert.NotContains(t, page, "<form", "nobody may steer")

	explained := registry.Explain("a/b <i>")
	require.Equal(t, 3, explained.Schedule.Possible, "the case is one where attempts are never made")
	assert.Equal(t, 2, strings.Count(page, `class="never"`))
	assert.Equal(t, 3, strings.Count(page, `class="runs"`))
	assert.Contains(t, page, `aria-label="A call that is repeated takes at most `+explained.Schedule.Longest.String())
	assert.Contains(t, page, "<title>begins after 20s to 22s, ends by 24s</title>")

	bare := dashboard.New(registry, nil)
	page = serve(bare, "GET", "/guards/"+url.PathEscape("a/b <i>"), nil).Body.String()
	assert.Contains(t, page, "total timeout          1m10s")
	assert.NotContains(t, page, "<svg")
}

// Two guards that are shown under one name cannot be told apart: neither has a page.
func TestAmbiguousName(t *testing.T) {
	guards := resilient.GuardList{newGuard(t, "db password=a", nil), newGuard(t, "db password=b", nil)}
	require.Equal(t, guards[0].Name(), guards[1].Name())
	board := dashboard.New(sourceOf{"db password=a": guards[0], "db password=b": guards[1]}, nil)
	assert.Equal(t, http.StatusNotFound, serve(board, "GET", "/guards/"+url.PathEscape(guards[0].Name()), nil).Code)
	assert.Equal(t, http.StatusNotFound, serve(dashboard.New(guards, nil), "GET", "/guards/"+url.PathEscape(guards[0].Name()), nil).Code)
	board = dashboard.New(sourceOf{"db password=a": guards[0]}, nil)
	w := serve(board, "GET", "/guards/"+url.PathEscape(guards[0].Name()), nil)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.NotContains(t, w.Body.String(), "password=a")
}

type sourceOf map[string]*resilient.Guard

func (s sourceOf) Names() (names []string) {
	for name := range s {
		names = append(names, name)
	}
	return names
}

func (s sourceOf) Lookup(name string) (*resilient.Guard, bool) { g, ok := s[name]; return g, ok }

// P102, A43: state is right without traffic.
func TestStateWithoutTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		open(t, guard, errDown)
		board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter})
		pages := openStream(t, board)
		f := pages.next(t)
		assert.Equal(t, "open", f.Guards[0].State)
		assert.Equal(t, time.Now().Add(60*sec).UnixMilli(), f.Guards[0].Until)
		began := time.Now()
		for f.Changed[0].State == "" {
			f = pages.next(t)
		}
		assert.Equal(t, "probe-due", f.Changed[0].State)
		assert.InDelta(t, 60, time.Since(began).Seconds(), 1.1)
		assert.Contains(t, serve(board, "GET", "/guards/orders", nil).Body.String(), "probe-due")
		assert.Contains(t, scrape(t, resilient.GuardList{guard}, meter), `stoic_circuit_state{service="orders",state="probe-due"} 1`)
		assert.Equal(t, "open", guard.Circuit().State().String(), "looking changes nothing")
	})
}

// The list tells the story of a circuit, and the guard's page the same, the latest first.
func TestWhatHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		p := policy()
		p.Circuit.FailureThreshold = 1
		guard := newGuardWith(t, "orders", p, meter)
		board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter})
		_ = call(guard, put, 0, errDown)
		time.Sleep(61 * sec)
		_ = call(guard, put, 0, errors.New("still down"))
		time.Sleep(61 * sec)
		_ = call(guard, put, 0, nil)
		p.Circuit.FailureThreshold = 2
		require.NoError(t, guard.SetPolicy(p))
		_ = call(guard, put, 0, errDown)
		_ = call(guard, put, 0, errDown)
		guard.Circuit().Reset()
		guard.Circuit().ForceOpen()
		guard.Circuit().Release()
		var told []string
		for _, i := range openStream(t, board).next(t).News {
			told = append(told, strings.TrimSuffix(i.State+": "+i.Text+": "+i.Cause, ": "))
		}
		assert.Equal(t, []string{
			"open: after 1 failure: connection refused",
			"half-open: its open time was over: probes are let through",
			"open: a probe failed: opening 2 in a row: still down",
			"half-open: its open time was over: probes are let through",
			"closed: the dependency answers again",
			"open: after 2 failures: connection refused",
			"closed: it was reset",
			"forced-open: by an order, or by its settings",
			"closed: the order was lifted, or its time was over",
		}, told)
		page := serve(board, "GET", "/guards/orders", nil).Body.String()
		assert.Less(t, strings.Index(page, "the order was lifted"), strings.Index(page, "after 1 failure"))
	})
}

// A page that comes back, or one to which guards were added, is told everything anew.
func TestFullFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		source := &growing{guards: resilient.GuardList{newGuard(t, "a", meter)}}
		board := dashboard.New(source, &dashboard.Options{Meter: meter})
		first := openStream(t, board)
		assert.Len(t, first.next(t).Guards, 1)
		require.NoError(t, call(source.guards[0], put, 0, nil))
		source.add(newGuard(t, "b", meter))
		f := first.next(t)
		assert.Equal(t, "full", f.kind)
		assert.Len(t, f.Guards, 2)
		assert.Equal(t, "tick", first.next(t).kind)

		f = openStream(t, board).next(t)
		assert.Equal(t, "full", f.kind)
		require.Len(t, f.Points[0], 2*f.Seconds)
		assert.Equal(t, 1, f.Points[0][0]+f.Points[0][2]+f.Points[0][4], "what was before is in the line")
	})
}

type growing struct {
	mu     sync.Mutex
	guards resilient.GuardList
}

func (s *growing) add(g *resilient.Guard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guards = append(s.guards, g)
}

func (s *growing) now() resilient.GuardList {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.guards)
}

func (s *growing) Names() []string                             { return s.now().Names() }
func (s *growing) Lookup(name string) (*resilient.Guard, bool) { return s.now().Lookup(name) }

// The page stays light: 200 guards that are all busy, and all failing, are so many bytes a
// second; 200 that are idle next to none.
func TestBytesPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guards := make(resilient.GuardList, 200)
		for i := range guards {
			p := policy()
			p.Circuit.FailureThreshold = 1_000_000
			guards[i] = newGuardWith(t, fmt.Sprintf("service_number_%03d", i), p, meter)
		}
		pages := openStream(t, dashboard.New(guards, &dashboard.Options{Meter: meter}))
		first := pages.next(t)
		idle := pages.next(t)
		assert.Less(t, idle.bytes, 200)
		most := 0
		for range 20 {
			for i, guard := range guards {
				for n := range 50 {
					_ = call(guard, put, 0, map[bool]error{true: errDown}[(n+i)%10 == 0])
				}
			}
			f := pages.next(t)
			assert.Len(t, f.Points, 200)
			most = max(most, f.bytes)
		}
		t.Logf("at first %d bytes; 200 guards at 10 000 calls/s %d bytes each second, idle %d", first.bytes, most, idle.bytes)
		assert.Less(t, most, 64<<10)
		assert.Less(t, first.bytes, 128<<10)
	})
}

// At most MaxShown guards are sent; of the others it is said how many are broken.
func TestTooManyGuards(t *testing.T) {
	guards := make(resilient.GuardList, dashboard.MaxShown+30)
	byName := sourceOf{}
	for i := range guards {
		guards[i] = newGuard(t, fmt.Sprint("g", i), nil)
		byName[guards[i].Name()] = guards[i]
	}
	guards[dashboard.MaxShown+3].Circuit().ForceOpen()
	synctest.Test(t, func(t *testing.T) {
		f := openStream(t, dashboard.New(ordered{guards, byName}, nil)).next(t)
		assert.Len(t, f.Guards, dashboard.MaxShown)
		assert.Equal(t, 30, f.More)
		assert.Equal(t, 1, f.Broken)
	})
}

type ordered struct {
	resilient.GuardList
	byName sourceOf
}

func (s ordered) Lookup(name string) (*resilient.Guard, bool) { return s.byName.Lookup(name) }

// Further pages are turned away, and let in when one has gone.
func TestMaxClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		board := dashboard.New(nil, &dashboard.Options{MaxClients: 2})
		one, two := openStream(t, board), openStream(t, board)
		one.next(t)
		two.next(t)
		w := serve(board, "GET", "/events", nil)
		assert.Equal(t, http.StatusServiceUnavailable, w.Code)
		assert.Equal(t, "5", w.Header().Get("Retry-After"))
		one.cancel()
		<-one.done
		assert.Equal(t, "full", openStream(t, board).next(t).kind)
		assert.EqualValues(t, 2, board.Clients())
	})
}

// A page that does not read is dropped, and holds up nobody: over a real server, whose
// network is pipes.
func TestSlowClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		board := dashboard.New(resilient.GuardList{newGuard(t, "orders", meter)}, &dashboard.Options{Meter: meter})
		network := newPipes()
		server := &http.Server{Handler: board}
		served := make(chan error)
		go func() { served <- server.Serve(network) }()
		connect := func() *bufio.Reader {
			conn := network.dial()
			t.Cleanup(func() { _ = conn.Close() })
			_, err := io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: board\r\n\r\n")
			require.NoError(t, err)
			return bufio.NewReader(conn)
		}
		began := time.Now()
		slow, quick := connect(), connect()
		response, err := http.ReadResponse(quick, nil)
		require.NoError(t, err)
		assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
		assert.True(t, response.Close, "nothing follows on a connection with a limit of its own")
		events := bufio.NewReader(response.Body)
		for range 4 {
			_, err := readFrame(events)
			require.NoError(t, err)
		}
		assert.EqualValues(t, 2, board.Clients())
		for range 3 {
			_, err := readFrame(events)
			require.NoError(t, err)
		}
		assert.EqualValues(t, 1, board.Clients(), "one was dropped after 5 s of silence")
		assert.InDelta(t, 6, time.Since(began).Seconds(), 0.5, "and the other had a frame each second")
		_ = slow

		// A shutdown waits for streams, unless they are ended with it; and for a page that
		// does not read any more, as long as for any.
		server.RegisterOnShutdown(board.Close)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { assert.NoError(t, server.Shutdown(ctx)) }()
		time.Sleep(6 * sec)
		synctest.Wait()
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
		assert.Zero(t, board.Clients())
		board.Close()
		assert.LessOrEqual(t, strings.Count(serve(board, "GET", "/events", nil).Body.String(), "event:"), 1, "a new one ends at once")
	})
}

// Under a prefix, over the network.
func TestUnderAPrefix(t *testing.T) {
	guard := newGuard(t, "orders", nil)
	board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{
		Logger:  quiet,
		Control: func(*http.Request) (string, error) { return "ann", nil },
	})
	mux := http.NewServeMux()
	mux.Handle("/ops/", http.StripPrefix("/ops", board))
	server := httptest.NewServer(mux)
	defer server.Close()
	response, err := http.Post(server.URL+"/ops/guards/orders/control", form,
		strings.NewReader(url.Values{"action": {"force-open"}, "for": {"1h"}, "reason": {"r"}}.Encode()))
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "/ops/guards/orders", response.Request.URL.Path, "the order leads back to the page")
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Contains(t, string(page), "forced-open")
	assert.Contains(t, string(page), "ann: r")
}

// A91, A86: what is secret in an error, a name, an order or a policy's source is in nothing
// that is served, logged or audited; and no text is taken for markup.
func TestNothingLeaks(t *testing.T) {
	const secret = "hunter2"
	const script = "<script>alert(1)</script>"
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "db password="+secret, meter)
		failing := fmt.Errorf("%s dial postgres://app:%s@db/x", script, secret)
		for range 3 {
			_ = resilient.Do(t.Context(), guard, resilient.NonIdempotent("read password="+secret), func(context.Context) error { return failing })
		}
		source := sourceOf{"db password=" + secret: guard}
		var log strings.Builder
		var audited []dashboard.Action
		board := dashboard.New(source, &dashboard.Options{
			Meter: meter, Logger: textLogger(&log),
			Control: func(r *http.Request) (string, error) {
				if r.Header.Get("X-User") == "" {
					return "", errors.New("who is this? password=" + secret)
				}
				return "ann password=" + secret, nil
			},
			Audit: func(_ context.Context, a dashboard.Action) { audited = append(audited, a) },
		})
		fields := url.Values{"action": {"force-open"}, "for": {"1h"}, "reason": {script + " password=" + secret}}
		assert.Equal(t, http.StatusForbidden, order(board, guard.Name(), fields).Code)
		assert.Equal(t, http.StatusNotFound, order(board, "password="+secret+"x", fields, "X-User", "a").Code)
		assert.Equal(t, http.StatusSeeOther, order(board, guard.Name(), fields, "X-User", "a").Code)

		page := serve(board, "GET", "/guards/"+url.PathEscape(guard.Name()), nil).Body.String()
		assert.Contains(t, page, "&lt;script&gt;alert(1)", "escaped, but there")
		pages := openStream(t, board)
		f := pages.next(t)
		assert.Contains(t, f.Guards[0].Cause, script, "the page gets it as text")
		sinks := map[string]string{
			"page": page, "frame": fmt.Sprintf("%+v", f), "log": log.String(), "audit": fmt.Sprintf("%+v", audited),
			"index": serve(board, "GET", "/", nil).Body.String(), "metrics": scrape(t, source, meter),
		}
		for sink, text := range sinks {
			assert.NotContains(t, text, secret, sink)
		}
		assert.NotContains(t, page, script)
		assert.NotContains(t, sinks["metrics"], "alert")
		assert.NotContains(t, sinks["metrics"], "postgres")
		assert.Len(t, audited, 3)
	})
}
