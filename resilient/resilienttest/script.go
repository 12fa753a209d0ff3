package resilienttest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// Script is a function made to order. Its method Run is what a guard is given:
//
//	get := resilienttest.Script[Order]{Steps: []resilienttest.Step[Order]{
//		{Err: errDown}, {Err: errDown}, {Value: order},
//	}}
//	got, err := resilient.Execute(ctx, orders, resilient.Idempotent("get"), get.Run)
//
// Each run takes the next step, in the order in which the runs begin; further ones
// take the last step again. How many there were is in [Script.Runs].
//
// The zero value has no steps, and succeeds with T's zero value. A Script is safe
// for concurrent use; it must not be copied, nor its Steps changed, after the
// first run.
type Script[T any] struct {
	// Steps are what the runs do, one after the other.
	Steps []Step[T]

	mu   sync.Mutex
	runs []Run
}

// Step is what one run of a [Script] does: it waits, if it is told to, and then
// panics, if it is told to, or else returns Value and Err. The zero value succeeds
// at once, with T's zero value.
type Step[T any] struct {
	// Value is returned; with an Err too, if there is one.
	Value T
	// Err is returned; nil is a success.
	Err error
	// Panic, unless nil, is what the run panics with.
	Panic any
	// Wait is how long the run takes. If its context ends first, the run does too,
	// with the context's error and T's zero value.
	Wait time.Duration
	// Hang waits until the context ends, which is the only way out.
	Hang bool
}

// Run tells of one run of a [Script].
type Run struct {
	// Attempt is the number of the attempt that the run was made for, as
	// [resilient.Attempt] tells it: 0 outside of a guarded call.
	Attempt int
	// At is when the run began.
	At time.Time
	// Deadline is the context's; the zero time if it has none.
	Deadline time.Time
}

// Run does what the next step says.
func (s *Script[T]) Run(ctx context.Context) (T, error) { return s.next(ctx).play(ctx) }

// RunErr is Run without the value, for a function that has no result but its error.
func (s *Script[T]) RunErr(ctx context.Context) error {
	_, err := s.Run(ctx)
	return err
}

// Runs returns what runs there were, also those under way, in the order in which
// they began. The slice is the caller's.
func (s *Script[T]) Runs() []Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.runs)
}

// next takes a step and keeps a record of it.
func (s *Script[T]) next(ctx context.Context) Step[T] {
	run := Run{Attempt: resilient.Attempt(ctx), At: time.Now()}
	run.Deadline, _ = ctx.Deadline()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.runs)
	s.runs = append(s.runs, run)
	if len(s.Steps) == 0 {
		return Step[T]{}
	}
	return s.Steps[min(n, len(s.Steps)-1)]
}

func (s Step[T]) play(ctx context.Context) (T, error) {
	if err := s.wait(ctx); err != nil {
		var none T
		return none, err
	}
	if s.Panic != nil {
		panic(s.Panic)
	}
	return s.Value, s.Err
}

// wait returns the context's error if that ended the wait.
func (s Step[T]) wait(ctx context.Context) error {
	if s.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.Wait <= 0 {
		return nil
	}
	timer := time.NewTimer(s.Wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
