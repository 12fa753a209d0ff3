package resilient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

var (
	errDown  = errors.New("down")
	errOther = errors.New("other")

	get   = resilient.Idempotent("get")
	apply = resilient.NonIdempotent("apply")
)

// steady is a policy without surprises: three attempts, always one second apart, and a circuit that never opens by
// itself.
func steady(edits ...func(*resilient.Policy)) resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffFixed
	p.Retry.Jitter = false
	p.Circuit.FailureThreshold = 1_000_000
	for _, edit := range edits {
		edit(&p)
	}
	return p
}

func attempts(n int) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Retry.MaxAttempts = n }
}

func delay(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Retry.BaseDelay = d }
}

func total(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.TotalTimeout = d }
}

func each(d time.Duration) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.AttemptTimeout = d }
}

func threshold(n int) func(*resilient.Policy) {
	return func(p *resilient.Policy) { p.Circuit.FailureThreshold = n }
}

func noDelay(p *resilient.Policy) {
	p.Retry.Backoff = resilient.BackoffNone
	p.Retry.BaseDelay = 0
}

// newGuard makes a guard named "plans" that logs nowhere unless the options say so.
func newGuard(tb testing.TB, policy resilient.Policy, options *resilient.Options) *resilient.Guard {
	tb.Helper()
	return named(tb, "plans", policy, options)
}

func named(tb testing.TB, name string, policy resilient.Policy, options *resilient.Options) *resilient.Guard {
	tb.Helper()
	var o resilient.Options
	if options != nil {
		o = *options
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	g, err := resilient.NewGuard(name, policy, &o)
	require.NoError(tb, err)
	return g
}

// fails returns a function that fails so many times, with its number as the value, and then succeeds; and the count of
// its calls.
func fails(times int) (fn func(context.Context) (int, error), calls *atomic.Int64) {
	calls = new(atomic.Int64)
	return func(context.Context) (int, error) {
		n := int(calls.Add(1))
		if n <= times {
			return n, errDown
		}
		return n, nil
	}, calls
}

const always = 1 << 30

// returns is a function that ends with err.
func returns(err error) func(context.Context) error {
	return func(context.Context) error { return err }
}

// open makes the circuit open, with the cause errDown.
func open(tb testing.TB, g *resilient.Guard) {
	tb.Helper()
	for range g.Policy().Circuit.FailureThreshold {
		if g.Circuit().State() != breaker.Closed {
			break
		}
		_ = resilient.Do(context.Background(), g, apply, returns(errDown))
	}
	require.Equal(tb, breaker.Open, g.Circuit().State())
}

// halfOpen makes the circuit half-open, with every place free. Only in a bubble.
func halfOpen(tb testing.TB, g *resilient.Guard) {
	tb.Helper()
	open(tb, g)
	time.Sleep(time.Until(g.Circuit().Snapshot().Until))
	permit, err := g.Acquire(context.Background())
	require.NoError(tb, err)
	permit.Settle(resilient.Neutral(errOther))
	snap := g.Circuit().Snapshot()
	require.Equal(tb, breaker.HalfOpen, snap.State)
	require.Zero(tb, snap.Probes)
}

// entry is one way into the pipeline. All must mean the same (R4).
type entry struct {
	name string
	call func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn func(context.Context) (int, error)) (int, error)
}

func entries() []entry {
	type function = func(context.Context) (int, error)
	return []entry{
		{"Execute", resilient.Execute[int]},
		{"Async", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (int, error) {
			return resilient.Async(ctx, g, op, fn).Await(context.Background())
		}},
		{"Wrap", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (int, error) {
			return resilient.Wrap(g, op, func(ctx context.Context, arg string) (int, error) {
				if arg != "arg" {
					panic("the argument was lost")
				}
				return fn(ctx)
			})(ctx, "arg")
		}},
		{"Wrap0", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (int, error) {
			return resilient.Wrap0(g, op, fn)(ctx)
		}},
		{"Do", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (value int, err error) {
			err = resilient.Do(ctx, g, op, func(ctx context.Context) (err error) {
				value, err = fn(ctx)
				return err
			})
			return value, err
		}},
		{"WrapErr", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (value int, err error) {
			err = resilient.WrapErr(g, op, func(ctx context.Context, into *int) (err error) {
				*into, err = fn(ctx)
				return err
			})(ctx, &value)
			return value, err
		}},
		{"WrapErr0", func(ctx context.Context, g *resilient.Guard, op resilient.Op, fn function) (value int, err error) {
			err = resilient.WrapErr0(g, op, func(ctx context.Context) (err error) {
				value, err = fn(ctx)
				return err
			})(ctx)
			return value, err
		}},
	}
}

// overEntries runs a test in a bubble for each way into the pipeline.
func overEntries(t *testing.T, test func(t *testing.T, in entry)) {
	t.Helper()
	for _, in := range entries() {
		t.Run(in.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, in) })
		})
	}
}

// recorder keeps the events it is told of.
type recorder struct {
	mu     sync.Mutex
	events []resilient.Event
}

func (r *recorder) Observe(_ context.Context, event resilient.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *recorder) all() []resilient.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]resilient.Event(nil), r.events...)
}

// recorded returns the events of one kind.
func recorded[E resilient.Event](r *recorder) []E {
	var found []E
	for _, event := range r.all() {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

// journal is a log in memory.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) text() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// records returns what was logged, without the time.
func (j *journal) records(tb testing.TB) []map[string]any {
	tb.Helper()
	var all []map[string]any
	for line := range bytes.Lines([]byte(j.text())) {
		var record map[string]any
		require.NoError(tb, json.Unmarshal(line, &record))
		delete(record, "time")
		all = append(all, record)
	}
	return all
}

// heap is what is in use after a collection.
func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// goroutines waits until no more than so many are left, and fails if there are.
func goroutines(tb testing.TB, baseline int) {
	tb.Helper()
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > baseline; runtime.Gosched() {
		if time.Now().After(deadline) {
			require.LessOrEqual(tb, runtime.NumGoroutine(), baseline, "goroutines are left")
		}
	}
}

type key struct{}

// unrecoverable is retry-go's own mark, which the core honours too.
func unrecoverable(err error) error { return retry.Unrecoverable(err) }

// retryGoLog is the error that retry-go itself ends with; found with As, but not with Unwrap but for the last.
func retryGoLog(errs ...error) error { return retry.Error(errs) }
