package main

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/seed42274fcc/stoic/resilient"
)

// match is a document that was found.
type match struct {
	ID string `json:"id"`
}

// vectorStore is the vector store as the rest of the platform sees it.
//
//resilient:service vector_store_service
type vectorStore interface {
	// Search returns the best match.
	//
	//resilient:idempotent
	Search(ctx context.Context, query string) (match, error)

	// Suggest is Search for somebody who is typing: what comes late comes for nothing.
	//
	//resilient:idempotent
	//resilient:timeout 500ms
	Suggest(ctx context.Context, query string) (match, error)

	// Put stores a document under its id. It is a write, but one that has the same effect when it is made twice.
	//
	//resilient:idempotent
	//resilient:op put_document
	Put(ctx context.Context, id, text string) error
}

// newVectorStore returns the vector store with its guard.
func newVectorStore(guards resilient.Guards, url string) vectorStore {
	return newResilientVectorStore(newVectorClient(url), guards)
}

// vectorClient is the vector store over HTTP. Each method makes one attempt.
type vectorClient struct{ api api }

func newVectorClient(url string) *vectorClient { return &vectorClient{api: newAPI(url, "")} }

func (c *vectorClient) Search(ctx context.Context, query string) (match, error) {
	var m match
	err := c.api.call(ctx, http.MethodGet, "/search?q="+url.QueryEscape(query), nil, &m)
	return m, err
}

func (c *vectorClient) Suggest(ctx context.Context, query string) (match, error) {
	return c.Search(ctx, query)
}

func (c *vectorClient) Put(ctx context.Context, id, text string) error {
	return c.api.call(ctx, http.MethodPut, "/documents/"+id, text, nil)
}

// embed is a method that was written without a context: nothing can stop it.
func (c *vectorClient) embed(text string) (int, error) {
	resp, err := c.api.http.Get(c.api.base + "/search?q=" + url.QueryEscape(text))
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode, nil
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
