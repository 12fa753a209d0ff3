package redisstore_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/internal/marker"
	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// poison is what goes in: nothing secret but in one of them.
type poison struct {
	name, operation, user, url string
	fail                       error
	order                      breaker.Order
	panics                     func()
}

// A91: a secret goes into every input of a guard whose circuit is shared, one at a time. It comes out of none of the
// sinks: what the store says, what it writes and what it publishes. (The password of the URL is sent to Redis, by AUTH,
// and nowhere else.)
func TestNoSecretIsStored(t *testing.T) {
	sinks := marker.New(t, "resilient/redisstore")
	for input, p := range map[string]poison{
		"guard's name":    {name: marker.Pair},
		"operation":       {operation: marker.URL},
		"error":           {fail: errors.New(marker.Text)},
		"URL":             {user: "app:" + marker.Secret + "@"},
		"malformed URL":   {url: "redis://app:" + marker.Secret + "@host:port/x?y=" + marker.Secret},
		"stored nonsense": {name: "answer"},
		"panic of options": {panics: func() {
			panic(marker.Text)
		}},
		"operator's author and reason": {order: breaker.Order{Force: breaker.ForceOpen, For: time.Hour, Author: "ann, " + marker.Pair, Reason: marker.Text}},
	} {
		t.Run(input, func(t *testing.T) { p.spread(t, startRedis(t), sinks.Seed(t, input)) })
	}
}

// locked is a log.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (p poison) spread(t *testing.T, s *server, out *marker.Seed) {
	log := &locked{}
	logger := slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if p.fail == nil {
		p.fail = errors.New("down")
	}
	spy := s.client.PSubscribe(t.Context(), "*")
	defer func() { _ = spy.Close() }()
	_, err := spy.Receive(t.Context())
	require.NoError(t, err)
	if p.user != "" {
		s.do("ACL", "SETUSER", "app", "on", ">"+marker.Secret, "~*", "&*", "+@all")
	}
	store, err := redisstore.Open("redis://"+p.user+s.addr+"/0", &redisstore.Options{
		Timeout: 5 * time.Second, Logger: logger,
		OnEvent: func(e redisstore.Event) {
			out.Put("event", e, e.Err)
			if p.panics != nil {
				p.panics()
			}
		},
	})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	_, err = redisstore.Open(p.url, nil)
	out.Put("error of the URL", err)

	policy := resilient.DefaultPolicy()
	policy.Circuit.FailureThreshold, policy.Retry.Backoff, policy.Retry.BaseDelay = 3, resilient.BackoffNone, 0
	guard, err := resilient.NewGuard("plans "+p.name, policy, &resilient.Options{Store: store, Logger: logger})
	require.NoError(t, err)
	for range 2 {
		_ = resilient.Do(t.Context(), guard, resilient.Idempotent("get "+p.operation), func(context.Context) error { return p.fail })
	}
	if p.order.Author != "" {
		require.NoError(t, guard.Circuit().Steer(t.Context(), p.order))
	}
	for _, key := range s.client.Keys(t.Context(), "*").Val() {
		out.Put("stored key", key)
		for field, value := range s.client.HGetAll(t.Context(), key).Val() {
			out.Put("stored field", field+"="+value)
		}
	}
	message, err := spy.ReceiveTimeout(t.Context(), soon)
	require.NoError(t, err)
	for ; err == nil; message, err = spy.ReceiveTimeout(t.Context(), 100*time.Millisecond) {
		published, ok := message.(*redis.Message)
		require.True(t, ok, "%T", message)
		out.Put("published news", published.Channel+" "+published.Payload)
	}
	names, err := store.List(t.Context())
	require.NoError(t, err)
	out.Put("list", strings.Join(names, "\n"))
	p.fails(t, s, store, guard, out)
	out.Put("log at debug", log.text())
}

// fails makes the store say what is wrong.
func (p poison) fails(t *testing.T, s *server, store *redisstore.Store, guard *resilient.Guard, out *marker.Seed) {
	circuit := guard.Circuit()
	if p.name == "answer" { // what is stored makes no sense, and is secret
		key := s.client.Keys(t.Context(), "*").Val()[0]
		s.do("DEL", key)
		s.do("HSET", key, "v", marker.Pair, "cause", marker.Text)
		_, err := store.Do(t.Context(), circuit.Name(), read())
		out.Put("error", err)
		out.Put("list", circuit.Snapshot().Cause)
	}
	s.kill()
	for range 4 { // until it says that it has lost it
		_, err := store.Do(t.Context(), circuit.Name(), read())
		out.Put("error", err)
	}
	out.Put("error", circuit.Steer(t.Context(), breaker.Order{Reset: true, Author: "ann", Reason: "drill"}))
	_, err := store.Knows(t.Context(), circuit.Name())
	out.Put("error", err)
	_, err = store.List(t.Context())
	out.Put("error", err)
}
