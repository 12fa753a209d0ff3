package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// The cooldowns of a demonstration are to be short, and its figures are to be the same on a machine that is busy: no
// cooldown may end while something is measured that happens in it. No fixed length does both. So the limits are changed
// live, as an operator may do it: only times and the generation are stored, so that another policy holds at once. In
// each the cooldown of one generation is short, and that of the next, which begins when the probe fails, is a hundred
// times as long.
const (
	shortCooldown  = time.Second
	cooldownGrowth = 100
	longCooldown   = shortCooldown * cooldownGrowth
)

// limitsAt are those in which the cooldown of that generation is the short one. Generation 0 is a circuit that is closed:
// it has none, and opens for the long one.
func limitsAt(generation int) toolguard.Limits {
	return toolguard.Limits{
		FailureThreshold:   3, // as it is by default
		RecoveryMultiplier: cooldownGrowth,
		RecoveryTimeout:    time.Duration(float64(shortCooldown) / math.Pow(cooldownGrowth, float64(generation-1))),
	}
}

// passCooldown ends the cooldown that the replicas are in: it waits for it, until every replica has seen it end. When it
// returns, the next turn has the probe.
func (w *world) passCooldown(ctx context.Context) error {
	seen := w.seen()
	if len(seen) == 0 {
		return nil // no breaker
	}
	if err := w.setLimits(limitsAt(seen[0].Generation), toolguard.Limits{}); err != nil {
		return err
	}
	return w.await(ctx, "the end of a cooldown", func(seen []breaker.Snapshot) bool {
		return all(seen, func(s breaker.Snapshot) bool { return s.ProbeDue })
	})
}

// setLimits puts limits in force for all replicas, and others for search where they are not zero.
func (w *world) setLimits(limits, ofSearch toolguard.Limits) error {
	for _, r := range w.replicas {
		if err := r.guard.Tools().SetLimits(limits, map[string]toolguard.Limits{search: ofSearch}); err != nil {
			return err
		}
	}
	return nil
}

// agree waits until all replicas know the same, where they share it. News take a moment, and a task that begins before
// they are there may cost a call more.
func (w *world) agree(ctx context.Context) error {
	if w.breakers != shared {
		return nil
	}
	return w.await(ctx, "the news", func(seen []breaker.Snapshot) bool {
		return all(seen, func(s breaker.Snapshot) bool {
			return s.Round == seen[0].Round && s.State == seen[0].State
		})
	})
}

// inTime reports an error if what has begun then may have lasted for longer than a cooldown: it measured nothing.
func inTime(began time.Time) error {
	if took := time.Since(began); took > longCooldown {
		return fmt.Errorf("this machine is too slow: what is measured in a cooldown of %v took %v", longCooldown, took)
	}
	return nil
}

// longestWait is how long anything may take to become known.
const longestWait = time.Minute

// errLost says that circuits are not shared that are to be. In earnest nobody needs to know: each replica goes on by
// itself. Here the figures would be others.
var errLost = errors.New("the circuits are not shared: Redis does not answer")

// await looks at the circuits until they are as they should be.
func (w *world) await(ctx context.Context, what string, reached func(seen []breaker.Snapshot) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestWait, fmt.Errorf("nothing for %v", longestWait))
	defer cancel()
	for {
		seen := w.seen()
		switch {
		case slices.ContainsFunc(seen, func(s breaker.Snapshot) bool { return s.Sharing == breaker.Lost }):
			return errLost
		case reached(seen):
			return nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
}

// seen are the circuits as the replicas see them, where they know of one.
func (w *world) seen() []breaker.Snapshot {
	var seen []breaker.Snapshot
	for _, r := range w.replicas {
		if c := r.circuit(); c != nil {
			seen = append(seen, c.Snapshot())
		}
	}
	return seen
}

func all(seen []breaker.Snapshot, is func(breaker.Snapshot) bool) bool {
	for _, s := range seen {
		if !is(s) {
			return false
		}
	}
	return true
}

// pause waits, unless the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
