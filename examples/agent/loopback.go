package main

import (
	"net"
	"net/http"
	"time"
)

// site is a real HTTP server on the loopback interface.
type site struct {
	url    string
	server *http.Server
	ended  chan struct{}
}

func serve(handler http.Handler) (*site, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute},
		ended:  make(chan struct{}),
	}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(listener) // the error is that it was closed
	}()
	return s, nil
}

// close cuts all connections.
func (s *site) close() error {
	err := s.server.Close()
	<-s.ended
	return err
}
