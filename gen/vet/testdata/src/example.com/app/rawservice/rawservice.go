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

// server keeps both, made together.
type server struct {
	raw     plans.Service
	plans   plans.Service
	another plans.Service
}

func newServer(client plans.Service, guards resilient.Guards) *server {
	return &server{raw: client, plans: plans.NewResilientService(client, guards), another: client}
}

func (s *server) faults(ctx context.Context) {
	_, _ = s.raw.Get(ctx, "1")             // want `s.raw.Get goes past the guard: the wrapper plans is in scope`
	_ = s.another.Apply(ctx, plans.Plan{}) // want `s.another.Apply goes past the guard`
}

func (s *server) clean(ctx context.Context, g *resilient.Guard) {
	_ = s.raw.Ping(ctx)
	_ = s.raw.Close()
	_, _ = s.plans.Get(ctx, "1")
	_ = resilient.Do(ctx, g, resilient.NonIdempotent("apply"), func(ctx context.Context) error {
		return s.raw.Apply(ctx, plans.Plan{})
	})
}

// lazy keeps both, one made of the other.
type lazy struct{ next, guarded plans.Service }

func (l *lazy) start(guards resilient.Guards) { l.guarded = plans.NewResilientService(l.next, guards) }

func (l *lazy) faults(ctx context.Context) {
	_, _ = l.next.Get(ctx, "1") // want `l.next.Get goes past the guard: the wrapper guarded is in scope`
}

// unguarded has a field of the same kind, and no wrapper.
type unguarded struct{ next plans.Service }

func (u *unguarded) clean(ctx context.Context, l *lazy) {
	_, _ = u.next.Get(ctx, "1")
	_, _ = l.guarded.Get(ctx, "1")
}

// either keeps what it is given, wrapped or not.
type either struct{ next, used plans.Service }

func newEither(client plans.Service, guards resilient.Guards) *either {
	e := &either{next: client}
	e.used = e.next
	if guards != nil {
		e.used = plans.NewResilientService(e.next, guards)
		e.next = e.used
	}
	return e
}

func (e *either) clean(ctx context.Context) { _, _ = e.next.Get(ctx, "1") }
