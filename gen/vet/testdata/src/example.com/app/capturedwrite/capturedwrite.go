package capturedwrite

import (
	"context"
	"errors"
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

func work(ctx context.Context) (string, error) { return "", ctx.Err() }

func must(s string, err error) string { return s }

// leftBehind are variables that hold what a failed attempt has put there.
func leftBehind(ctx context.Context, g *resilient.Guard, op resilient.Op, items []result) {
	var a, b, c, d, e, f, h, k string
	var all []string
	idempotent := resilient.Idempotent("get")
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) (err error) {
		if a, err = work(ctx); err != nil { // want `a is assigned in a guarded function`
			return err
		}
		return nil
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		got, err := work(ctx)
		b = got // want `b is assigned`
		return err
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		for _, item := range items {
			got, err := work(ctx)
			if err != nil {
				return err
			}
			c = item.name + got    // want `c is assigned`
			all = append(all, got) // want `all is assigned`
		}
		return nil
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		got, err := work(ctx)
		if err == nil {
			d = got // want `d is assigned`
		}
		return other(ctx)
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) (err error) {
		e, err = work(ctx) // want `e is assigned`
		return
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		f = must(work(ctx)) // want `f is assigned`
		return other(ctx)
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		h = h + "." // want `h is assigned`
		return other(ctx)
	})
	n := 0
	future := resilient.Async(ctx, g, op, func(ctx context.Context) (int, error) {
		n = resilient.Attempt(ctx) // want `n is assigned in a guarded function: the function may go on running`
		return 0, nil
	})
	defer future.Cancel()
	_ = resilient.Wrap0(g, idempotent, func(ctx context.Context) (int, error) {
		n = resilient.Attempt(ctx) // want `n is assigned in a guarded function: calls of the wrapped function may overlap`
		return 0, nil
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if ctx.Err() == nil {
			func() { k = must(work(ctx)) }() // want `k is assigned`
		}
		return nil
	})
	_, _, _, _, _, _, _, _, _, _ = a, b, c, d, e, f, h, k, all, n
}

func other(ctx context.Context) error { return ctx.Err() }

// Attempts run one after the other, so none of these matters.
func inOrder(ctx context.Context, g *resilient.Guard, items []result) (err error) {
	var n, total int
	var begun time.Time
	var a, b, c, value string
	var all []string
	var last result
	idempotent := resilient.Idempotent("get")
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		n = resilient.Attempt(ctx)
		begun = time.Now()
		return other(ctx)
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		attempt := resilient.Attempt(ctx)
		if err := other(ctx); err != nil {
			return err
		}
		n = attempt + len(items)
		return other(ctx)
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		got, err := work(ctx)
		if err != nil {
			return err
		}
		a = got
		all = append(all, got)
		total += len(got)
		last.name = got
		return nil
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		got, err := work(ctx)
		if err == nil {
			b = got
			return nil
		}
		return err
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		got, err := work(ctx)
		switch {
		case err != nil:
			return err
		case got == "":
		default:
			for _, item := range items {
				c = item.name + got
			}
		}
		return nil
	})
	value, err = resilient.Execute(ctx, g, idempotent, func(ctx context.Context) (string, error) {
		value, err = work(ctx)
		return value, err
	})
	_, _, _, _, _, _, _, _, _ = n, begun, a, b, c, all, total, last, value
	return err
}

// keeping is meant.
func keeping(ctx context.Context, g *resilient.Guard) (token string, seen, last error) {
	idempotent := resilient.Idempotent("get")
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if token == "" {
			got, err := work(ctx)
			if err != nil {
				return err
			}
			token = got
		}
		return other(ctx)
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		_, err := work(ctx)
		seen = errors.Join(seen, err)
		if err != nil {
			last = err
		}
		return err
	})
	_ = resilient.Do(ctx, resilient.Passthrough(), idempotent, func(ctx context.Context) (err error) {
		token, err = work(ctx)
		return err
	})
	return token, seen, last
}
