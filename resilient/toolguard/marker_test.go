package toolguard_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	tool, other, key, session, arguments string
	fail, refuse, store                  error
	panics                               func()
	order                                breaker.Order
}

// A89, A91: a secret goes into every input of the tools, one at a time, and comes out of none of the sinks: least of all to
// a model.
func TestNoSecretLeavesTheTools(t *testing.T) {
	sinks := marker.New(t, "resilient/toolguard")
	for input, p := range map[string]poison{
		"tool name":         {tool: marker.Pair},
		"other tool's name": {other: marker.Pair},
		"key":               {key: marker.Text},
		"session":           {session: marker.Text},
		"arguments":         {arguments: marker.Text},
		"tool's error":      {fail: errors.New(marker.Text)},
		"check's error":     {refuse: errors.New(marker.Text)},
		"store's error":     {store: errors.New(marker.Text)},
		"panic of options":  {panics: func() { panic(marker.Text) }},
		"operator's author and reason": {order: breaker.Order{
			Force: breaker.ForceOpen, For: time.Hour, Author: "ann, " + marker.Pair, Reason: marker.Text,
		}},
	} {
		t.Run(input, func(t *testing.T) { bubble(t, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) }) })
	}
}

// putRefusal looks at what a refused call says.
func putRefusal(out *marker.Seed, err error) {
	var refused *toolguard.RefusedError
	if errors.As(err, &refused) {
		out.Put("RefusedError", refused)
		out.Put("RefusedError.Message", refused.Message())
		out.Put("what it wraps", errors.Unwrap(refused))
	}
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	tool, other := "search"+p.tool, "calc "+p.other
	if p.fail == nil {
		p.fail = errors.New("down")
	}
	var log strings.Builder
	options := watchAll()
	options.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.Key = func(context.Context) string { return p.key }
	options.Session = func(context.Context) string { return "s" + p.session }
	options.MaxFailuresPerSession = 5
	options.CheckArguments = func(context.Context, string, any) error { return p.refuse }
	options.Classify = func(context.Context, toolguard.Result) (toolguard.Outcome, bool) {
		if p.panics != nil {
			p.panics()
		}
		return 0, false
	}
	options.Observers = []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) {
		out.Put("ToolChanged", e, e.(toolguard.ToolChanged).Cause)
		if p.panics != nil {
			p.panics()
		}
	})}
	store := newSpy(nil)
	failing := &faultStore{spyStore: store}
	options.Store = failing
	g := newGuard(t, options)
	names := []string{tool, other}
	call := func(turn *toolguard.Turn) {
		_, err := toolguard.Call(turn.Context(t.Context()), g, tool, p.arguments, func(context.Context, string) (int, error) { return 0, p.fail })
		putRefusal(out, err)
	}
	for range 3 {
		call(g.Turn(t.Context(), names))
	}
	failing.fault = p.store
	p.refuse = nil
	for range 3 { // open, and then the session's budget
		call(g.Turn(t.Context(), names))
		permit, err := g.Begin(t.Context(), tool)
		putRefusal(out, err)
		permit.EndResult(nil, p.fail)
		require.NoError(t, nonRefusal(err))
	}
	turn := g.Turn(t.Context(), names)
	out.Put("Notice", turn.Notice())
	for _, name := range names {
		permit, err := g.Begin(t.Context(), name)
		putRefusal(out, err)
		permit.End(toolguard.Error)
	}
	circuit := g.Circuit(p.key, tool)
	require.NotNil(t, circuit)
	out.Put("circuit name", circuit.Name(), toolguard.CircuitName(p.key, tool))
	if p.order.Author != "" {
		require.NoError(t, circuit.Steer(t.Context(), p.order))
		call(g.Turn(t.Context(), names))
	}
	for _, status := range g.Tools() {
		out.Put("snapshot", status.Snapshot)
	}
	answer, err := store.Do(t.Context(), circuit.Name(), breaker.Command{Kind: breaker.Read, Settings: breaker.DefaultSettings()})
	require.NoError(t, err)
	out.Put("stored record", answer.Record)
	out.Put("order's error", circuit.Steer(t.Context(), breaker.Order{Reset: true, Author: "ann", Reason: "drill"}), circuit.Steer(t.Context(), breaker.Order{}))
	out.Put("log at debug", log.String())
	_, err = toolguard.New(&toolguard.Options{Tools: map[string]toolguard.Limits{tool: {FailureThreshold: -1}}})
	out.Put("error of options", err)
}

// nonRefusal is nil for a refusal.
func nonRefusal(err error) error {
	var refused *toolguard.RefusedError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// faultStore is a store that fails with that error.
type faultStore struct {
	*spyStore
	fault error
}

func (s *faultStore) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.fault != nil {
		return breaker.Answer{}, s.fault
	}
	return s.spyStore.Do(ctx, circuit, c)
}

func (s *faultStore) DoAll(ctx context.Context, commands []breaker.BatchCommand) []breaker.BatchReply {
	if s.fault == nil {
		return s.spyStore.DoAll(ctx, commands)
	}
	replies := make([]breaker.BatchReply, len(commands))
	for i := range replies {
		replies[i].Err = s.fault
	}
	return replies
}
