package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	name, operation, author, reason, asked, action string
	fail, refusal, store                           error
	audit                                          func()
}

// A86, A91: a secret goes into every input of the board, one at a time, and comes out of nothing that is served, logged or
// audited.
func TestNoSecretIsServed(t *testing.T) {
	sinks := marker.New(t, "resilient/dashboard")
	for input, p := range map[string]poison{
		"guard's name":   {name: marker.Pair},
		"operation":      {operation: marker.URL},
		"error":          {fail: errors.New(marker.Text)},
		"store's error":  {store: errors.New(marker.Text)},
		"author":         {author: marker.Pair},
		"reason":         {reason: marker.Text},
		"who may not":    {refusal: errors.New(marker.Text)},
		"unknown name":   {asked: marker.Pair},
		"unknown action": {action: marker.Pair},
		"panic of Audit": {audit: func() { panic(marker.Text) }},
	} {
		t.Run(input, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) })
		})
	}
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if p.fail == nil {
		p.fail = errDown
	}
	meter := dashboard.NewMeter()
	store := &fragile{MemoryStore: breaker.NewMemoryStore(nil)}
	guard, err := resilient.NewGuard("orders "+p.name, policy(), &resilient.Options{Logger: quiet, Store: store, Observers: []resilient.Observer{meter}})
	require.NoError(t, err)
	source := sourceOf{"orders " + p.name: guard}
	board := dashboard.New(source, &dashboard.Options{
		Meter: meter, Logger: logger,
		Control: func(*http.Request) (string, error) { return "ann " + p.author, p.refusal },
		Audit: func(_ context.Context, a dashboard.Action) {
			out.Put("audit", a, a.Err)
			if p.audit != nil {
				p.audit()
			}
		},
	})
	pages := openStream(t, board)
	look := func() {
		out.Put("frames", fmt.Sprintf("%+v", pages.next(t)))
		out.Put("page of a guard", serve(board, "GET", "/guards/"+url.PathEscape(guard.Name()), nil).Body.String())
		out.Put("index", serve(board, "GET", "/", nil).Body.String())
		out.Put("metrics", scrape(t, source, meter))
	}
	for range 3 {
		_ = resilient.Do(t.Context(), guard, resilient.NonIdempotent("read "+p.operation), func(context.Context) error { return p.fail })
	}
	look()
	give := func(name, action string) {
		w := order(board, name, url.Values{"action": {action}, "for": {"1h"}, "reason": {"drill " + p.reason}})
		out.Put("answer to an order", fmt.Sprintf("%d %s", w.Code, w.Body)) // its Location is the name that was asked for
	}
	give(guard.Name(), "force-open"+p.action)
	give("nobody "+p.asked, "force-open")
	if p.store == nil {
		p.store = errors.New("away")
	}
	store.fault.Store(&p.store)
	give(guard.Name(), "reset")
	_ = call(guard, put, 0, nil)
	look()
	out.Put("log at debug", log.String())
}
