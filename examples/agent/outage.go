package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// phase is a part of an outage, and what has happened in it.
type phase struct {
	name  string
	tasks []task
	hits  int // of the backend
}

// outage is one from beginning to end, with a model that never gives up by itself.
func outage(ctx context.Context, who breakers, redis string) (phases []phase, err error) {
	w, err := newWorld(ctx, who, toolguard.Withhold, redis)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	perform := func(name string, each int) error {
		one, err := w.phase(ctx, name, each)
		phases = append(phases, one)
		return err
	}

	w.backend.down.Store(true)
	if err := perform("outage", 10); err != nil {
		return phases, err
	}
	for i := range 3 { // it is down still when the cooldown is over
		if err := w.passCooldown(ctx); err != nil {
			return phases, err
		}
		if err := perform(fmt.Sprintf("cooldown %d", i+1), 2); err != nil {
			return phases, err
		}
	}
	w.backend.down.Store(false)
	if err := w.passCooldown(ctx); err != nil {
		return phases, err
	}
	return phases, perform("recovery", 10)
}

// phase lets each replica do that many tasks. They take less than a cooldown.
func (w *world) phase(ctx context.Context, name string, each int) (phase, error) {
	began, before := time.Now(), w.hits()
	tasks, err := w.work(ctx, persistent, each)
	if err == nil && w.breakers != noBreaker {
		err = inTime(began)
	}
	return phase{name: name, tasks: tasks, hits: w.hits() - before}, err
}
