package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// newBoard returns the operators' pages of a platform, and the metrics.
func newBoard(p *platform) (http.Handler, *dashboard.Dashboard) {
	// region board
	board := dashboard.New(p.registry, &dashboard.Options{
		Meter:   p.meter, // which is among the Observers of the registry
		Explain: func(service string) dashboard.Explained { return p.registry.Explain(service) },
		Control: whoIsIt, // who may steer: without it there is nothing to press
		Logger:  p.log,
	})
	routes := http.NewServeMux()
	routes.Handle("/circuits/", http.StripPrefix("/circuits", board))
	routes.Handle("/metrics", dashboard.Metrics(p.registry, p.meter))
	// endregion
	return routes, board
}

// whoIsIt would ask the program's own sessions. Here whoever sits at the machine may steer; the name that the browser
// asked for counts too, since a page of elsewhere can let its own name lead to this machine.
func whoIsIt(r *http.Request) (author string, err error) {
	for _, address := range []string{r.RemoteAddr, r.Host} {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().IsLoopback() {
			return "", errors.New("circuits are steered from this machine only, by its number")
		}
	}
	return "operator", nil
}

const (
	calm   = 4 * time.Second
	outage = 8 * time.Second
)

// watch serves the page, with calls to look at and an outage of the provider now and then, until it is interrupted. It
// keeps what it logs and counts, as the scenarios need it: that is for a look, not for days.
func watch(ctx context.Context, address string, logs *journal, out io.Writer) (err error) {
	p, err := newPlatform(logs, sharing{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	routes, board := newBoard(p)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}
	server.RegisterOnShutdown(board.Close) // a shutdown waits for the streams of open pages
	_, _ = fmt.Fprintf(out, "http://%s/circuits/\n", listener.Addr())

	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range 4 {
		all.Go(func() { traffic(ctx, p, time.Duration(30+20*i)*time.Millisecond) })
	}
	all.Go(func() { outages(ctx, p, out) })
	failed := make(chan error, 1)
	all.Go(func() { failed <- server.Serve(listener) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		patience, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer done()
		return server.Shutdown(patience)
	}
}

// traffic is a client, whose errors are what the page is about.
func traffic(ctx context.Context, p *platform, each time.Duration) {
	for n := 0; pause(ctx, each) == nil; n++ {
		_, _ = p.plans.Get(ctx, "plan-1")
		_, _ = p.vectors.Search(ctx, "tea")
		if n%5 == 0 {
			_, _ = p.lifecycle.Begin(ctx, "tea")
			_ = p.sessions.Save(ctx, "session-1", "here")
		}
	}
}

// outages lets the provider fail for a while, again and again.
func outages(ctx context.Context, p *platform, out io.Writer) {
	for pause(ctx, calm) == nil {
		_, _ = fmt.Fprintln(out, "the provider has an outage")
		p.provider.fail(unavailable())
		err := pause(ctx, outage)
		p.provider.heal()
		if err == nil {
			_, _ = fmt.Fprintln(out, "the provider is well again")
		}
	}
}
