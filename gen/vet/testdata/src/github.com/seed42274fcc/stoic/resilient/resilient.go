// Package resilient is the library as far as the analyzers know it: names and types, without what they stand for, so that
// the tests need not check the library each time. A test compares the two.
package resilient

import (
	"context"
	"time"
)

type Op struct{ _ int }

func Idempotent(name string) Op    { return Op{} }
func NonIdempotent(name string) Op { return Op{} }

func (o Op) WithTotalTimeout(d time.Duration) Op   { return o }
func (o Op) WithAttemptTimeout(d time.Duration) Op { return o }

type Guard struct{ _ int }

type Guards interface{ Guard(name string) *Guard }

type Future[T any] struct{ _ int }

func (f *Future[T]) Done() <-chan struct{}                { return nil }
func (f *Future[T]) Await(ctx context.Context) (T, error) { return *new(T), nil }
func (f *Future[T]) Cancel()                              {}

type RejectedError struct{ _ int }

func (e *RejectedError) Error() string             { return "" }
func (e *RejectedError) RetryAfter() time.Duration { return 0 }

func Execute[T any](ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) (T, error)) (T, error) {
	return fn(ctx)
}

type Held struct{ context.Context }

func Hold(ctx context.Context) *Held { return &Held{ctx} }
func (h *Held) Keep() bool           { return true }
func (h *Held) Release()             {}

func Do(ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) error) error {
	return fn(ctx)
}

func Async[T any](ctx context.Context, g *Guard, op Op, fn func(ctx context.Context) (T, error)) *Future[T] {
	return nil
}

func Wrap[A, T any](g *Guard, op Op, fn func(ctx context.Context, arg A) (T, error)) func(ctx context.Context, arg A) (T, error) {
	return fn
}

func Wrap0[T any](g *Guard, op Op, fn func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	return fn
}

func WrapErr[A any](g *Guard, op Op, fn func(ctx context.Context, arg A) error) func(ctx context.Context, arg A) error {
	return fn
}

func WrapErr0(g *Guard, op Op, fn func(ctx context.Context) error) func(ctx context.Context) error {
	return fn
}

func MarkIdempotent(methods ...any) struct{} { return struct{}{} }

func Attempt(ctx context.Context) int { return 0 }

func Passthrough() *Guard { return nil }

func Permanent(err error) error { return err }
