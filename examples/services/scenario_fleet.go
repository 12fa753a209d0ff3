package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// inFleet runs a scenario with replicas.
func inFleet(run func(ctx context.Context, p *platform, f *fleet) (string, error)) func(context.Context, *platform) (string, error) {
	return func(ctx context.Context, p *platform) (seen string, err error) {
		f, err := startFleet(ctx, p)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, f.close()) }()
		if err := f.await(ctx, "closed"); err != nil {
			return "", err
		}
		return run(ctx, p, f)
	}
}

// breakFor lets one replica see an outage until the circuit is open.
func (f *fleet) breakFor(ctx context.Context, p *platform) error {
	p.provider.fail(unavailable())
	for range 5 {
		if answer, err := f.replicas[0].ask("apply plan-1"); err != nil || answer != "status 503" {
			return errors.Join(fmt.Errorf("in an outage: %q", answer), err)
		}
	}
	return f.await(ctx, "open")
}

// One replica's failures spare all the others theirs.
func fleetStops(ctx context.Context, p *platform, f *fleet) (string, error) {
	if err := f.breakFor(ctx, p); err != nil {
		return "", err
	}
	before := p.provider.requests()
	answers, err := f.all("get plan-1")
	return fmt.Sprintf("%s, %s rejected, %d more", count(before, "request"),
		some(answers["rejected: open"], len(f.replicas), "all"), p.provider.requests()-before), err
}

// All replicas come at the moment when the circuit may try again. The server keeps the one that gets through until the
// others have had their answer.
func fleetProbes(ctx context.Context, p *platform, f *fleet) (string, error) {
	if err := f.breakFor(ctx, p); err != nil {
		return "", err
	}
	before := p.provider.requests()
	release := make(chan struct{})
	p.provider.fail(hold(release))
	text, err := f.replicas[0].ask("due")
	if err != nil {
		return "", err
	}
	due, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return "", err
	}
	if err := pause(ctx, time.Until(due)+20*time.Millisecond); err != nil {
		return "", err
	}
	for _, r := range f.replicas {
		if err := r.tell("get plan-1"); err != nil {
			return "", err
		}
	}
	if err := p.provider.await(ctx, func(c counts) bool { return len(c.arrivals) > before }); err != nil {
		return "", err
	}
	if err := pause(ctx, 100*time.Millisecond); err != nil { // for a second one to come, if there is one
		return "", err
	}
	probes := p.provider.requests() - before
	close(release)
	answers := map[string]int{}
	for _, r := range f.replicas {
		answer, err := r.hear()
		if err != nil {
			return "", err
		}
		answers[answer]++
	}
	p.provider.heal()
	if err := f.await(ctx, "closed"); err != nil {
		return "", err
	}
	rejected := answers["rejected: half-open"] + answers["rejected: open"] // it may not have been told yet
	return fmt.Sprintf("%s, %d answered, %s rejected, all closed", count(probes, "request"), answers["ok"],
		some(rejected, len(f.replicas)-1, "the others")), nil
}

// What an operator orders through one replica holds for all.
func fleetObeys(ctx context.Context, p *platform, f *fleet) (string, error) {
	last := f.replicas[len(f.replicas)-1]
	if answer, err := last.ask("maintenance the provider moves house"); err != nil || answer != "ok" {
		return "", errors.Join(fmt.Errorf("order: %q", answer), err)
	}
	if err := f.await(ctx, "forced-open"); err != nil {
		return "", err
	}
	refused, err := f.all("get plan-1")
	if err != nil {
		return "", err
	}
	before := p.provider.requests()
	if answer, err := f.replicas[0].ask("release it has moved"); err != nil || answer != "ok" {
		return "", errors.Join(fmt.Errorf("order: %q", answer), err)
	}
	if err := f.await(ctx, "closed"); err != nil {
		return "", err
	}
	served, err := f.all("get plan-1")
	return fmt.Sprintf("%s, %s rejected, then %s ok", count(before, "request"),
		some(refused["rejected: forced-open"], len(f.replicas), "all"), some(served["ok"], len(f.replicas), "all")), err
}

// some is how many of them there are: a word for all.
func some(n, of int, all string) string {
	if n == of {
		return all
	}
	return fmt.Sprintf("%d of %d", n, of)
}
