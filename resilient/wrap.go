package resilient

import "context"

// Wrap returns fn with the guard round it, as [Execute] would run it, and with the
// same signature. It fits functions, method values and closures alike; other
// shapes go through a closure that fits.
func Wrap[A, T any](g *Guard, op Op, fn func(ctx context.Context, arg A) (T, error)) func(ctx context.Context, arg A) (T, error) {
	if fn == nil {
		return func(context.Context, A) (none T, err error) { return none, ErrNilFunction }
	}
	return func(ctx context.Context, arg A) (T, error) {
		return Execute(ctx, g, op, func(ctx context.Context) (T, error) { return fn(ctx, arg) })
	}
}

// Wrap0 is [Wrap] for a function that takes nothing but its context.
func Wrap0[T any](g *Guard, op Op, fn func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	return func(ctx context.Context) (T, error) { return Execute(ctx, g, op, fn) }
}

// WrapErr is [Wrap] for a function that has no result but its error.
func WrapErr[A any](g *Guard, op Op, fn func(ctx context.Context, arg A) error) func(ctx context.Context, arg A) error {
	if fn == nil {
		return func(context.Context, A) error { return ErrNilFunction }
	}
	return func(ctx context.Context, arg A) error {
		return Do(ctx, g, op, func(ctx context.Context) error { return fn(ctx, arg) })
	}
}

// WrapErr0 is [Wrap] for a function that takes nothing but its context and has no
// result but its error.
func WrapErr0(g *Guard, op Op, fn func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return Do(ctx, g, op, fn) }
}
