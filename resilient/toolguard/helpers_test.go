package toolguard_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

var errDown = errors.New("connect to db://root:hunter2@db: connection refused")

var silent = slog.New(slog.DiscardHandler)

// newGuard makes a guard that logs nothing.
func newGuard(t testing.TB, options toolguard.Options) *toolguard.Guard {
	t.Helper()
	if options.Logger == nil {
		options.Logger = silent
	}
	g, err := toolguard.New(&options)
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func watchAll() toolguard.Options { return toolguard.Options{MonitorAll: true} }

// bubble runs a test in which time takes no time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// tools are what a program registers: the pointer tells whether it is the same element.
type registered struct {
	Name   string
	Schema map[string]any
}

func nameOf(tool *registered) string { return tool.Name }

func register(names ...string) []*registered {
	list := make([]*registered, len(names))
	for i, name := range names {
		list[i] = &registered{Name: name, Schema: map[string]any{"type": "object", "for": name}}
	}
	return list
}

// offered are the names that a turn leaves of a list.
func offered(turn *toolguard.Turn, names ...string) []string {
	return toolguard.Filter(turn, names, func(name string) string { return name })
}

// call makes one call with that end.
func call(ctx context.Context, g *toolguard.Guard, tool string, o toolguard.Outcome) error {
	permit, err := g.Begin(ctx, tool)
	if err != nil {
		return err
	}
	permit.End(o)
	return nil
}

// open makes a tool's circuit open.
func open(t testing.TB, g *toolguard.Guard, tool string) {
	t.Helper()
	for range 3 {
		require.NoError(t, call(t.Context(), g, tool, toolguard.Error))
	}
	require.Equal(t, breaker.Open, g.Circuit("", tool).State())
}

// refusedBy returns the refusal; the call must have been refused.
func refusedBy(t testing.TB, err error) *toolguard.RefusedError {
	t.Helper()
	var refused *toolguard.RefusedError
	require.ErrorAs(t, err, &refused)
	return refused
}

func requireRefused(t testing.TB, err error) {
	t.Helper()
	require.NotNil(t, refusedBy(t, err))
}

// spyStore is a store that can be looked at, and be dead.
type spyStore struct {
	breaker.BatchStore
	trips   atomic.Int64
	watched atomic.Int64
	dead    atomic.Bool
}

var errDead = errors.New("the store is dead")

func newSpy(options *breaker.MemoryOptions) *spyStore {
	return &spyStore{BatchStore: breaker.NewMemoryStore(options)}
}

func (s *spyStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	s.trips.Add(1)
	if s.dead.Load() {
		return breaker.Answer{}, errDead
	}
	return s.BatchStore.Do(ctx, circuit, c)
}

func (s *spyStore) DoAll(ctx context.Context, commands []breaker.BatchCommand) []breaker.BatchReply {
	s.trips.Add(1)
	if s.dead.Load() {
		replies := make([]breaker.BatchReply, len(commands))
		for i := range replies {
			replies[i].Err = errDead
		}
		return replies
	}
	return s.BatchStore.DoAll(ctx, commands)
}

func (s *spyStore) Watch(circuit string, news func(breaker.News)) (stop func()) {
	s.watched.Add(1)
	inner := s.BatchStore.Watch(circuit, news)
	return sync.OnceFunc(func() {
		s.watched.Add(-1)
		inner()
	})
}

// recorder keeps events.
type recorder struct {
	mu     sync.Mutex
	events []resilient.Event
}

func (r *recorder) Observe(_ context.Context, e resilient.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) changes() (to []breaker.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		to = append(to, e.(toolguard.ToolChanged).To)
	}
	return to
}

// panics is an observer that does.
type panics struct{}

func (panics) Observe(context.Context, resilient.Event) { panic("observer") }

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }
