package lostcontext

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

type key struct{}

// request is not the one of net/http, whose context it is known to be.
type request struct{}

func (*request) Context() context.Context { return nil }

type client struct{ base context.Context }

func (c *client) get(ctx context.Context, id string) (string, error) { return id, nil }
func (c *client) put(ctx context.Context) error                      { return nil }
func (c *client) begin(ctx context.Context)                          {}
func merge(a, b context.Context) error                               { return nil }
func requestID(ctx context.Context) string                           { return "" }

func (c *client) faults(ctx context.Context, g *resilient.Guard, op resilient.Op, r *request) {
	_, _ = resilient.Execute(ctx, g, op, func(context.Context) (string, error) {
		return c.get(ctx, "1") // want `the context of the surroundings is used instead of the context that the guarded function is given: the guard's time limits do not reach this call`
	})
	_ = resilient.Do(ctx, g, op, func(_ context.Context) error {
		_, _ = c.get(ctx, "2") // want `the context of the surroundings is used`
		return c.put(ctx)
	})
	_ = resilient.Do(ctx, g, op, func(inner context.Context) error {
		return c.put(ctx) // want `the context of the surroundings is used`
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		return c.put(context.Background()) // want `context.Background\(\) is used instead of the context`
	})
	_ = resilient.Do(ctx, g, op, func(context.Context) error {
		return c.put(context.TODO()) // want `context.TODO\(\) is used instead of the context`
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(context.Background(), time.Second) // want `context.Background\(\) is used`
		defer cancel()
		return c.put(limited)
	})
	_ = resilient.Do(ctx, g, op, func(attempt context.Context) error {
		return resilient.Do(ctx, g, op, c.put) // want `the guarded call inside does not know that it is one, and retries inside retries`
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		return resilient.Do(context.Background(), g, op, c.put) // want `context.Background\(\) is used instead of the context that the guarded function is given: the guarded call inside does not know that it is one, and retries inside retries`
	})
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = resilient.Do(limited, g, op, func(ctx context.Context) error {
		return c.put(limited) // want `the context of the surroundings is used`
	})
	f := resilient.Async(ctx, g, op, func(own context.Context) (string, error) {
		if own.Err() == nil {
			return c.get(ctx, "3") // want `the context of the surroundings is used`
		}
		return "", nil
	})
	defer f.Cancel()
	group := r.Context()
	_ = resilient.Do(group, g, op, func(context.Context) error {
		return c.put(group) // want `the context of the surroundings is used`
	})
	_ = resilient.WrapErr0(g, op, c.named)
	_ = resilient.WrapErr0(g, op, generic[int])
}

func (c *client) named(ctx context.Context) error {
	return c.put(context.Background()) // want `context.Background\(\) is used`
}

func generic[T any](ctx context.Context) error {
	return new(client).put(context.Background()) // want `context.Background\(\) is used`
}

// notGuarded is nobody's guarded function.
func (c *client) notGuarded(ctx context.Context) error { return c.put(context.Background()) }

func (c *client) clean(ctx context.Context, g *resilient.Guard, op resilient.Op, queue chan context.Context, r *request) {
	detached := context.WithoutCancel(ctx)
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error { return c.put(ctx) })
	_ = resilient.Do(ctx, g, op, func(attempt context.Context) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		_ = requestID(ctx)
		c.begin(ctx)
		if err := merge(ctx, attempt); err != nil {
			return err
		}
		return c.put(detached)
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		defer func() { _ = c.put(context.Background()) }()
		defer c.put(context.Background())
		go c.put(context.Background())
		if err := c.put(ctx); err != nil {
			_ = c.put(context.Background()) // roll back, though the context may be over
			return err
		}
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		own, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		defer c.put(own)
		return c.put(limited)
	})
	_ = resilient.Do(ctx, g, op, func(context.Context) error { return c.put(c.base) })
	moved := r.Context()
	_ = resilient.Do(moved, g, op, func(own context.Context) error {
		moved = context.WithValue(own, key{}, 1)
		return c.put(moved)
	})
	other := r.Context()
	_ = resilient.Do(ctx, g, op, func(own context.Context) error { return c.put(other) })
	for next := range queue { // of whoever queued it
		_ = resilient.Do(ctx, g, op, func(context.Context) error { return c.put(next) })
	}
	_ = resilient.Do(ctx, g, op, func(context.Context) error {
		r := &request{}
		return c.put(r.Context())
	})
	_ = c.put(context.Background())
}

type stuck struct{}

func (*stuck) Error() string { return "" }

// handling needs a context that has not ended where the error may be that it has.
func (c *client) handling(ctx context.Context, g *resilient.Guard, op resilient.Op) {
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		err := c.put(ctx)
		if errors.Is(err, context.Canceled) {
			_ = c.put(context.Background())
		}
		if old := ctx.Err(); old != nil && errors.Is(err, old) || err == context.Canceled {
			_ = c.put(context.Background())
		}
		var s *stuck
		if errors.As(err, &s) {
			_ = c.put(context.Background())
		}
		if s, ok := errors.AsType[*stuck](err); ok && s != nil {
			_ = c.put(context.Background())
		}
		over := errors.Is(err, context.Canceled)
		if over {
			_ = c.put(context.Background())
		}
		switch {
		case err != nil, errors.Is(err, context.Canceled):
			_ = c.put(context.Background())
		}
		if err == nil {
			_ = c.put(ctx)
		} else {
			_ = c.put(context.Background())
		}
		if err == nil {
			return nil
		}
		return c.put(context.Background())
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		err := c.put(ctx)
		if errors.Is(err, context.Canceled) {
			return err
		} else if err == nil {
			_ = c.put(context.Background()) // want `context.Background\(\) is used`
		}
		if !errors.Is(err, context.Canceled) {
			_ = c.put(context.Background()) // want `context.Background\(\) is used`
		}
		switch {
		case err == nil:
			_ = c.put(context.Background()) // want `context.Background\(\) is used`
		}
		if err := c.put(context.Background()); err != nil { // want `context.Background\(\) is used`
			return err
		}
		if err == nil {
			return c.put(context.Background()) // want `context.Background\(\) is used`
		}
		return err
	})
}

func requests(ctx context.Context, g *resilient.Guard, op resilient.Op, transport http.RoundTripper, with func(context.Context, *http.Request) error) {
	_, _ = resilient.Execute(ctx, g, op, func(ctx context.Context) (int, error) {
		req, err := http.NewRequest(http.MethodGet, "http://localhost", nil) // want `http.NewRequest makes a request without the context that the guarded function is given: the guard's time limits do not reach it`
		if err != nil {
			return 0, err
		}
		req.Header.Set("Accept", "text/plain")
		response, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	})
	_ = resilient.Do(ctx, g, op, func(context.Context) error {
		req, _ := http.NewRequest(http.MethodGet, "http://localhost", nil) // want `http.NewRequest makes a request without`
		_, err := transport.RoundTrip(req)
		return err
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		req, _ := http.NewRequest(http.MethodGet, "http://localhost", nil)
		req = req.WithContext(ctx)
		_, err := transport.RoundTrip(req)
		return err
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		req, _ := http.NewRequest(http.MethodGet, "http://localhost", nil)
		other, _ := http.NewRequest(http.MethodGet, "http://localhost", nil)
		_ = req.Write(nil)
		_, err := transport.RoundTrip(req.Clone(ctx))
		return errors.Join(err, with(ctx, other))
	})
	_ = resilient.Do(ctx, g, op, func(ctx context.Context) error {
		req, err := http.NewRequest(http.MethodGet, "http://localhost", nil) // whoever takes it
		later(req)
		if err := with(ctx, nil); err != nil {
			undo, _ := http.NewRequest(http.MethodDelete, "http://localhost", nil)
			_, err = transport.RoundTrip(undo)
			return err
		}
		return err
	})
	req, _ := http.NewRequest(http.MethodGet, "http://localhost", nil)
	_, _ = transport.RoundTrip(req)
}

func later(*http.Request) {}

func watched(ctx context.Context, g *resilient.Guard, op resilient.Op, c *client) {
	_ = resilient.Do(ctx, g, op, func(own context.Context) error {
		longer, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer context.AfterFunc(own, cancel)()
		return c.put(longer)
	})
	_ = resilient.Do(ctx, g, op, func(own context.Context) error {
		longer, cancel := context.WithCancel(ctx)
		go func() {
			<-own.Done()
			cancel()
		}()
		return c.put(longer)
	})
	_ = resilient.Do(ctx, resilient.Passthrough(), op, func(context.Context) error { return c.put(ctx) })
}
