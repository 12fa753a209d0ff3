package resilient

import (
	"context"
	"reflect"
	"unsafe"
)

// Execute makes a guarded call: it runs fn under the guard's policy and returns
// what the last attempt returned.
//
// fn is called with a context that ends at the earliest of the caller's deadline,
// the total timeout and the attempt timeout, and when the call returns. It runs
// on the caller's goroutine, so a function that ignores its context is not cut
// off; [Async] is.
//
// It is called again after a failure if the op may be repeated, attempts and time
// are left, the circuit is closed, and no guarded call above is retrying. An error
// that the caller's cancellation explains, another guard's rejection or exhausted
// call, and what [Neutral], [Permanent] or [Options].Classify single out are not
// retried. What fn panics with goes on as that panic, and counts as a failure.
//
// The error is nil, or fn's own, unchanged, or one of:
//   - a *[RejectedError], when the circuit refused the first attempt;
//   - an *[ExhaustedError], when a limit ended the call: attempts (of more than
//     one, or by an [AttemptLimit]), time, the circuit opening in the middle, a
//     [RetryAfter] that asks for too long, the retry budget, a [Switch];
//   - the cause of a context that was over before the first attempt;
//   - [ErrNilGuard], [ErrNilContext], [ErrNilFunction], [ErrInvalidOp],
//     [ErrAsyncFunction]: nothing ran.
//
// With an error, the value is the one that the last attempt returned with it.
func Execute[T any](ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) (T, error)) (T, error) {
	var value T
	if fn == nil {
		return value, ErrNilFunction
	}
	if isAsync[T]() {
		return value, ErrAsyncFunction
	}
	err := g.run(ctx, &op, func(ctx context.Context) (err error) {
		value, err = fn(ctx)
		if g.options.Replay != nil && err == nil {
			g.replay(ctx, &op, func(ctx context.Context) error {
				_, err := fn(ctx)
				return err
			})
		}
		return err
	})
	return value, err
}

// Do is [Execute] for a function that has no result but its error.
func Do(ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) error) error {
	if fn == nil {
		return ErrNilFunction
	}
	return g.run(ctx, &op, func(ctx context.Context) error {
		err := fn(ctx)
		if g.options.Replay != nil && err == nil {
			g.replay(ctx, &op, fn)
		}
		return err
	})
}

// pending is what a result that is not there yet has in common: *Future[T] for
// every T.
type pending interface{ isPending() }

// isAsync reports whether a function with the result type T returns before its
// work is done.
//
// It is asked in each call, so it looks at the size first, which the compiler knows:
// channels and pointers are one word.
func isAsync[T any]() bool {
	var none T
	if unsafe.Sizeof(none) != unsafe.Sizeof(uintptr(0)) {
		return false
	}
	switch reflect.ValueOf(any(none)).Kind() {
	case reflect.Chan:
		return true
	case reflect.Pointer:
		_, yes := any(none).(pending)
		return yes
	default:
		return false
	}
}
