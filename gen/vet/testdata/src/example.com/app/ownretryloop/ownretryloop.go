package ownretryloop

import (
	"context"
	"errors"
	"time"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

type client struct {
	guard *resilient.Guard
	hosts []string
}

func (c *client) get(ctx context.Context, id string) (string, error) { return id, nil }
func (c *client) pause()                                             {}

func (c *client) faults(ctx context.Context, id string) (string, error) {
	var err error
	op := resilient.Idempotent("get")
	get := func(ctx context.Context) (string, error) { return c.get(ctx, id) }
	for i := 0; i < 3; i++ {
		var value string
		value, err = resilient.Execute(ctx, c.guard, op, get) // want `this guarded call stands in a retry loop`
		if err == nil {
			return value, nil
		}
		time.Sleep(time.Second << i)
	}
	for attempt := range 3 {
		value, err := resilient.Execute(ctx, c.guard, op, func(ctx context.Context) (string, error) { return c.get(ctx, id) }) // want `stands in a retry loop`
		if err != nil {
			println("attempt", attempt)
			c.pause()
			continue
		}
		return value, nil
	}
	for {
		if err := resilient.Do(ctx, c.guard, resilient.NonIdempotent("apply"), c.apply); err == nil { // want `repeated by the loop around it, and its op says that it must not be`
			break
		} else {
			println(err)
		}
	}
	for _, delay := range []time.Duration{1, 2, 3} {
		ctx, cancel := context.WithTimeout(ctx, delay)
		err = resilient.Do(ctx, c.guard, resilient.Idempotent("x"), c.apply) // want `stands in a retry loop`
		cancel()
		if err == nil {
			break
		}
	}
	err = errors.New("not yet")
	for err != nil {
		err = resilient.Do(ctx, c.guard, resilient.Idempotent("x"), c.apply) // want `stands in a retry loop`
	}
	return "", err
}

func (c *client) apply(ctx context.Context) error { return nil }

func (c *client) clean(ctx context.Context, ids []string, next func() (string, bool)) (string, error) {
	op := resilient.Idempotent("get")
	// Work through a list, and go on after a failure.
	for _, id := range ids {
		_, err := resilient.Execute(ctx, c.guard, op, func(ctx context.Context) (string, error) { return c.get(ctx, id) })
		if err != nil {
			continue
		}
	}
	// The first host that answers.
	for i := range c.hosts {
		value, err := resilient.Execute(ctx, c.guard, op, func(ctx context.Context) (string, error) { return c.get(ctx, c.hosts[i]) })
		if err == nil {
			return value, nil
		}
	}
	// A worker.
	for {
		id, ok := next()
		if !ok {
			break
		}
		if err := resilient.Do(ctx, c.guard, op, func(ctx context.Context) error { _, err := c.get(ctx, id); return err }); err != nil {
			println(err)
			continue
		}
	}
	// Until the answer is there.
	for {
		value, err := resilient.Execute(ctx, c.guard, op, func(ctx context.Context) (string, error) { return c.get(ctx, "state") })
		if err != nil {
			return "", err
		}
		if value == "done" {
			break
		}
		time.Sleep(time.Second)
	}
	for {
		value, err := resilient.Execute(ctx, c.guard, op, func(ctx context.Context) (string, error) { return c.get(ctx, "state") })
		if err == nil && value == "done" {
			break
		}
	}
	// For ever, good or bad.
	for range time.Tick(time.Second) {
		if err := resilient.Do(ctx, c.guard, op, c.apply); err != nil {
			println(err)
		}
	}
	// Until the circuit closes.
	for {
		err := resilient.Do(ctx, c.guard, op, c.apply)
		if err == nil {
			break
		}
		var rejected *resilient.RejectedError
		if !errors.As(err, &rejected) {
			return "", err
		}
		time.Sleep(rejected.RetryAfter())
	}
	// Another page each time.
	page := "first"
	for {
		err := resilient.Do(ctx, c.guard, op, func(ctx context.Context) error { _, err := c.get(ctx, page); return err })
		if err == nil {
			break
		}
		page = "next"
	}
	// The function has the loop, and the call stands in another one.
	for range 3 {
		once := func() error { return resilient.Do(ctx, c.guard, op, c.apply) }
		if err := once(); err == nil {
			break
		}
	}
	// The same thing, changed by a method.
	var l list
	for {
		err := resilient.Do(ctx, c.guard, op, func(ctx context.Context) error { _, err := c.get(ctx, l.at); return err })
		if err == nil {
			break
		}
		l.advance()
	}
	return "", nil
}

func wrapped(ctx context.Context, g *resilient.Guard, guards resilient.Guards, raw plans.Service, c *client) {
	get := resilient.Wrap(g, resilient.Idempotent("get").WithTotalTimeout(time.Second), c.get)
	service := plans.NewResilientService(raw, guards)
	for {
		value, err := get(ctx, "1") // want `this guarded call stands in a retry loop`
		if err == nil {
			println(value)
			break
		}
	}
	for {
		if _, err := service.Get(ctx, "1"); err == nil { // want `this guarded call stands in a retry loop`
			break
		}
	}
	for {
		if err := service.Apply(ctx, plans.Plan{}); err == nil { // want `this call is repeated by the loop around it`
			break
		}
	}
	for {
		if _, err := raw.Get(ctx, "1"); err == nil {
			break
		}
	}
	for {
		if err := service.Ping(ctx); err == nil { // forwarded
			break
		}
	}
	for _, id := range []string{"1", "2"} {
		if _, err := get(ctx, id); err == nil {
			break
		}
	}
}

func shapes(guards resilient.Guards, raw plans.Shapes) {
	service := plans.NewResilientShapes(raw, guards)
	for {
		if err := service.Count(); err == nil { // want `this call is repeated by the loop around it`
			break
		}
	}
	for {
		if _, err := service.RoundTrip(nil); err == nil { // a stream is opened once
			break
		}
	}
}

type list struct{ at string }

func (l *list) advance() {}

func bounded(ctx context.Context, g *resilient.Guard, c *client) {
	err := errors.New("not yet")
	for i := 0; i < 3 && err != nil; i++ {
		err = resilient.Do(ctx, g, resilient.Idempotent("x"), c.apply) // want `stands in a retry loop`
	}
	for i := 0; i < 3 || err != nil; i++ {
		err = resilient.Do(ctx, g, resilient.Idempotent("x"), c.apply)
	}
	direct := resilient.Passthrough()
	for err != nil { // its own, for this guard makes one attempt
		err = resilient.Do(ctx, direct, resilient.Idempotent("x"), c.apply)
	}
}
