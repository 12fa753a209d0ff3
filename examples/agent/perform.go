package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// performance is all that was seen.
type performance struct {
	outages map[breakers][]phase
	reports []report
	errs    []error
}

// perform performs everything, at once, since most of it is waiting: each has a world of its own.
func perform(ctx context.Context, redis string) performance {
	kinds := []breakers{noBreaker, local, shared}
	outages, errs := make([][]phase, len(kinds)), make([]error, len(kinds))
	reports := make([]report, len(variants))
	var acts sync.WaitGroup
	for i, who := range kinds {
		acts.Go(func() { outages[i], errs[i] = outage(ctx, who, redis) })
	}
	for i, v := range variants {
		acts.Go(func() { reports[i] = v.perform(ctx, redis) })
	}
	acts.Wait()
	seen := performance{outages: map[breakers][]phase{}, reports: reports}
	for i, who := range kinds {
		seen.outages[who] = outages[i]
		if errs[i] != nil {
			seen.errs = append(seen.errs, fmt.Errorf("%s: %w", who, errs[i]))
		}
	}
	return seen
}

// write writes what was seen, and returns how much of it is not as expected.
func (p performance) write(out io.Writer, verbose bool) (differ int) {
	if verbose {
		for _, who := range []breakers{noBreaker, local, shared} {
			for _, one := range p.outages[who] {
				writeRounds(out, who, one)
			}
		}
		_, _ = fmt.Fprintln(out)
	}
	differ = writeTable(out, expected, p.outages)
	_, _ = fmt.Fprintln(out)
	return differ + writeReports(out, p.reports)
}

// report is a variant that was performed.
type report struct {
	variant
	seen string
}

// perform runs a variant in a world of its own, in which search has failed until its circuit is open.
func (v variant) perform(ctx context.Context, redis string) report {
	seen, err := v.performed(ctx, redis)
	if err != nil {
		seen = "error: " + err.Error()
	}
	return report{variant: v, seen: seen}
}

func (v variant) performed(ctx context.Context, redis string) (seen string, err error) {
	w, err := newWorld(ctx, shared, v.mode, redis)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	w.backend.down.Store(true)
	return v.run(ctx, w)
}
