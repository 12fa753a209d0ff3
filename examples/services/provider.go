package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
)

// plan is what the provider drafts.
type plan struct {
	ID    string   `json:"id"`
	Steps []string `json:"steps"`
}

// planService is the plan service as the rest of the platform sees it.
//
//resilient:service plan_service
type planService interface {
	// Get reads a plan.
	//
	//resilient:idempotent
	//resilient:op get_plan
	Get(ctx context.Context, id string) (plan, error)

	// Apply carries a plan out. Twice is not the same as once, so nothing says that it may be repeated.
	//
	//resilient:op apply_plan
	Apply(ctx context.Context, p plan) error

	// Events opens the stream of a plan's events, for the caller to close. That shows in its result, so only the
	// opening is guarded: it is made once, and no time limit cuts what was opened.
	Events(ctx context.Context, id string) (io.ReadCloser, error)

	// Ping asks whether the provider is there: the provider itself, whatever its circuit says.
	//
	//resilient:skip
	Ping(ctx context.Context) error
}

// newPlanService returns the plan service with its guard.
func newPlanService(guards resilient.Guards, url, key string) planService {
	return newResilientPlanService(newPlanClient(url, key), guards)
}

// planClient is the plan service over HTTP. Each method makes one attempt.
type planClient struct{ api api }

func newPlanClient(url, key string) *planClient { return &planClient{api: newAPI(url, key)} }

func (c *planClient) Get(ctx context.Context, id string) (plan, error) {
	var p plan
	err := c.api.call(ctx, http.MethodGet, "/plans/"+id, nil, &p)
	return p, err
}

func (c *planClient) Apply(ctx context.Context, p plan) error {
	return c.api.call(ctx, http.MethodPost, "/plans/"+p.ID+"/apply", p, nil)
}

func (c *planClient) Events(ctx context.Context, id string) (io.ReadCloser, error) {
	return c.api.send(ctx, http.MethodGet, "/plans/"+id+"/events", nil)
}

func (c *planClient) Ping(ctx context.Context) error {
	return c.api.call(ctx, http.MethodGet, "/health", nil, nil)
}

// runTool has the provider run a tool. It is no method of the service: how it may be called is known at the call only.
func (c *planClient) runTool(ctx context.Context, tool string) error {
	return c.api.call(ctx, http.MethodPost, "/tools/"+tool, nil, nil)
}

// What follows stands for the provider itself.

// providerKey is the key that the provider knows.
const providerKey = "k-demonstration"

// eventsOfAPlan is how many events a whole stream has.
const eventsOfAPlan = 4

type provider struct {
	*server
	applied atomic.Int64 // plans carried out
}

func startProvider() (*provider, error) {
	p := &provider{}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /plans/{id}", p.getPlan)
	routes.HandleFunc("POST /plans/{id}/apply", p.applyPlan)
	routes.HandleFunc("GET /plans/{id}/events", p.events)
	routes.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { answer(w, "well") })
	routes.HandleFunc("POST /tools/{name}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r.PathValue("name"))
	})
	var err error
	p.server, err = startServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != providerKey {
			http.Error(w, "unknown key", http.StatusUnauthorized)
			return
		}
		routes.ServeHTTP(w, r)
	}))
	return p, err
}

func (p *provider) getPlan(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if id == "missing" {
		http.Error(w, "no such plan", http.StatusNotFound)
		return
	}
	answer(w, plan{ID: id, Steps: []string{"search", "summarise", "answer"}})
}

func (p *provider) applyPlan(w http.ResponseWriter, r *http.Request) {
	var given plan
	if err := json.NewDecoder(r.Body).Decode(&given); err != nil || given.ID != r.PathValue("id") {
		http.Error(w, "not that plan", http.StatusBadRequest)
		return
	}
	p.applied.Add(1)
	answer(w, given)
}

func (p *provider) events(w http.ResponseWriter, _ *http.Request) {
	for i := range eventsOfAPlan {
		if _, err := fmt.Fprintf(w, "event %d\n", i+1); err != nil {
			return // nobody listens any more
		}
		_ = http.NewResponseController(w).Flush()
	}
}
