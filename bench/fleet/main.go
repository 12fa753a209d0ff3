// Command fleet measures what it costs to share a circuit: how many calls five replicas with twenty workers each make
// through one circuit on one Redis, of a function that takes a millisecond, beside no breaker at all and beside
// gobreaker's distributed one; and what a healthy call costs when its circuit is shared. It starts a redis-server of its
// own, prints a table, and ends with one line for each goal; it exits with 1 when one falls short.
//
//	go run . [-rounds 5] [-for 2s] [-replicas 5] [-workers 20]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		code = 2
	}
	os.Exit(code)
}

// setting is the size of a run.
type setting struct {
	rounds   int
	period   time.Duration
	replicas int
	workers  int // of each replica
}

func run(args []string, w io.Writer) (code int, err error) {
	var s setting
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 5, "samples of each contestant")
	flags.DurationVar(&s.period, "for", 2*time.Second, "length of one sample")
	flags.IntVar(&s.replicas, "replicas", 5, "replicas, each with a client of its own")
	flags.IntVar(&s.workers, "workers", 20, "workers of each replica")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0, nil
		}
		return 0, err
	}
	if s.rounds < 1 || s.period <= 0 || s.replicas < 1 || s.workers < 1 {
		return 0, errors.New("each flag must be more than 0")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	address, stop, err := startRedis(ctx)
	if err != nil {
		return 0, err
	}
	defer stop()
	return measure(ctx, w, address, s)
}

// measure has one round after the other, each with all contestants in it, so that what slows the machine down for a
// while slows all of them.
func measure(ctx context.Context, w io.Writer, address string, s setting) (code int, err error) {
	contestants, err := enter(ctx, address, s)
	if err != nil {
		return 0, err
	}
	rates := make([][]float64, len(contestants))
	for range s.rounds {
		for i, c := range contestants {
			rate, err := throughput(ctx, c, s)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", c.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	alone, shared, err := healthyCost(ctx, address)
	if err != nil {
		return 0, err
	}
	if err := table(w, s, contestants, rates, alone, shared); err != nil {
		return 0, err
	}
	ours, none, theirs := median(rates[1]), median(rates[0]), median(rates[2])
	return goals(w, []goal{
		{"calls of the fleet: times gobreaker's distributed breaker", ours / theirs, 150, false},
		{"calls of the fleet: part of those without a breaker", ours / none, 0.95, false},
		{"healthy call on a shared circuit: times one in process", shared / alone, 1.3, true},
	})
}

func table(w io.Writer, s setting, contestants []contestant, rates [][]float64, alone, shared float64) error {
	_, err := fmt.Fprintf(w, "%s %s/%s, %d cores\n%d replicas of %d workers, a function of 1 ms; medians of %d samples of %v\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.replicas, s.workers, s.rounds, s.period)
	for i, c := range contestants {
		if err == nil {
			_, err = fmt.Fprintf(w, "%-30s %10.0f calls/s\n", c.name, median(rates[i]))
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "%-30s %10.1f ns\n%-30s %10.1f ns\n\n", "healthy call, in process", alone, "healthy call, shared", shared)
	}
	return err
}

// goal is a figure and what it is to be.
type goal struct {
	name   string
	figure float64
	bound  float64
	most   bool // the bound is the most that it may be, not the least
}

func goals(w io.Writer, all []goal) (code int, err error) {
	for _, g := range all {
		verdict, relation := "holds", "at least"
		if g.most {
			relation = "at most"
		}
		if g.most != (g.figure <= g.bound) && g.figure != g.bound {
			verdict, code = "falls short", 1
		}
		if _, err := fmt.Fprintf(w, "%-62s %8.2f   goal: %s %-6g %s\n", g.name, g.figure, relation, g.bound, verdict); err != nil {
			return 0, err
		}
	}
	return code, nil
}

func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
