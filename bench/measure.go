package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// What is measured, and how:
//
// The contestants of all rows take turns: one short sample each, then the next round, so that a machine that slows down
// for a while slows down all of them alike. Of a contestant's samples the median counts. They are short so that, where
// other programs run as well, most of them are not interrupted.
//
// With one processor (GOMAXPROCS), calls follow each other. With p, p goroutines share the contestant's guard and the
// calls between them, each with a service of its own; the figure is the wall time over all calls, as testing's
// RunParallel has it, from when all of them have begun.
//
// Each sample begins after a garbage collection, so that nobody pays for another's garbage. Few samples are long enough
// for a collection of their own: what that costs is mostly left out, to the advantage of those who allocate most. What
// the loops and the function itself take is in the figures of all alike.

// plan says how much is measured.
type plan struct {
	procs  []int // values of GOMAXPROCS
	rounds int
	sample time.Duration // how long one sample takes, about
}

// stats is what a contestant comes to: medians per call.
type stats struct {
	ns     float64
	spread float64 // of the samples' middle half, as a part of the median
	bytes  float64
	allocs float64
}

// at finds a result.
type at struct {
	row, contestant string
	procs           int
}

// results are those of one run.
type results map[at]stats

// inTurns stands for one processor, measured in turns with several. What it does beside several is judged by that: many a
// machine is faster, by half, as long as one of its processors rests.
const inTurns = -1

// compared are the contestants of which that is wanted.
func compared(rows []row) []row {
	var some []row
	for _, r := range rows {
		r.contestants = slices.DeleteFunc(slices.Clone(r.contestants), func(c contestant) bool {
			return !slices.ContainsFunc(goals(), func(g goal) bool { return g.needs(at{r.name, c.name, inTurns}) })
		})
		some = append(some, r)
	}
	return some
}

// competitor is a contestant during the measurement, on so many processors.
type competitor struct {
	row        row
	contestant contestant
	procs      int
	calls      int // of one sample
	samples    []stats
}

// measure runs the plan.
func measure(rows []row, p plan) (results, error) {
	all := results{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range p.procs {
		competitors, err := entrants(rows, procs, p.sample)
		if err != nil {
			return nil, err
		}
		for range p.rounds {
			for _, c := range competitors {
				s, err := c.sampled()
				if err != nil {
					return nil, err
				}
				c.samples = append(c.samples, s)
			}
		}
		for _, c := range competitors {
			all[at{c.row.name, c.contestant.name, c.procs}] = summary(c.samples)
		}
	}
	return all, nil
}

// entrants are all that take turns on so many processors.
func entrants(rows []row, procs int, sample time.Duration) ([]*competitor, error) {
	if procs == 1 {
		return calibrated(rows, 1, sample)
	}
	sample *= 3 // not all begin and end in the same instant
	several, err := calibrated(rows, procs, sample)
	if err != nil {
		return nil, err
	}
	single, err := calibrated(compared(rows), inTurns, sample)
	return append(several, single...), err
}

// calibrated finds out how many calls of each contestant make a sample.
func calibrated(rows []row, procs int, sample time.Duration) ([]*competitor, error) {
	var competitors []*competitor
	for _, r := range rows {
		for _, c := range r.contestants {
			k := &competitor{row: r, contestant: c, procs: procs, calls: max(procs, 1)}
			if err := k.calibrate(sample); err != nil {
				return nil, err
			}
			competitors = append(competitors, k)
		}
	}
	return competitors, nil
}

// calibrate doubles the calls until they take a good part of a sample, and works out the rest.
func (c *competitor) calibrate(sample time.Duration) error {
	least := c.calls
	for {
		best := math.Inf(1) // of a few: an interruption must not pass for a slow call
		for range 3 {
			s, err := c.sampled()
			if err != nil {
				return err
			}
			best = min(best, s.ns)
		}
		if best*float64(c.calls) >= float64(sample)/4 {
			c.calls = max(least, int(float64(sample)/best))
			return nil
		}
		c.calls *= 2
	}
}

// sampled makes the calls of one sample.
func (c *competitor) sampled() (stats, error) {
	procs := max(c.procs, 1)
	if runtime.GOMAXPROCS(0) != procs {
		runtime.GOMAXPROCS(procs)
	}
	loops := make([]loop, procs)
	for i := range loops {
		loops[i] = c.contestant.start(newService(c.row))
	}
	each := c.calls / procs
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	took, err := together(loops, each)
	runtime.ReadMemStats(&after)
	if err != nil {
		return stats{}, fmt.Errorf("%s, %s: %w", c.row.name, c.contestant.name, err)
	}
	n := float64(each * procs)
	return stats{
		ns:     float64(took) / n,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
		allocs: float64(after.Mallocs-before.Mallocs) / n,
	}, nil
}

// together runs the loops side by side, and returns how long they took from when all of them had begun: what it takes
// to wake a processor is not theirs. A single one runs right here.
func together(loops []loop, n int) (took time.Duration, err error) {
	if len(loops) == 1 {
		began := time.Now()
		err = loops[0](n)
		return time.Since(began), err
	}
	errs := make([]error, len(loops))
	var awake atomic.Int64
	var began time.Time
	var once sync.Once
	var wg sync.WaitGroup
	for i, run := range loops {
		wg.Go(func() {
			for awake.Add(1); awake.Load() < int64(len(loops)); {
			}
			once.Do(func() { began = time.Now() })
			errs[i] = run(n)
		})
	}
	wg.Wait()
	return time.Since(began), errors.Join(errs...)
}

// summary takes the medians.
func summary(samples []stats) stats {
	sorted := func(of func(stats) float64) []float64 {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = of(s)
		}
		slices.Sort(values)
		return values
	}
	ns := sorted(func(s stats) float64 { return s.ns })
	middle := median(ns)
	return stats{
		ns:     middle,
		spread: (ns[len(ns)*3/4] - ns[len(ns)/4]) / middle,
		bytes:  median(sorted(func(s stats) float64 { return s.bytes })),
		allocs: median(sorted(func(s stats) float64 { return s.allocs })),
	}
}

// median of values that are sorted.
func median(values []float64) float64 {
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}
