package retriedwrite

import (
	"context"
	"fmt"

	"example.com/app/helpers"
	"example.com/app/plans"
	"github.com/seed42274fcc/stoic/resilient"
)

type server struct {
	guard  *resilient.Guard
	plans  plans.Service
	client *helpers.Client
}

func (s *server) faults(ctx context.Context, p plans.Plan) { // want faults:`writes through Service.Apply`
	_ = resilient.Do(ctx, s.guard, resilient.Idempotent("update"), func(ctx context.Context) error {
		if _, err := s.plans.Get(ctx, p.ID); err != nil {
			return err
		}
		return s.plans.Apply(ctx, p) // want `Service.Apply is not annotated idempotent, and is called in a function that is retried`
	})
	_ = resilient.Do(ctx, s.guard, resilient.Idempotent("update"), func(ctx context.Context) error {
		return helpers.Indirect(ctx, s.plans, p) // want `Service.Apply is not annotated`
	})
	_ = resilient.Do(ctx, s.guard, resilient.Idempotent("guarded"), func(ctx context.Context) error {
		return resilient.Do(ctx, s.guard, resilient.NonIdempotent("apply"), func(ctx context.Context) error { // want `Service.Apply is not annotated`
			return s.plans.Apply(ctx, p)
		})
	})
	_ = resilient.Wrap(s.guard, resilient.Idempotent("save"), s.client.Save)         // want `Service.Draft is not annotated`
	_ = resilient.WrapErr(s.guard, resilient.Idempotent("own"), s.own)               // want `Service.Apply is not annotated`
	_ = resilient.WrapErr(s.guard, resilient.Idempotent("own"), generic[plans.Plan]) // want `Service.Apply is not annotated`
}

func (s *server) own(ctx context.Context, p plans.Plan) error { // want own:`writes through Service.Apply`
	err := s.plans.Apply(ctx, p)
	return err
}

var global plans.Service

func generic[T any](ctx context.Context, _ T) error { // want generic:`writes through Service.Apply`
	return global.Apply(ctx, plans.Plan{})
}

func (s *server) clean(ctx context.Context, p plans.Plan) { // want clean:`writes through Service.Apply`
	_ = resilient.Do(ctx, s.guard, resilient.NonIdempotent("update"), func(ctx context.Context) error {
		if _, err := s.plans.Get(ctx, p.ID); err != nil {
			return err
		}
		return s.plans.Apply(ctx, p)
	})
	_ = resilient.Do(ctx, s.guard, resilient.Idempotent("update"), func(ctx context.Context) error {
		defer func() { _ = s.plans.Ping(ctx) }()
		if err := helpers.Maybe(ctx, s.plans, p, true); err != nil {
			return err
		}
		if err := helpers.Branch(ctx, s.plans, p); err != nil {
			return err
		}
		_ = helpers.Short(ctx, s.plans, true)
		_ = helpers.Later(s.plans)
		return s.plans.Close()
	})
	_ = resilient.Wrap(s.guard, resilient.Idempotent("load"), s.client.Load)
	_ = resilient.Do(ctx, s.guard, resilient.Idempotent("schedule"), func(ctx context.Context) error {
		later := func() error { return s.plans.Apply(context.WithoutCancel(ctx), p) }
		s.schedule(later)
		return nil
	})
}

func (s *server) schedule(f func() error) {}

func shapes(ctx context.Context, g *resilient.Guard, s plans.Shapes) { // want shapes:`writes through Shapes.Count`
	_ = resilient.Do(ctx, g, resilient.Idempotent("count"), func(ctx context.Context) error {
		_ = ctx.Err()
		_ = s.Count() // want `Shapes.Count is not annotated idempotent, and is called in a function that is retried: use NonIdempotent, annotate the method, or make it`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("roundtrip"), func(ctx context.Context) error {
		_ = ctx.Err()
		_, _ = s.RoundTrip(nil) // want `Shapes.RoundTrip is not annotated idempotent, and is called in a function that is retried: use NonIdempotent, or make it a guarded call of its own outside`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("try"), func(ctx context.Context) error {
		_ = ctx.Err()
		_, _ = s.Try(ctx) // want `Shapes.Try is not annotated idempotent, and is called`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("late"), func(ctx context.Context) error {
		_ = ctx.Err()
		_ = s.Late("x", ctx) // want `Shapes.Late is not annotated idempotent, and is called`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("set"), func(ctx context.Context) error {
		_ = ctx.Err()
		_ = s.Set("x") // want `Shapes.Set is not annotated idempotent, and is called`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("second"), func(ctx context.Context) error {
		_ = ctx.Err()
		_, _ = s.Second() // want `Shapes.Second is not annotated idempotent, and is called`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("shutdown"), func(ctx context.Context) error {
		_ = ctx.Err()
		_ = s.Shutdown() // want `Shapes.Shutdown is not annotated idempotent, and is called`
		return nil
	})
	_ = resilient.Do(ctx, g, resilient.Idempotent("clean"), func(ctx context.Context) error {
		_ = s.Size()
		_ = s.Under()
		_, _ = s.Either()
		_, _ = s.Items()
		_, _ = s.Later()
		_ = s.Read()
		return s.Close()
	})
}

// once makes the write once: whatever comes of it is not repeated.
func once(ctx context.Context, g *resilient.Guard, s plans.Service, p plans.Plan) { // want once:`writes through Service.Apply`
	idempotent := resilient.Idempotent("update")
	apply := s.Apply
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if _, err := s.Get(ctx, p.ID); err != nil {
			return err
		}
		return apply(ctx, p) // want `Service.Apply is not annotated idempotent, and is called`
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if _, err := s.Get(ctx, p.ID); err != nil {
			return err
		}
		return resilient.Permanent(s.Apply(ctx, p))
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if err := s.Apply(ctx, p); err != nil {
			return fmt.Errorf("apply: %w", resilient.Permanent(err))
		}
		return nil
	})
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error { return permanently(ctx, s, p) })
	_ = resilient.Do(ctx, g, idempotent, func(ctx context.Context) error {
		if resilient.Attempt(ctx) == 1 {
			return s.Apply(ctx, p)
		}
		return nil
	})
}

func permanently(ctx context.Context, s plans.Service, p plans.Plan) error {
	return resilient.Permanent(s.Apply(ctx, p))
}
