package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// backend is what the tool search asks: it counts what reaches it, and answers with 503 while it is down.
type backend struct {
	down atomic.Bool
	hits atomic.Int64
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.hits.Add(1)
	if b.down.Load() {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintf(w, "%ssomething about %s", found, r.FormValue("q")) // who does not read it, does without
}
