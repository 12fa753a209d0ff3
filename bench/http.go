package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// server answers every request with a few bytes. There is one for all, started when it is first needed, and it runs as
// long as the program.
var server = sync.OnceValue(func() string {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	s := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"id":7}`)
		}),
	}
	go func() { _ = s.Serve(listener) }()
	return "http://" + listener.Addr().String()
})

// fetch is a request as services make it: bound to the context, and its body read to the end.
func fetch(ctx context.Context, client *http.Client) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", response.Status)
	}
	return nil
}

// unguarded is the call with nothing round it.
func unguarded(s *service) loop {
	ctx := context.Background()
	return func(n int) error {
		for id := range n {
			got, err := s.call(ctx, id)
			if err != nil || got != id {
				return succeeded(got, id, err)
			}
		}
		return nil
	}
}
