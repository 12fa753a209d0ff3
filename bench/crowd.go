package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"text/tabwriter"

	"github.com/failsafe-go/failsafe-go"

	"github.com/seed42274fcc/stoic/resilient"
)

// crowdSize is how many services a large program may call.
const crowdSize = 10_000

const rowCrowd = "10 000 guards"

// crowd is one way to have a guard for each of many services.
type crowd struct {
	name string
	// make makes one guard and uses it once, and returns what keeps it alive.
	make func() any
}

func crowds() []crowd {
	ctx := context.Background()
	return []crowd{
		{nameOurs, func() any {
			guard := newGuard()
			_ = resilient.Do(ctx, guard, resilient.NonIdempotent("get_plan"), succeed)
			return guard
		}},
		{"stoic, by failure rate", func() any {
			guard := newGuardBy(byShare)
			_ = resilient.Do(ctx, guard, resilient.NonIdempotent("get_plan"), succeed)
			return guard
		}},
		{nameFailsafe, func() any {
			executor := newFailsafeExecutor(newFailsafeCircuit())
			_, _ = executor.WithContext(ctx).GetWithExecution(func(failsafe.Execution[int]) (int, error) { return 0, nil })
			return executor
		}},
		{nameByHand, func() any {
			circuit := newGobreaker()
			_, _ = guardByHand(ctx, circuit, func(context.Context) (int, error) { return 0, nil })
			return circuit
		}},
	}
}

func succeed(context.Context) error { return nil }

// size is what a crowd comes to.
type size struct {
	bytes      int // for each guard
	goroutines int // that all of them have left running
}

// gather makes n of them.
func (c crowd) gather(n int) size {
	guards := make([]any, n)
	goroutines, before := runtime.NumGoroutine(), heapInUse()
	for i := range guards {
		guards[i] = c.make()
	}
	s := size{bytes: (heapInUse() - before) / n, goroutines: runtime.NumGoroutine() - goroutines}
	runtime.KeepAlive(guards)
	return s
}

// heapInUse is what is reachable now.
func heapInUse() int {
	runtime.GC()
	runtime.GC() // what the first one's finalizers and pools let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// printCrowds prints one line for each of those that are chosen.
func printCrowds(w io.Writer, chosen *regexp.Regexp) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	lines := 0
	for _, c := range crowds() {
		if !chosen.MatchString(rowCrowd + "/" + c.name) {
			continue
		}
		if lines++; lines == 1 {
			if _, err := fmt.Fprintf(t, "%s - made, used once and kept\ncontestant\tB each\tgoroutines\t\n", rowCrowd); err != nil {
				return err
			}
		}
		s := c.gather(crowdSize)
		if _, err := fmt.Fprintf(t, "%s\t%d\t%d\t\n", c.name, s.bytes, s.goroutines); err != nil {
			return err
		}
	}
	if lines > 0 {
		if _, err := fmt.Fprintln(t); err != nil {
			return err
		}
	}
	return t.Flush()
}
