package httpguard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/httpguard"
)

// region client

// newOrdersClient makes a client whose requests are guarded calls, with a guard for each host.
func newOrdersClient(services resilient.Guards) (*http.Client, error) {
	transport, err := httpguard.New(&httpguard.Options{Guards: services})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: transport}, nil
}

// endregion

// region server

// newOrdersServer makes a server that only our own services reach: what they repeat, it does not repeat as well.
func newOrdersServer(orders http.Handler) *http.Server {
	return &http.Server{Handler: httpguard.Middleware(orders, httpguard.Anyone), ReadHeaderTimeout: 10 * time.Second}
}

// endregion

// quiet makes a guard for an example.
func quiet(name string) *resilient.Guard {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffNone
	guard, err := resilient.NewGuard(name, p, &resilient.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	return guard
}

// A GET is repeated, and what the last attempt brought is an ordinary response.
func Example() {
	busy := 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy--; busy >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "order o-1")
	}))
	defer server.Close()

	client, err := newOrdersClient(httpguard.One(quiet("orders")))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, string(text), err)
	// Output: 200 order o-1 <nil>
}

// A failure that was repeated in vain is a response as well; Check says what became of it.
func ExampleCheck() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no stock", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client, err := newOrdersClient(httpguard.One(quiet("orders")))
	if err != nil {
		fmt.Println(err)
		return
	}
	resp, err := client.Get(server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(httpguard.Check(resp))
	text, _ := io.ReadAll(resp.Body)
	fmt.Print(string(text))
	// Output:
	// orders.GET: gave up after 3 attempts: http status 503 Service Unavailable
	// no stock
}

// With StatusErrors a failure is an error, which has the response in it.
func ExampleStatusError() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no stock", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	transport, err := httpguard.New(&httpguard.Options{Guards: httpguard.One(quiet("orders")), StatusErrors: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = (&http.Client{Transport: transport}).Get(server.URL)
	var status *httpguard.StatusError
	if errors.As(err, &status) {
		fmt.Printf("%d %s", status.StatusCode, status.Body)
	}
	// Output: 503 no stock
}

// A guard for each route instead of each host, and an op for a POST that only searches.
func ExampleOptions() {
	transport, err := httpguard.New(&httpguard.Options{
		Guards: httpguard.One(quiet("shop")), // in a program: a *policies.Registry
		Name: func(r *http.Request) string {
			route, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
			switch route {
			case "orders", "stock": // few names, known in advance
				return route
			}
			return "" // the host's
		},
		Op: func(r *http.Request) (resilient.Op, bool) {
			if r.URL.Path == "/stock/search" {
				return resilient.Idempotent("search").WithTotalTimeout(2 * time.Second), true
			}
			return resilient.Op{}, false // by its method
		},
	})
	fmt.Println(transport != nil, err)
	// Output: true <nil>
}

// A server's own calls are made once while somebody above repeats.
func ExampleMiddleware() {
	stock := quiet("stock")
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		attempts := 0
		_ = resilient.Do(r.Context(), stock, resilient.Idempotent("take"), func(context.Context) error {
			attempts++
			return errors.New("no answer")
		})
		_, _ = fmt.Fprintf(w, "%d attempts", attempts)
	})
	server := httptest.NewServer(newOrdersServer(orders).Handler)
	defer server.Close()

	client, err := newOrdersClient(httpguard.One(quiet("orders")))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range []*http.Client{client, server.Client()} {
		resp, err := c.Get(server.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Println(string(text))
	}
	// Output:
	// 1 attempts
	// 3 attempts
}
