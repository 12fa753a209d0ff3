package resilient

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"
)

// ErrNilFuture says that the future is nil.
var ErrNilFuture = errors.New("resilient: the future is nil; Async makes one")

// Future is a guarded call that runs in the background. Make it with [Async]. It
// is safe for concurrent use; any number of goroutines may wait for it. The zero
// value never ends.
type Future[T any] struct {
	done   chan struct{} // closed when value and err are there
	quit   chan struct{} // closed by Cancel
	once   sync.Once
	cancel context.CancelFunc
	value  T
	err    error
}

func (f *Future[T]) isPending() {}

// Async starts a guarded call in the background, with what [Execute] does, and
// returns at once. There is this difference: a function that ignores its context
// is left behind when the call's time is over, or after [Future.Cancel]. Its
// attempt is settled then, and what it returns later is dropped; its goroutine
// ends when it does.
//
// What the function panics with comes back as a *[PanicError]. The call goes on if
// nobody waits for it; defer [Future.Cancel] where it should not.
func Async[T any](ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) (T, error)) *Future[T] {
	f := &Future[T]{done: make(chan struct{}), quit: make(chan struct{}), cancel: func() {}}
	if f.err = refusal[T](ctx, g, op, fn == nil); f.err != nil {
		close(f.done)
		return f
	}
	ctx, f.cancel = context.WithCancel(ctx)
	go f.run(ctx, g, op, fn)
	return f
}

// refusal is what is wrong with a call, before anything of it runs.
func refusal[T any](ctx context.Context, g *Guard, op Op, noFunction bool) error {
	switch {
	case noFunction:
		return ErrNilFunction
	case isAsync[T]():
		return ErrAsyncFunction
	default:
		return g.check(ctx, &op)
	}
}

// run makes the call and resolves the future, whatever happens on the way.
func (f *Future[T]) run(ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) (T, error)) {
	contained(func() error {
		return g.run(ctx, &op, func(ctx context.Context) (err error) {
			f.value, err = f.attempt(ctx, fn)
			if g.options.Replay != nil && err == nil {
				g.replay(ctx, &op, func(ctx context.Context) error {
					_, err := f.attempt(ctx, fn)
					return err
				})
			}
			return err
		})
	}, func(err error) {
		f.err = err
		close(f.done)
		f.cancel()
	})
}

// attempt runs fn on a goroutine of its own, so that it can be left behind.
func (f *Future[T]) attempt(ctx context.Context, fn func(ctx context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1) // whoever is left behind must not block
	go func() {
		var r result
		contained(func() (err error) {
			// It may have taken this goroutine a while to begin.
			if err = ctx.Err(); err == nil {
				r.value, err = fn(ctx)
			}
			return err
		}, func(err error) {
			r.err = err
			results <- r
		})
	}()
	timeUp, stop := timeUp(ctx)
	defer stop()
	// Not ctx.Err(): its own timer may have yet to fire in this instant.
	var left error
	select {
	case r := <-results:
		return r.value, r.err
	case <-f.quit:
		left = context.Canceled
	case <-timeUp:
		left = context.DeadlineExceeded
	}
	select {
	case r := <-results: // it was there in the same instant
		return r.value, r.err
	default:
		var none T
		return none, left
	}
}

// timeUp returns a channel that is ready when the call that ctx was made for must
// be over, which a limit of one attempt does not mean.
func timeUp(ctx context.Context) (up <-chan time.Time, stop func()) {
	c, ok := ctx.(*callContext)
	if !ok {
		return nil, func() {} // a guard that protects nothing
	}
	_, _, end := c.limits()
	timer := time.NewTimer(end - c.guard().circuit.Now())
	return timer.C, func() { timer.Stop() }
}

// contained calls fn and hands its error to done; of a panic or a runtime.Goexit,
// a *PanicError.
func contained(fn func() error, done func(error)) {
	var err error
	returned := false
	defer func() {
		if !returned {
			err = crash(recover())
		}
		done(err)
	}()
	err = fn()
	returned = true
}

func crash(value any) *PanicError {
	if value == nil {
		return &PanicError{Goexit: true} // panic(nil) has a value since Go 1.21
	}
	return &PanicError{Value: value, Stack: debug.Stack()}
}

// Done is closed when the call has ended. A nil future's is nil.
func (f *Future[T]) Done() <-chan struct{} {
	if f == nil {
		return nil
	}
	return f.done
}

// Await waits until the call has ended and returns what it ended with; any number
// of times the same. When ctx ends first it returns the cause of that, and the
// call goes on.
func (f *Future[T]) Await(ctx context.Context) (T, error) {
	var none T
	switch {
	case f == nil:
		return none, ErrNilFuture
	case ctx == nil:
		return none, ErrNilContext
	}
	select {
	case <-f.done: // what is there is not lost to a context that is over too
		return f.value, f.err
	default:
	}
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// Cancel ends the call: it cancels the function's context, waits for nothing, and
// the call ends with what that makes of it, context.Canceled as a rule. A call
// that has ended stays as it is. Cancel may be called more than once, and on nil.
func (f *Future[T]) Cancel() {
	if f == nil || f.quit == nil {
		return
	}
	f.once.Do(func() {
		f.cancel()
		close(f.quit)
	})
}
