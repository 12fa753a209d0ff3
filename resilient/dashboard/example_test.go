package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/seed42274fcc/stoic/policies"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// whoMaySteer would ask the program's own sessions.
func whoMaySteer(r *http.Request) (author string, err error) {
	if name, password, ok := r.BasicAuth(); ok && password == "on call" {
		return name, nil
	}
	return "", errors.New("not on call")
}

// newBoard wires a program's guards, and what shows them.
func newBoard(mux *http.ServeMux) (*policies.Registry, error) {
	// region serve
	meter := dashboard.NewMeter() // counts calls: an observer like any other
	services, err := policies.FromEnv("SHOP", &policies.Options{
		Options: resilient.Options{Observers: []resilient.Observer{meter}},
	})
	if err != nil {
		return nil, err
	}
	board := dashboard.New(services, &dashboard.Options{
		Meter:   meter,
		Explain: func(service string) dashboard.Explained { return services.Explain(service) },
		Control: whoMaySteer, // without it nobody may
	})
	mux.Handle("/circuits/", http.StripPrefix("/circuits", board))
	mux.Handle("/metrics", dashboard.Metrics(services, meter))
	// endregion
	return services, nil
}

func ExampleNew() {
	mux := http.NewServeMux()
	services, err := newBoard(mux)
	if err != nil {
		fmt.Println(err)
		return
	}
	services.Guard("stock_service")
	order := url.Values{"action": {"force-open"}, "for": {"30m"}, "reason": {"the warehouse moves house"}}
	send := func(password string) {
		r := httptest.NewRequest(http.MethodPost, "/circuits/guards/stock_service/control", strings.NewReader(order.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth("ann", password)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		fmt.Println(w.Code, services.Guard("stock_service").Circuit().State())
	}
	logger := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	defer slog.SetDefault(logger)
	send("a guess")
	send("on call")
	// Output:
	// 403 closed
	// 303 forced-open
}

func ExampleMetrics() {
	orders, _ := resilient.NewGuard("orders", resilient.DefaultPolicy(), nil) // its meter is left out
	w := httptest.NewRecorder()
	dashboard.Metrics(resilient.GuardList{orders}, nil).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "stoic_circuit_state{") && strings.HasSuffix(line, " 1\n") {
			fmt.Print(line)
		}
	}
	// Output:
	// stoic_circuit_state{service="orders",state="closed"} 1
}

// A program without a registry.
func ExampleGuards() {
	orders, _ := resilient.NewGuard("orders", resilient.DefaultPolicy(), nil)
	board := dashboard.New(resilient.GuardList{orders}, nil)
	for _, name := range []string{"orders", "order"} {
		w := httptest.NewRecorder()
		board.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/guards/"+name, nil))
		fmt.Println(name, w.Code)
	}
	// Output:
	// orders 200
	// order 404
}

func ExampleMeter() {
	meter := dashboard.NewMeter()
	orders, _ := resilient.NewGuard("orders", resilient.DefaultPolicy(), &resilient.Options{
		Observers: []resilient.Observer{meter},
	})
	_ = resilient.Do(context.Background(), orders, resilient.Idempotent("get"), func(context.Context) error { return nil })
	w := httptest.NewRecorder()
	dashboard.Metrics(resilient.GuardList{orders}, meter).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "stoic_calls_total{") {
			fmt.Print(line)
		}
	}
	// Output:
	// stoic_calls_total{service="orders",result="success"} 1
	// stoic_calls_total{service="orders",result="error"} 0
	// stoic_calls_total{service="orders",result="rejected"} 0
}
