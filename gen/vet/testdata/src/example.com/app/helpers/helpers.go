// Package helpers writes through services on behalf of others.
package helpers

import (
	"context"

	"example.com/app/plans"
)

func ApplyTwice(ctx context.Context, s plans.Service, p plans.Plan) error { // want ApplyTwice:`writes through Service.Apply`
	if err := s.Apply(ctx, p); err != nil {
		return err
	}
	return s.Apply(ctx, p)
}

func Indirect(ctx context.Context, s plans.Service, p plans.Plan) error { // want Indirect:`writes through Service.Apply`
	if p.ID == "" {
		p.ID = "new"
	}
	return ApplyTwice(ctx, s, p)
}

func Maybe(ctx context.Context, s plans.Service, p plans.Plan, dry bool) error {
	if dry {
		return nil
	}
	return s.Apply(ctx, p)
}

func Branch(ctx context.Context, s plans.Service, p plans.Plan) error {
	if p.ID != "" {
		return s.Apply(ctx, p)
	}
	return nil
}

func Later(s plans.Service) func(context.Context) error {
	return func(ctx context.Context) error { return s.Apply(ctx, plans.Plan{}) }
}

func Short(ctx context.Context, s plans.Service, dry bool) bool {
	return dry || s.Apply(ctx, plans.Plan{}) == nil
}

type Client struct{ Service plans.Service }

func (c *Client) Save(ctx context.Context, id string) (plans.Plan, error) { // want Save:`writes through Service.Draft`
	return c.Service.Draft(ctx, id)
}

func (c *Client) Load(ctx context.Context, id string) (plans.Plan, error) {
	return c.Service.Get(ctx, id)
}
