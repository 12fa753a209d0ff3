package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed42274fcc/stoic/integrations/mcpguard"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// replica is an agent with its session, its guard, and, where circuits are shared, its own client of the store: all
// that a process of a fleet has. Here they live in one process, and share nothing else.
type replica struct {
	name    string
	guard   *mcpguard.Guard
	session *mcpguard.Session
	closers []func() error
}

// wiring is what replicas are made with.
type wiring struct {
	endpoint  string // of the MCP server
	client    *http.Client
	breakers  breakers
	mode      toolguard.Mode
	redis     string // a URL
	namespace string // there
}

// startReplica wires an agent as a program does at its start.
func startReplica(ctx context.Context, name string, w wiring) (*replica, error) {
	r := &replica{name: name}
	if err := r.start(ctx, w); err != nil {
		return nil, errors.Join(fmt.Errorf("replica %s: %w", name, err), r.close())
	}
	return r, nil
}

func (r *replica) start(ctx context.Context, w wiring) error {
	options, err := r.options(ctx, w)
	if err != nil {
		return err
	}
	guard, err := mcpguard.New(options)
	if err != nil {
		return err
	}
	r.guard = guard
	r.closers = append(r.closers, func() error { guard.Close(); return nil })
	plain, err := mcp.NewClient(&mcp.Implementation{Name: "agent " + r.name, Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: w.endpoint, HTTPClient: w.client}, nil)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, plain.Close)
	r.session = guard.Client(plain, nil)
	return nil
}

// options are the guard's. A framework that gives the model tools of its own with each call (an exit, a hand-over) would
// have them in Exclude: without those an agent cannot finish.
func (r *replica) options(ctx context.Context, w wiring) (*toolguard.Options, error) {
	if w.breakers == noBreaker {
		return nil, nil // a guard that does nothing
	}
	options := &toolguard.Options{MonitorAll: true, Limits: limitsAt(0), Mode: w.mode, Logger: slog.New(slog.DiscardHandler)}
	if w.breakers == local {
		return options, nil
	}
	store, err := r.openStore(ctx, w)
	if err != nil {
		return nil, err
	}
	options.Store = store
	return options, nil
}

func (r *replica) openStore(ctx context.Context, w wiring) (*redisstore.Store, error) {
	store, err := redisstore.Open(w.redis, &redisstore.Options{
		Namespace: w.namespace,
		Logger:    slog.New(slog.DiscardHandler),
		// A program that serves people waits 50 ms, and goes on by itself. Here that would change the figures: it is
		// the machine that is slow, and not Redis.
		Timeout:   10 * time.Second,
		Retention: 10 * time.Minute, // nobody comes back to these circuits
	})
	if err != nil {
		return nil, err
	}
	r.closers = append(r.closers, store.Close)
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // brings the news of the other replicas
		defer close(ended)
		_ = store.Run(ctx) // it ends with ctx
	}()
	r.closers = append(r.closers, func() error { stop(); <-ended; return nil })
	return store, nil
}

// close ends what was started, the last first.
func (r *replica) close() error {
	var errs []error
	for i := len(r.closers) - 1; i >= 0; i-- {
		errs = append(errs, r.closers[i]())
	}
	return errors.Join(errs...)
}

// circuit is that of search, as this replica sees it; nil while nothing is known.
func (r *replica) circuit() *breaker.Circuit { return r.guard.Tools().Circuit("", search) }

// probing reports whether search is being tried.
func (r *replica) probing() bool {
	c := r.circuit()
	return c != nil && c.State() == breaker.HalfOpen
}
