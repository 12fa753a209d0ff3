package resilient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// region http

// getOrder makes one attempt; the guard makes as many as are right.
func getOrder(ctx context.Context, client *http.Client, url string) (order Order, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return order, resilient.Neutral(err) // our own fault says nothing about the service
	}
	resp, err := client.Do(req)
	if err != nil {
		return order, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return order, statusError(resp)
	}
	err = json.NewDecoder(resp.Body).Decode(&order) // here, as ctx ends with the call
	return order, err
}

// endregion

var errNoOrder = errors.New("no such order")

// region status

func statusError(resp *http.Response) error {
	err := fmt.Errorf("status %s", resp.Status)
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound:
		return errNoOrder // Options.Classify: resilient.Answers(errNoOrder)
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return resilient.Permanent(err) // a failure, and the next one would be refused as well
	case code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return resilient.Neutral(err) // our own fault: bad requests must not open the circuit for good ones
	}
	if seconds, parseErr := strconv.Atoi(resp.Header.Get("Retry-After")); parseErr == nil {
		return resilient.RetryAfter(err, time.Duration(seconds)*time.Second)
	}
	return err
}

// endregion

// An HTTP call, with what its statuses mean.
func ExampleExecute_http() {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/o-2":
			http.NotFound(w, r)
		case r.URL.Path == "/o-":
			w.WriteHeader(http.StatusBadRequest)
		case busy:
			busy = false
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			_, _ = fmt.Fprint(w, `{"ID": "o-1"}`)
		}
	}))
	defer server.Close()
	policy := resilient.DefaultPolicy()
	policy.Retry.Backoff = resilient.BackoffNone
	policy.Circuit.FailureThreshold = 2
	orders, err := resilient.NewGuard("orders", policy, &resilient.Options{Classify: resilient.Answers(errNoOrder), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, id := range []string{"o-1", "o-2", "o-", "o-"} {
		order, err := resilient.Execute(context.Background(), orders, resilient.Idempotent("get"),
			func(ctx context.Context) (Order, error) { return getOrder(ctx, server.Client(), server.URL+"/"+id) })
		fmt.Println(order, err)
	}
	fmt.Println(orders.Circuit().State())
	// Output:
	// {o-1} <nil>
	// {} no such order
	// {} status 400 Bad Request
	// {} status 400 Bad Request
	// closed
}
