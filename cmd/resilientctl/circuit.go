package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
	"github.com/seed42274fcc/stoic/sanitize"
)

// circuit is a shared circuit as it is shown. Times are the store's.
type circuit struct {
	Name        string     `json:"name"`
	State       string     `json:"state"`             // a breaker.State, or "unreadable"
	Beneath     string     `json:"beneath,omitempty"` // the circuit's own state, under a force
	Since       *time.Time `json:"since,omitempty"`
	Until       *time.Time `json:"until,omitempty"`     // of an open one, if its policy is known; of a force
	ProbeDue    bool       `json:"probe_due,omitempty"` // an open one whose time has passed: it lets the next call through
	Generation  int        `json:"generation"`
	Failures    int        `json:"failures"`
	LastFailure *time.Time `json:"last_failure,omitempty"`
	Cause       string     `json:"cause,omitempty"`
	Probes      int        `json:"probes"`
	Successes   int        `json:"successes"`
	ForceUntil  *time.Time `json:"force_until,omitempty"`
	Author      string     `json:"author,omitempty"` // of the last order
	Reason      string     `json:"reason,omitempty"`
	Ordered     *time.Time `json:"ordered,omitempty"`
	Round       uint64     `json:"round"`
	Problem     string     `json:"problem,omitempty"`
}

// settings are those of somebody who does not know the circuits' policies. They matter
// only for how long what is written is kept: as long as any policy could want.
func settings() breaker.Settings {
	s := breaker.DefaultSettings()
	s.RecoveryTimeout = s.MaxRecoveryTimeout
	return s
}

// view makes what is shown of an answer. When an open circuit is to be probed depends on
// the policies of those who share it.
func (f *fleet) view(name string, answer breaker.Answer) circuit {
	r := answer.Record
	state := r.State(settings())
	c := circuit{
		Name: sanitize.Message(name), State: state.String(), Since: clock(r.Since), Generation: r.Generation,
		Failures: r.Failures, LastFailure: clock(r.LastFailure), Cause: sanitize.Message(r.Cause),
		Probes: r.LivePermits(answer.Now), Successes: r.Successes, ForceUntil: clock(r.ForceUntil),
		Author: sanitize.Message(r.Order.Author), Reason: sanitize.Message(r.Order.Reason),
		Ordered: clock(r.Ordered), Round: r.Round,
	}
	if r.Force != breaker.NoForce {
		c.Beneath, c.Until = r.Beneath.String(), c.ForceUntil
	} else if on, known := f.settings(name); known && r.Beneath == breaker.Open {
		until := r.OpenUntil(on)
		c.Until, c.ProbeDue = clock(until), answer.Now >= until
	}
	return c
}

// settings are those of the circuit's policy, if that is known. Tools have theirs from
// the program, and not from a configuration.
func (f *fleet) settings(name string) (s breaker.Settings, known bool) {
	if f.policies == nil || strings.HasPrefix(name, "toolguard/") {
		return s, false
	}
	s = f.policies.Policy(name).Circuit
	s.RecoveryJitter = 0 // the store's time, which no process asks before
	return s, true
}

// word is the state in a word.
func (c circuit) word() string {
	if c.ProbeDue {
		return "probe-due"
	}
	return c.State
}

// unreadable is a circuit that is there and makes no sense.
func unreadable(name string, err error) circuit {
	return circuit{Name: sanitize.Message(name), State: "unreadable", Problem: sanitize.Error(err).Error()}
}

// legible reports whether an error is about one circuit and not about Redis.
func legible(err error) bool {
	return errors.Is(err, breaker.ErrGarbled) || errors.Is(err, redisstore.ErrNewer)
}

// clock is a time of the store's; nil is never.
func clock(d time.Duration) *time.Time {
	if d == 0 {
		return nil
	}
	return new(time.Unix(0, int64(d)).UTC())
}

// atOnce is how many circuits are read in one round trip.
const atOnce = 100

// readAll reads all circuits there are.
func (f *fleet) readAll(ctx context.Context, store *redisstore.Store) ([]circuit, error) {
	names, err := store.List(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]circuit, 0, len(names))
	for some := range slices.Chunk(names, atOnce) {
		commands := make([]breaker.BatchCommand, len(some))
		for i, name := range some {
			commands[i] = breaker.BatchCommand{Circuit: name, Command: breaker.Command{Kind: breaker.Read, Settings: settings()}}
		}
		for i, reply := range store.DoAll(ctx, commands) {
			switch {
			case reply.Err == nil:
				all = append(all, f.view(some[i], reply.Answer))
			case legible(reply.Err):
				all = append(all, unreadable(some[i], reply.Err))
			default:
				return nil, reply.Err
			}
		}
	}
	return all, nil
}

// demand returns nil if there is a circuit of exactly that name.
func demand(ctx context.Context, store *redisstore.Store, name string) error {
	known, err := store.Knows(ctx, name)
	if err != nil || known {
		return err
	}
	return exit{exitUnknown, fmt.Errorf("no circuit %s is known to Redis", sanitize.Message(name))}
}
