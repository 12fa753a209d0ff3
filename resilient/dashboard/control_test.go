package dashboard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

func textLogger(to io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

func asAnn(*http.Request) (string, error) { return "ann", nil }

// P98: an order holds, names its author and reason, and ends by itself; each leaves its
// trace.
func TestOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		var audited []dashboard.Action
		var log strings.Builder
		board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{
			Meter: meter, Control: asAnn, Logger: textLogger(&log),
			Audit: func(_ context.Context, a dashboard.Action) { audited = append(audited, a) },
		})
		pages := openStream(t, board)
		pages.next(t)
		give := func(action, forText string) tile {
			t.Helper()
			w := order(board, "orders", url.Values{"action": {action}, "for": {forText}, "reason": {"they asked"}})
			require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
			assert.Equal(t, "../orders", w.Header().Get("Location"))
			return pages.next(t).Changed[0]
		}
		now := give("force-open", "30m")
		assert.Equal(t, "forced-open", now.State)
		assert.Equal(t, "ann", now.Author)
		assert.Equal(t, "they asked", now.Reason)
		assert.Equal(t, audited[0].At.Add(30*time.Minute).UnixMilli(), now.Until)
		require.Error(t, call(guard, put, 0, nil))
		page := serve(board, "GET", "/guards/orders", nil).Body.String()
		assert.Contains(t, page, "ann: they asked")
		assert.Contains(t, page, "force-open by ann for 30m0s")

		time.Sleep(30 * time.Minute)
		require.NoError(t, call(guard, put, 0, nil), "it is over by itself")

		assert.Equal(t, "forced-closed", give1(t, board, guard, "force-closed", "1h"))
		assert.Equal(t, "closed", give1(t, board, guard, "release", ""))
		assert.Equal(t, "disabled", give1(t, board, guard, "disable", "1h"))
		assert.Equal(t, "closed", give1(t, board, guard, "reset", ""))
		open(t, guard, errDown)
		assert.Equal(t, "closed", give1(t, board, guard, "reset", ""))

		require.Len(t, audited, 6)
		for i, kind := range []string{"force-open", "force-closed", "release", "disable", "reset", "reset"} {
			assert.Equal(t, kind, audited[i].Kind)
			assert.Equal(t, "orders", audited[i].Service)
			assert.Equal(t, "ann", audited[i].Author)
			assert.NoError(t, audited[i].Err)
		}
		assert.Equal(t, 6, strings.Count(log.String(), `msg="circuit order carried out"`))
	})
}

func give1(t *testing.T, board *dashboard.Dashboard, guard *resilient.Guard, action, forText string) string {
	t.Helper()
	w := order(board, "orders", url.Values{"action": {action}, "for": {forText}, "reason": {"r"}})
	require.Equal(t, http.StatusSeeOther, w.Code, w.Body)
	return guard.Circuit().State().String()
}

// What is not an order of this page, by somebody who may, changes nothing; it is audited.
func TestRefusedOrders(t *testing.T) {
	guard := newGuard(t, "orders", nil)
	allowed, asked := true, 0
	author := "ann"
	var last dashboard.Action
	board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{
		Logger: quiet,
		Control: func(*http.Request) (string, error) {
			asked++
			if !allowed {
				return "", errors.New("not on call")
			}
			return author, nil
		},
		Audit: func(_ context.Context, a dashboard.Action) { last = a; panic("the audit is down") },
	})
	good := url.Values{"action": {"force-open"}, "for": {"1h"}, "reason": {"r"}}
	with := func(key, value string) url.Values {
		fields := url.Values{}
		for k, v := range good {
			fields[k] = v
		}
		fields.Set(key, value)
		return fields
	}
	for name, c := range map[string]struct {
		fields url.Values
		header []string
		status int
	}{
		"another site":      {good, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"a sibling site":    {good, []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"another origin":    {good, []string{"Sec-Fetch-Site", "", "Origin", "http://evil.example"}, http.StatusForbidden},
		"no origin":         {good, []string{"Sec-Fetch-Site", "", "Origin", "null"}, http.StatusForbidden},
		"no form":           {good, []string{"Content-Type", "application/json"}, http.StatusUnsupportedMediaType},
		"no kind":           {good, []string{"Content-Type", ""}, http.StatusUnsupportedMediaType},
		"too long":          {with("reason", strings.Repeat("x", 9<<10)), nil, http.StatusRequestEntityTooLarge},
		"no action":         {with("action", ""), nil, http.StatusBadRequest},
		"unknown action":    {with("action", "forceopen"), nil, http.StatusBadRequest},
		"no reason":         {with("reason", ""), nil, http.StatusBadRequest},
		"no end":            {with("for", ""), nil, http.StatusBadRequest},
		"an end long ago":   {with("for", "-1h"), nil, http.StatusBadRequest},
		"an end too far":    {with("for", "721h"), nil, http.StatusBadRequest},
		"an end of nothing": {with("for", "soon"), nil, http.StatusBadRequest},
	} {
		w := order(board, "orders", c.fields, c.header...)
		assert.Equal(t, c.status, w.Code, "%s: %s", name, w.Body)
		assert.Error(t, last.Err, name)
		assert.Equal(t, "closed", guard.Circuit().State().String(), name)
		last = dashboard.Action{}
	}
	before := asked
	order(board, "orders", good, "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, before, asked, "a page of elsewhere does not reach Control")

	allowed = false
	w := order(board, "orders", good)
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.NotContains(t, w.Body.String(), "not on call", "why is for the log")
	assert.ErrorContains(t, last.Err, "not on call")
	assert.Empty(t, last.Kind)
	assert.Equal(t, http.StatusForbidden, order(board, "nobody", good).Code, "nor is it said which guards there are")
	allowed, author = true, ""
	assert.Equal(t, http.StatusForbidden, order(board, "orders", good).Code)
	author = "ann"
	assert.Equal(t, http.StatusSeeOther, order(board, "orders", good, "Sec-Fetch-Site", "", "Origin", "http://example.com").Code, "its own origin")
	assert.Equal(t, "forced-open", guard.Circuit().State().String())
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		w := serve(board, method, "/guards/orders/control?action=release&reason=r", nil, "Sec-Fetch-Site", "same-origin")
		assert.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, w.Code)
	}
	assert.Equal(t, http.StatusBadRequest, serve(board, "POST", "/guards/orders/control?action=release",
		strings.NewReader("reason=r"), "Content-Type", form, "Sec-Fetch-Site", "same-origin").Code, "the body counts, not the address")
	assert.Equal(t, "forced-open", guard.Circuit().State().String())
}

// Without Control there is nothing to press, and nowhere to send it.
func TestNoControl(t *testing.T) {
	guard := newGuard(t, "orders", nil)
	board := dashboard.New(resilient.GuardList{guard}, nil)
	w := order(board, "orders", url.Values{"action": {"force-open"}, "for": {"1h"}, "reason": {"r"}})
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.NotContains(t, serve(board, "GET", "/guards/orders", nil).Body.String(), "<form")
	assert.Equal(t, "closed", guard.Circuit().State().String())
}

// An order on a shared circuit holds for all that share it, and is lifted for all; what
// this process alone has put over it goes with it.
func TestOrdersInAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := breaker.NewMemoryStore(nil)
		replica := func() *resilient.Guard {
			g, err := resilient.NewGuard("orders", policy(), &resilient.Options{Logger: quiet, Store: store})
			require.NoError(t, err)
			return g
		}
		here, there := replica(), replica()
		require.NoError(t, call(here, put, 0, nil))
		require.NoError(t, call(there, put, 0, nil))
		board := dashboard.New(resilient.GuardList{here}, &dashboard.Options{Control: asAnn, Logger: quiet})
		pages := openStream(t, board)
		assert.Equal(t, "shared", pages.next(t).Guards[0].Sharing)
		assert.Equal(t, "forced-open", give1(t, board, here, "force-open", "1h"))
		time.Sleep(10 * sec)
		require.Error(t, call(there, put, 0, nil))
		assert.Equal(t, "forced-open", there.Circuit().State().String())
		here.Circuit().Disable()
		assert.Equal(t, "closed", give1(t, board, here, "release", ""))
		time.Sleep(10 * sec)
		require.NoError(t, call(there, put, 0, nil))
		assert.Contains(t, serve(board, "GET", "/guards/orders", nil).Body.String(), "<dt>fleet</dt><dd>shared</dd>")
	})
}

// An order that the store cannot be told is not carried out, here or there, and says so
// without secrets.
func TestOrderWithoutTheStore(t *testing.T) {
	store := &failingStore{Store: breaker.NewMemoryStore(nil)}
	guard, err := resilient.NewGuard("orders", policy(), &resilient.Options{Logger: quiet, Store: store})
	require.NoError(t, err)
	require.NoError(t, call(guard, put, 0, nil))
	var audited []dashboard.Action
	board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{
		Control: asAnn, Logger: quiet,
		Audit: func(_ context.Context, a dashboard.Action) { audited = append(audited, a) },
	})
	store.down.Store(true)
	w := order(board, "orders", url.Values{"action": {"force-open"}, "for": {"1h"}, "reason": {"r"}})
	assert.Equal(t, http.StatusBadGateway, w.Code)
	assert.Contains(t, w.Body.String(), "the store was not told")
	assert.NotContains(t, w.Body.String(), "hunter2")
	assert.Equal(t, "closed", guard.Circuit().State().String())
	require.Len(t, audited, 1)
	assert.ErrorContains(t, audited[0].Err, "the store was not told")
	assert.Equal(t, "force-open", audited[0].Kind)
}

type failingStore struct {
	breaker.Store
	down atomic.Bool
}

func (s *failingStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.down.Load() {
		return breaker.Answer{}, errors.New("dial redis://:hunter2@cache: refused")
	}
	return s.Store.Do(ctx, circuit, c)
}
