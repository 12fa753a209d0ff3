package resilient_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestP57P58WhatIsNoCall(t *testing.T) {
	var noContext context.Context
	tests := []struct {
		name  string
		ctx   context.Context
		guard func(g *resilient.Guard) *resilient.Guard
		op    resilient.Op
		noFn  bool
		want  error
	}{
		{"P57 nil context", noContext, nil, get, false, resilient.ErrNilContext},
		{"nil guard", context.Background(), func(*resilient.Guard) *resilient.Guard { return nil }, get, false, resilient.ErrNilGuard},
		{"zero guard", context.Background(), func(*resilient.Guard) *resilient.Guard { return new(resilient.Guard) }, get, false, resilient.ErrNilGuard},
		{"P58 nil function", context.Background(), nil, get, true, resilient.ErrNilFunction},
		{"A55 negative total timeout", context.Background(), nil, get.WithTotalTimeout(-1), false, resilient.ErrInvalidOp},
		{"A55 negative attempt timeout", context.Background(), nil, get.WithAttemptTimeout(-sec), false, resilient.ErrInvalidOp},
		{"A55 negative, then put right", context.Background(), nil, get.WithAttemptTimeout(-sec).WithAttemptTimeout(sec), false, resilient.ErrInvalidOp},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range entries() {
				seen := &recorder{}
				g := newGuard(t, steady(threshold(1)), &resilient.Options{Observers: []resilient.Observer{seen}})
				used, before := g, g.Circuit().Snapshot()
				if tt.guard != nil {
					used = tt.guard(g)
				}
				fn, calls := fails(always)
				if tt.noFn {
					// Through each entry itself: in.call puts a closure round the function.
					for name, err := range nilFunctions(g) {
						assert.Equal(t, tt.want, err, name)
					}
				} else {
					value, err := in.call(tt.ctx, used, tt.op, fn)
					assert.ErrorIs(t, err, tt.want, in.name)
					assert.Zero(t, value)
				}
				assert.Zero(t, calls.Load(), in.name)
				assert.Empty(t, seen.all(), in.name)
				assert.Equal(t, before, g.Circuit().Snapshot(), in.name)
			}
		})
	}
}

func nilFunctions(g *resilient.Guard) map[string]error {
	ctx := context.Background()
	errs := map[string]error{}
	_, errs["Execute"] = resilient.Execute[int](ctx, g, get, nil)
	_, errs["Async"] = resilient.Async[int](ctx, g, get, nil).Await(ctx)
	_, errs["Wrap"] = resilient.Wrap[int, int](g, get, nil)(ctx, 1)
	_, errs["Wrap0"] = resilient.Wrap0[int](g, get, nil)(ctx)
	errs["Do"] = resilient.Do(ctx, g, get, nil)
	errs["WrapErr"] = resilient.WrapErr[int](g, get, nil)(ctx, 1)
	errs["WrapErr0"] = resilient.WrapErr0(g, get, nil)(ctx)
	return errs
}

type (
	ints   chan int
	values <-chan int
)

// R5: a result that is not there yet would be taken for the end of the work.
func TestR5AsynchronousFunctionsAreRefused(t *testing.T) {
	g := newGuard(t, steady(threshold(1)), nil)
	ctx := context.Background()
	assert.ErrorContains(t, resilient.ErrAsyncFunction, "use Async", "it names the right entry")
	for _, guard := range []*resilient.Guard{g, resilient.Passthrough()} {
		refuses(ctx, t, guard, "*Future[int]", new(resilient.Future[int]))
		refuses(ctx, t, guard, "*Future[struct]", new(resilient.Future[struct{}]))
		refuses(ctx, t, guard, "chan", make(chan int))
		refuses(ctx, t, guard, "<-chan", (<-chan int)(make(chan int)))
		refuses(ctx, t, guard, "chan<-", (chan<- int)(make(chan int)))
		refuses(ctx, t, guard, "a named channel", make(ints))
		refuses(ctx, t, guard, "a named receive-only channel", values(make(chan int)))
	}
	before := g.Circuit().Snapshot()
	assert.Equal(t, breaker.Closed, before.State)
	assert.Zero(t, before.Failures)

	accepts(ctx, t, g, "*int", new(int))
	accepts(ctx, t, g, "any", any(nil))
	accepts(ctx, t, g, "error", error(nil))
	accepts(ctx, t, g, "a function", func() {})
	accepts(ctx, t, g, "a slice of channels", []chan int{})
	accepts(ctx, t, g, "a nil pointer to a struct", (*entry)(nil))
}

func throughEach[T any](ctx context.Context, g *resilient.Guard, result T, calls *int) map[string]error {
	errs := map[string]error{}
	fn := func(context.Context) (T, error) {
		*calls++
		return result, nil
	}
	_, errs["Execute"] = resilient.Execute(ctx, g, get, fn)
	_, errs["Async"] = resilient.Async(ctx, g, get, fn).Await(ctx)
	_, errs["Wrap0"] = resilient.Wrap0(g, get, fn)(ctx)
	_, errs["Wrap"] = resilient.Wrap(g, get, func(ctx context.Context, _ string) (T, error) { return fn(ctx) })(ctx, "")
	return errs
}

func refuses[T any](ctx context.Context, t *testing.T, g *resilient.Guard, name string, result T) {
	t.Helper()
	calls := 0
	for in, err := range throughEach(ctx, g, result, &calls) {
		assert.Equal(t, resilient.ErrAsyncFunction, err, "%s of %s", in, name)
	}
	assert.Zero(t, calls, "%s: before anything runs", name)
}

func accepts[T any](ctx context.Context, t *testing.T, g *resilient.Guard, name string, result T) {
	t.Helper()
	calls := 0
	for in, err := range throughEach(ctx, g, result, &calls) {
		assert.NoError(t, err, "%s of %s", in, name)
	}
	assert.Equal(t, 4, calls, name)
}
