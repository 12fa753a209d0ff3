package grpcguard_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/seed42274fcc/stoic/integrations/grpcguard"
	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/nesting"
	"github.com/seed42274fcc/stoic/resilient"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct{ name, operation, text, path, key string }

// A91: a secret goes into every input of a guarded call, one at a time, and comes out of none of the sinks. (The status
// itself is the server's, and comes to the caller as it is.)
func TestNoSecretLeavesACall(t *testing.T) {
	sinks := marker.New(t, "integrations/grpcguard")
	for input, p := range map[string]poison{
		"guard's name":     {name: marker.Pair},
		"operation":        {operation: marker.URL},
		"text of a status": {text: marker.Text},
		"path on the wire": {path: marker.Pair},
		"metadata":         {key: marker.Secret},
	} {
		t.Run(input, func(t *testing.T) { p.spread(t, sinks.Seed(t, input)) })
	}
}

// lockedLog is a log.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (p poison) spread(t *testing.T, out *marker.Seed) {
	log := &lockedLog{}
	guard, err := resilient.NewGuard("orders "+p.name, policy(func(q *resilient.Policy) { q.Circuit.FailureThreshold = 5 }), &resilient.Options{
		Logger:    slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observers: []resilient.Observer{resilient.ObserverFunc(func(_ context.Context, e resilient.Event) { out.Put("event", e) })},
	})
	require.NoError(t, err)
	s := &orders{unary: func(ctx context.Context, _ string, _ int) (string, error) {
		out.Put("nesting path", nesting.Path(ctx))
		for _, value := range metadata.ValueFromIncomingContext(ctx, "resilience-scope") {
			if p.path == "" { // else it is what somebody has sent, not we
				out.Put("scope on the wire", value)
			}
		}
		return "", status.Error(codes.Unavailable, "down "+p.text)
	}}
	address := serve(t, s, grpcguard.ServerOptions(grpcguard.Anyone)...)
	conn := dial(t, address, guard, grpcguard.Options{Op: func(string) (resilient.Op, bool) { return resilient.Idempotent("Get " + p.operation), true }})
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+p.key)
	for range 3 {
		_, err := call(ctx, conn, get)
		putErrors(out, err)
	}
	bare := dial(t, address, nil, grpcguard.Options{})
	_, err = call(metadata.AppendToOutgoingContext(ctx, "resilience-scope", "depth=1;path=plans."+url.QueryEscape(p.path)), bare, get)
	putErrors(out, err)
	_, err = grpcguard.NewClient(&grpcguard.Options{})
	out.Put("error of options", err)
	out.Put("log at debug", log.text.String())
}

// putErrors looks at the errors that are ours.
func putErrors(out *marker.Seed, err error) {
	var (
		exhausted *resilient.ExhaustedError
		rejected  *resilient.RejectedError
	)
	if errors.As(err, &exhausted) {
		out.Put("ExhaustedError", exhausted)
	}
	if errors.As(err, &rejected) {
		out.Put("RejectedError", rejected)
	}
}
