package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// breakers says who has some.
type breakers string

const (
	noBreaker breakers = "no breaker"
	local     breakers = "local breakers"
	shared    breakers = "a shared one"
)

// world is a backend, the MCP server in front of it, and two replicas of an agent.
type world struct {
	backend  *backend
	replicas []*replica
	breakers breakers
	client   *http.Client
	sites    []*site
}

// newWorld starts all of it. Everything is up.
func newWorld(ctx context.Context, who breakers, mode toolguard.Mode, redis string) (*world, error) {
	w := &world{backend: &backend{}, breakers: who, client: &http.Client{Transport: &http.Transport{}}}
	if err := w.start(ctx, mode, redis); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) start(ctx context.Context, mode toolguard.Mode, redis string) error {
	backend, err := serve(w.backend)
	if err != nil {
		return err
	}
	w.sites = append(w.sites, backend)
	tools, err := serve(newToolServer(w.client, backend.url))
	if err != nil {
		return err
	}
	w.sites = append(w.sites, tools)
	wires := wiring{
		endpoint: tools.url, client: w.client, breakers: w.breakers, mode: mode, redis: redis,
		namespace: fmt.Sprintf("agent-%x", rand.Uint64()), // for nobody else, were it another run of this program
	}
	for _, name := range []string{"A", "B"} {
		r, err := startReplica(ctx, name, wires)
		if err != nil {
			return err
		}
		w.replicas = append(w.replicas, r)
	}
	return w.shares(ctx)
}

// shares sees to it that circuits are shared that are to be.
func (w *world) shares(ctx context.Context) error {
	for _, r := range w.replicas {
		turn, err := r.session.Turn(ctx) // what is shared is known from the first turn on
		if err != nil {
			return err
		}
		turn.Close()
	}
	return w.agree(ctx)
}

func (w *world) close() error {
	var errs []error
	for _, r := range w.replicas {
		errs = append(errs, r.close())
	}
	w.client.CloseIdleConnections()
	for _, s := range w.sites {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}

// work gives each replica that many tasks, one after the other, the replicas in turns.
func (w *world) work(ctx context.Context, ask model, each int) ([]task, error) {
	var done []task
	for i := range each {
		for _, r := range w.replicas {
			one, err := r.work(ctx, ask, fmt.Sprintf("task %d of %s", i+1, r.name))
			if err != nil {
				return done, err
			}
			done = append(done, one)
			if err := w.agree(ctx); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// hits is how often the backend was asked so far.
func (w *world) hits() int { return int(w.backend.hits.Load()) }
