package resilient

import "context"

// Check returns fn with a look at its results: what check returns for a result that fn
// returned without an error is the attempt's error, before anything is counted. So a
// bad result is a failure like any other, for the circuit too, and retried where the op
// may be; [Permanent], [Neutral] and the other marks hold for it. It fits [Execute],
// [Async] and [Wrap0]; [Check1] is for [Wrap].
//
// The result is handed on beside the error, as that of every failed attempt. No text
// of ours has it; what check's own error says of it is for check to decide. If fn or
// check is nil, so is the function, which calls refuse with [ErrNilFunction].
func Check[T any](fn func(ctx context.Context) (T, error), check func(result T) error) func(ctx context.Context) (T, error) {
	if fn == nil || check == nil {
		return nil
	}
	return func(ctx context.Context) (T, error) {
		result, err := fn(ctx)
		if err == nil {
			err = check(result)
		}
		return result, err
	}
}

// Check1 is [Check] for a function that takes an argument, as [Wrap] takes it.
func Check1[A, T any](fn func(ctx context.Context, arg A) (T, error), check func(result T) error) func(ctx context.Context, arg A) (T, error) {
	if fn == nil || check == nil {
		return nil
	}
	return func(ctx context.Context, arg A) (T, error) {
		result, err := fn(ctx, arg)
		if err == nil {
			err = check(result)
		}
		return result, err
	}
}
