package main

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// match is a document that was found.
type match struct {
	ID string `json:"id"`
}

// vectorStore is the vector store as the rest of the platform sees it.
type vectorStore struct {
	guard *resilient.Guard
	api   api
}

func newVectorStore(guards resilient.Guards, url string) *vectorStore {
	return &vectorStore{guard: guards.Guard("vector_store_service"), api: newAPI(url, "")}
}

var opSearch = resilient.Idempotent("search")

// Search returns the best match.
func (s *vectorStore) Search(ctx context.Context, query string) (match, error) {
	return s.search(ctx, opSearch, query)
}

// SearchWithin is Search for callers in a hurry: its op has limits of its own.
func (s *vectorStore) SearchWithin(ctx context.Context, total time.Duration, query string) (match, error) {
	return s.search(ctx, opSearch.WithTotalTimeout(total).WithAttemptTimeout(total), query)
}

func (s *vectorStore) search(ctx context.Context, op resilient.Op, query string) (match, error) {
	return resilient.Execute(ctx, s.guard, op, func(ctx context.Context) (match, error) {
		return s.fetch(ctx, query)
	})
}

// SearchAsync begins a search in the background.
func (s *vectorStore) SearchAsync(ctx context.Context, query string) *resilient.Future[match] {
	return resilient.Async(ctx, s.guard, opSearch, func(ctx context.Context) (match, error) {
		return s.fetch(ctx, query)
	})
}

func (s *vectorStore) fetch(ctx context.Context, query string) (match, error) {
	var m match
	err := s.api.call(ctx, http.MethodGet, "/search?q="+url.QueryEscape(query), nil, &m)
	return m, err
}

// Put stores a document under its id. It is a write, but one that has the same effect when it is made twice, so it is
// declared idempotent.
func (s *vectorStore) Put(ctx context.Context, id, text string) error {
	return resilient.Do(ctx, s.guard, resilient.Idempotent("put_document"), func(ctx context.Context) error {
		return s.api.call(ctx, http.MethodPut, "/documents/"+id, text, nil)
	})
}

// Embed uses a client that was written without a context: nothing can stop it, so it runs in the background, where the
// guard can leave it behind when its time is over.
func (s *vectorStore) Embed(ctx context.Context, total time.Duration, text string) *resilient.Future[int] {
	op := resilient.NonIdempotent("embed").WithTotalTimeout(total).WithAttemptTimeout(total)
	return resilient.Async(ctx, s.guard, op, func(context.Context) (int, error) {
		resp, err := s.api.http.Get(s.api.base + "/search?q=" + url.QueryEscape(text))
		if err != nil {
			return 0, err
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode, nil
	})
}

// What follows stands for the vector store itself.

type index struct {
	*server
	mu        sync.Mutex
	documents map[string]int // how often each was written
}

func startIndex() (*index, error) {
	i := &index{documents: map[string]int{}}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		answer(w, match{ID: "about " + r.FormValue("q")})
	})
	routes.HandleFunc("PUT /documents/{id}", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		i.documents[r.PathValue("id")]++
		i.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	})
	var err error
	i.server, err = startServer(routes)
	return i, err
}

// stored returns how many documents there are.
func (i *index) stored() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.documents)
}
