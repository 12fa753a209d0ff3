package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain lets the tests' binary be a replica, as the program is one.
func TestMain(m *testing.M) {
	if os.Getenv(replicaProvider) != "" {
		os.Exit(replica(context.Background(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestScenarios: what is seen is what was expected. Servers, clients and futures end with their platform.
func TestScenarios(t *testing.T) {
	before := runtime.NumGoroutine()
	logs := &journal{}
	for _, s := range slices.Concat(scenarios, fleetScenarios) {
		t.Run(s.name, func(t *testing.T) {
			from := logs.length()
			if got := perform(t.Context(), s, logs, sharing{replicas: 3, redis: embedded}); got.seen != s.expected {
				t.Errorf("expected %q, seen %q; logged:\n%s", s.expected, got.seen, logs.since(from))
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for runtime.NumGoroutine() > before { // the end of a connection that was closed comes a moment later
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// TestRun: the program prints its table, and its exit code tells whether one differs.
func TestRun(t *testing.T) {
	const one = "a read recovers"
	var out, logs bytes.Buffer
	if code := run(t.Context(), []string{"-v", "-run", one}, &out, &logs); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"SCENARIO", "EXPECTED", "SEEN", one, "1 passed, 0 failed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if !strings.Contains(logs.String(), `msg="retry scheduled" service=plan_service operation=get_plan attempt=1`) {
		t.Errorf("no retry in the logs:\n%s", &logs)
	}
	if strings.Contains(out.String(), "level=") {
		t.Errorf("logs in the table:\n%s", &out)
	}
}

// TestRunWithoutRedis: where there is none, the scenario differs, and says why.
func TestRunWithoutRedis(t *testing.T) {
	var out bytes.Buffer
	args := []string{"-run", "an order holds", "-replicas", "1", "-redis", "redis://127.0.0.1:1"}
	if code := run(t.Context(), args, &out, io.Discard); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(out.String(), "the store was not told") || strings.Contains(out.String(), "%!") {
		t.Errorf("the table does not tell:\n%s", &out)
	}
}

func TestRunFails(t *testing.T) {
	kept := scenarios
	defer func() { scenarios = kept }()
	scenarios = []scenario{
		{"as expected", "1", func(context.Context, *platform) (string, error) { return "1", nil }},
		{"differs", "1", func(context.Context, *platform) (string, error) { return "2", nil }},
		{"fails", "1", func(context.Context, *platform) (string, error) { return "1", fmt.Errorf("broken") }},
	}
	var out bytes.Buffer
	if code := run(t.Context(), []string{"-replicas", "0"}, &out, io.Discard); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if !strings.Contains(out.String(), "1 passed, 2 failed") || strings.Count(out.String(), "DIFFERS") != 2 {
		t.Errorf("the table does not tell:\n%s", &out)
	}
	for name, args := range map[string][]string{"unknown flag": {"-x"}, "no such scenario": {"-run", "no such scenario"}} {
		if code := run(t.Context(), args, io.Discard, io.Discard); code == 0 {
			t.Errorf("%s: exit code 0", name)
		}
	}
}

// TestWatch: the page is served while there are calls, and the program ends when it is interrupted.
func TestWatch(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	read, written := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-dashboard", "127.0.0.1:0"}, written, io.Discard)
		_ = written.Close()
	}()
	lines := bufio.NewScanner(read)
	if !lines.Scan() {
		t.Fatal("no address")
	}
	page := lines.Text()
	go func() { _, _ = io.Copy(io.Discard, read) }()
	for path, want := range map[string]string{
		"": "app.js", "events": "plan_service", "guards/plan_service": "retry.max_attempts", "../metrics": `stoic_circuit_state{service="plan_service"`,
	} {
		if found, err := serves(t.Context(), page+path, want); err != nil || !found {
			t.Errorf("no %q in %s: %v", want, path, err)
		}
	}
	for host, want := range map[string]int{"": http.StatusSeeOther, "attacker.example": http.StatusForbidden} {
		if got, err := orders(t.Context(), page+"guards/plan_service/control", host); err != nil || got != want {
			t.Errorf("an order by the name %q: status %d, %v, want %d", host, got, err, want)
		}
	}
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// serves reads an answer until a text is in it.
func serves(ctx context.Context, url, want string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.Contains(lines.Text(), want) {
			return true, nil
		}
	}
	return false, lines.Err()
}

// orders gives one, by a name for the machine, and returns the status.
func orders(ctx context.Context, url, host string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("action=reset&reason=r"))
	if err != nil {
		return 0, err
	}
	request.Host = host
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// TestRetryAfter: both forms of the header, and what is neither.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"0":                             0,
		"120":                           2 * time.Minute,
		"Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second,
		"Fri, 02 Jan 2026 03:00:00 GMT": 0, // over already
		"":                              -1,
		"-5":                            -1,
		"soon":                          -1,
		"99999999999999999999":          -1,
	} {
		got, ok := retryAfter(header, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %v, %v, want %v", header, got, ok, want)
		}
	}
}
