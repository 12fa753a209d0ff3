package capturedwrite

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

type result struct {
	name string
	size int

	inner *result
}

func get(ctx context.Context) (string, int, error) { return "", 0, nil }

var global string

func faults(ctx context.Context, g *resilient.Guard, unknown resilient.Op) {
	var name string
	var names []string
	var r result
	total := 0
	_ = resilient.Do(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) (err error) {
		name, _, err = get(ctx)     // want `name is assigned in a guarded function: the function may be run again`
		names = append(names, name) // want `names is assigned in a guarded function`
		total += len(name)          // want `total is assigned in a guarded function`
		r.size = 1                  // a constant: the same each time
		r.name = name               // not again
		return err
	})
	var err error
	f := resilient.Async(ctx, g, unknown, func(ctx context.Context) (int, error) {
		if ctx != nil {
			_, total, err = get(ctx) // want `total is assigned in a guarded function: the function may go on running` `err is assigned in a guarded function`
		}
		return 0, err
	})
	defer f.Cancel()
	_ = resilient.Wrap(g, unknown, func(ctx context.Context, id string) (int, error) {
		r.name = id // want `r is assigned in a guarded function: calls of the wrapped function may overlap`
		return 0, nil
	})
	_, _, _ = name, names, r
}

func clean(ctx context.Context, g *resilient.Guard, unknown resilient.Op, out *result) {
	var name string
	var names []string
	var mu sync.Mutex
	var n atomic.Int64
	attempts := 0
	seen := map[string]bool{}
	_ = resilient.Do(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) error {
		attempts++
		attempts += 1
		names = nil
		inside, _, err := get(ctx)
		inside = inside + "."
		names = append(names, inside)
		seen[inside] = true
		out.name = inside
		global = inside
		time.Local = time.FixedZone(inside, 0)
		out.inner.name = inside
		n.Add(1)
		return err
	})
	_ = resilient.Do(ctx, g, resilient.NonIdempotent("put"), func(ctx context.Context) (err error) {
		name, _, err = get(ctx)
		return err
	})
	_ = resilient.Do(ctx, g, unknown, func(ctx context.Context) (err error) {
		name, _, err = get(ctx)
		return err
	})
	f := resilient.Async(ctx, g, unknown, func(ctx context.Context) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		name = "x" + name
		return 0, nil
	})
	defer f.Cancel()
	_ = resilient.Do(ctx, g, resilient.Idempotent("get"), func(ctx context.Context) error {
		fill := func() { name = name + "." }
		_ = fill
		return nil
	})
}
