package rawservice

import (
	"context"

	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

type client struct{ plans.Service }

func newClient() plans.Service { return client{} }

func faults(ctx context.Context, raw plans.Service, guards resilient.Guards) error {
	wrapper := plans.NewResilientService(raw, guards)
	if _, err := raw.Get(ctx, "1"); err != nil { // want `raw.Get goes past the guard: the wrapper wrapper is in scope`
		return err
	}
	local := newClient()
	var guarded = plans.NewResilientService(local, guards)
	defer func() { _ = local.Apply(ctx, plans.Plan{}) }() // want `local.Apply goes past the guard: the wrapper guarded is in scope`
	_ = guarded.Apply(ctx, plans.Plan{})
	return wrapper.Apply(ctx, plans.Plan{})
}

func clean(ctx context.Context, raw, other plans.Service, guards resilient.Guards) error {
	if _, err := raw.Get(ctx, "warm up"); err != nil {
		return err
	}
	if ctx != nil {
		inner := plans.NewResilientService(raw, guards)
		_ = inner.Close()
	}
	_ = raw.Apply(ctx, plans.Plan{}) // inner is not in scope
	wrapper := plans.NewResilientService(raw, guards)
	defer raw.Close()
	_ = raw.Ping(ctx)
	_ = raw.Name()
	_, _ = other.Get(ctx, "1")
	_ = resilient.Do(ctx, guards.Guard("x"), resilient.NonIdempotent("x"), func(ctx context.Context) error {
		return raw.Apply(ctx, plans.Plan{})
	})
	other = plans.NewResilientService(other, guards)
	_, _ = other.Get(ctx, "1")

	changing := newClient()
	wrapped := plans.NewResilientService(changing, guards)
	changing = wrapped
	_, _ = changing.Get(ctx, "1")
	return wrapper.Apply(ctx, plans.Plan{})
}
