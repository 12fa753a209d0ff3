package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/seed42274fcc/stoic/resilient"
)

// plan is what the provider drafts.
type plan struct {
	ID    string   `json:"id"`
	Steps []string `json:"steps"`
}

// planService is the plan service as the rest of the platform sees it: plain functions with a guard round them.
type planService struct {
	// Get reads a plan; it is retried.
	Get func(ctx context.Context, id string) (plan, error)
	// Apply carries a plan out. Twice is not the same as once, so it is never repeated.
	Apply func(ctx context.Context, p plan) error

	guard *resilient.Guard
	api   api
}

func newPlanService(guards resilient.Guards, url, key string) *planService {
	s := &planService{guard: guards.Guard("plan_service"), api: newAPI(url, key)}
	s.Get = resilient.Wrap(s.guard, resilient.Idempotent("get_plan"), s.get)
	s.Apply = resilient.WrapErr(s.guard, resilient.NonIdempotent("apply_plan"), s.apply)
	return s
}

func (s *planService) get(ctx context.Context, id string) (plan, error) {
	var p plan
	err := s.api.call(ctx, http.MethodGet, "/plans/"+id, nil, &p)
	return p, err
}

func (s *planService) apply(ctx context.Context, p plan) error {
	return s.api.call(ctx, http.MethodPost, "/plans/"+p.ID+"/apply", p, nil)
}

// RunTool has the provider run a tool. The op says that it executes tools and in which phase of the plan: in one that
// only reads it is made once, whatever it is declared to be, since a tool may write.
func (s *planService) RunTool(ctx context.Context, phase any, tool string) error {
	op := resilient.Idempotent("run_tool").InPlan(phase).ExecutesTools()
	return resilient.Do(ctx, s.guard, op, func(ctx context.Context) error {
		return s.api.call(ctx, http.MethodPost, "/tools/"+tool, nil, nil)
	})
}

// Watch hands the plan's events to each, as they come. A stream is not one function that can be repeated, so the
// circuit's permit is held by hand: it is settled with how the stream ended.
func (s *planService) Watch(ctx context.Context, id string, each func(event string)) (err error) {
	permit, err := s.guard.Acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { permit.Settle(err) }()
	body, err := s.api.send(ctx, http.MethodGet, "/plans/"+id+"/events", nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		each(lines.Text())
	}
	return lines.Err()
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
