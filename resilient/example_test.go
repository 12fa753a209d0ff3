package resilient_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// quick is the default policy without waits, so that the examples take no time.
func quick() resilient.Policy {
	p := resilient.DefaultPolicy()
	p.Retry.Backoff = resilient.BackoffNone
	p.Retry.BaseDelay = 0
	return p
}

// quietly keeps the examples' retries out of the log.
var quietly = &resilient.Options{Logger: slog.New(slog.DiscardHandler)}

// mustGuard is for examples and main functions: a guard that cannot be made is a mistake in the program.
func mustGuard(g *resilient.Guard, err error) *resilient.Guard {
	if err != nil {
		panic(err)
	}
	return g
}

var errBusy = errors.New("the service is busy")

func ExampleNewGuard() {
	policy := resilient.DefaultPolicy()
	policy.Retry.MaxAttempts = 5
	policy.Circuit.FailureThreshold = 3
	plans, err := resilient.NewGuard("plan_service", policy, nil)
	fmt.Println(plans.Name(), err)

	_, err = resilient.NewGuard("plan_service", resilient.Policy{}, nil)
	fmt.Println("the zero policy:", err != nil)
	// Output:
	// plan_service <nil>
	// the zero policy: true
}

func ExamplePassthrough() {
	g := resilient.Passthrough() // in a test, say, where nothing is to be repeated
	err := resilient.Do(context.Background(), g, resilient.Idempotent("ping"), func(context.Context) error {
		fmt.Println("called")
		return errBusy
	})
	fmt.Println(err)
	// Output:
	// called
	// the service is busy
}

func ExampleExecute() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	name, err := resilient.Execute(context.Background(), plans, resilient.Idempotent("get_plan"),
		func(ctx context.Context) (string, error) {
			if resilient.Attempt(ctx) == 1 {
				return "", errBusy
			}
			return "plan 7", nil
		})
	fmt.Println(name, err)
	// Output: plan 7 <nil>
}

func ExampleDo() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	err := resilient.Do(context.Background(), plans, resilient.NonIdempotent("apply_plan"), func(context.Context) error {
		fmt.Println("called") // once: nobody said that it may be repeated
		return errBusy
	})
	fmt.Println(err)
	// Output:
	// called
	// the service is busy
}

func ExampleAsync() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	ctx := context.Background()
	future := resilient.Async(ctx, plans, resilient.Idempotent("get_plan"), func(context.Context) (string, error) {
		return "plan 7", nil
	})
	defer future.Cancel() // it has ended by then, unless we return early
	fmt.Println(future.Await(ctx))
	// Output: plan 7 <nil>
}

// A function that ignores its context cannot be cut off, but it can be left behind.
func ExampleAsync_leftBehind() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	ctx := context.Background()
	stuck := make(chan struct{})
	defer close(stuck)
	op := resilient.Idempotent("get_plan").WithTotalTimeout(10 * time.Millisecond)
	_, err := resilient.Async(ctx, plans, op, func(context.Context) (string, error) {
		<-stuck
		return "too late", nil
	}).Await(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

type planClient struct{}

func (planClient) GetPlan(_ context.Context, id int) (string, error) {
	return fmt.Sprint("plan ", id), nil
}

func ExampleWrap() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	getPlan := resilient.Wrap(plans, resilient.Idempotent("get_plan"), planClient{}.GetPlan)
	fmt.Println(getPlan(context.Background(), 7))
	// Output: plan 7 <nil>
}

func ExampleWrap0() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	count := resilient.Wrap0(plans, resilient.Idempotent("count"), func(context.Context) (int, error) { return 3, nil })
	fmt.Println(count(context.Background()))
	// Output: 3 <nil>
}

func ExampleWrapErr() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	remove := resilient.WrapErr(plans, resilient.Idempotent("remove"), func(context.Context, int) error { return nil })
	fmt.Println(remove(context.Background(), 7))
	// Output: <nil>
}

func ExampleWrapErr0() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	ping := resilient.WrapErr0(plans, resilient.Idempotent("ping"), func(context.Context) error { return nil })
	fmt.Println(ping(context.Background()))
	// Output: <nil>
}

// A stream is not one function: it begins here and ends there.
func ExampleGuard_Acquire() {
	events := mustGuard(resilient.NewGuard("event_stream", quick(), quietly))
	permit, err := events.Acquire(context.Background())
	if err != nil {
		fmt.Println("the circuit is open:", err)
		return
	}
	streamErr := errors.New("connection reset")
	fmt.Println(permit.Settle(streamErr), permit.Settle(streamErr)) // it counts once
	fmt.Println(events.Circuit().Snapshot().Failures)
	// Output:
	// true false
	// 1
}

func ExampleGuard_SetPolicy() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	policy := plans.Policy()
	policy.Retry.MaxAttempts = 1
	if err := plans.SetPolicy(policy); err != nil {
		fmt.Println("not valid, and the old one is in force:", err)
	}
	fmt.Println(plans.Policy().Retry.MaxAttempts)
	// Output: 1
}

func ExamplePermanent() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	errSyntax := errors.New("syntax error")
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("validate"), func(context.Context) error {
		fmt.Println("called")
		return fmt.Errorf("validating: %w", resilient.Permanent(errSyntax))
	})
	fmt.Println(err, errors.Is(err, errSyntax))
	// Output:
	// called
	// validating: syntax error true
}

func ExampleNeutral() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
		return resilient.Neutral(errors.New("our own pool is full"))
	})
	fmt.Println(err)
	fmt.Println(plans.Circuit().Snapshot().Failures)
	// Output:
	// our own pool is full
	// 0
}

func ExampleRetryAfter() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
		return resilient.RetryAfter(errors.New("too many requests"), time.Hour)
	})
	var exhausted *resilient.ExhaustedError
	if errors.As(err, &exhausted) {
		fmt.Println(exhausted.Reason, exhausted.RetryAfter) // nobody waits for an hour: it ends at once
	}
	// Output: asked to wait longer than allowed 1h0m0s
}

func ExampleAttempt() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	_ = resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(ctx context.Context) error {
		fmt.Println("attempt", resilient.Attempt(ctx))
		return errBusy
	})
	fmt.Println(resilient.Attempt(context.Background()))
	// Output:
	// attempt 1
	// attempt 2
	// attempt 3
	// 0
}

func ExampleAnswers() {
	errTaken := errors.New("the name is taken")
	users := mustGuard(resilient.NewGuard("users", quick(), &resilient.Options{Classify: resilient.Answers(errTaken)}))
	err := resilient.Do(context.Background(), users, resilient.Idempotent("reserve"), func(context.Context) error {
		fmt.Println("called") // once: it has been answered
		return errTaken
	})
	fmt.Println(err)
	fmt.Println(users.Circuit().Snapshot().Failures)
	// Output:
	// called
	// the name is taken
	// 0
}

func ExampleNotFound() {
	users := mustGuard(resilient.NewGuard("users", quick(), &resilient.Options{Classify: resilient.NotFound}))
	err := resilient.Do(context.Background(), users, resilient.Idempotent("find"), func(context.Context) error {
		return fmt.Errorf("user 7: %w", sql.ErrNoRows)
	})
	fmt.Println(err)
	fmt.Println(users.Circuit().Snapshot().Failures)
	// Output:
	// user 7: sql: no rows in result set
	// 0
}

func ExampleObserver() {
	printing := resilient.ObserverFunc(func(_ context.Context, event resilient.Event) {
		switch e := event.(type) {
		case resilient.RetryScheduled:
			fmt.Println("retry of", e.Operation, "after attempt", e.Attempt, "because", e.Err)
		case resilient.CallDone:
			fmt.Println(e.Operation, "done after", e.Attempts)
		}
	})
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), &resilient.Options{
		Observers: []resilient.Observer{printing},
		Logger:    slog.New(slog.DiscardHandler),
	}))
	_ = resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(ctx context.Context) error {
		if resilient.Attempt(ctx) == 1 {
			return errBusy
		}
		return nil
	})
	// Output:
	// retry of get_plan after attempt 1 because the service is busy
	// get_plan done after 2
}

func ExampleOp_WithTotalTimeout() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	op := resilient.Idempotent("get_plan").WithTotalTimeout(10 * time.Millisecond)
	err := resilient.Do(context.Background(), plans, op, func(ctx context.Context) error {
		<-ctx.Done()
		fmt.Println(context.Cause(ctx))
		return ctx.Err()
	})
	fmt.Println(err)
	// Output:
	// total timeout of 10ms
	// plan_service.get_plan: gave up after 1 attempt: timed out (total timeout of 10ms): context deadline exceeded
}

func ExampleOp_WithAttemptTimeout() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	op := resilient.Idempotent("get_plan").WithAttemptTimeout(10 * time.Millisecond)
	name, err := resilient.Execute(context.Background(), plans, op, func(ctx context.Context) (string, error) {
		if resilient.Attempt(ctx) == 1 { // it hangs, but only once
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "plan 7", nil
	})
	fmt.Println(name, err)
	// Output: plan 7 <nil>
}

// In a phase that only reads, a tool may have written all the same, so it is not run again.
func ExampleOp_InPlan() {
	tools := mustGuard(resilient.NewGuard("tools", quick(), &resilient.Options{
		ReadOnlyPlan: func(phase any) bool { return phase == "review" },
		Logger:       slog.New(slog.DiscardHandler),
	}))
	run := resilient.Idempotent("run_tool").ExecutesTools()
	for _, phase := range []string{"review", "execute"} {
		calls := 0
		_ = resilient.Do(context.Background(), tools, run.InPlan(phase), func(context.Context) error {
			calls++
			return errBusy
		})
		fmt.Println(phase, calls)
	}
	// Output:
	// review 1
	// execute 3
}

func ExampleExhaustedError() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
		return errBusy
	})
	fmt.Println(err)
	var exhausted *resilient.ExhaustedError
	if errors.As(err, &exhausted) {
		fmt.Println(exhausted.Service, exhausted.Operation, exhausted.Attempts, exhausted.Reason)
	}
	fmt.Println(errors.Is(err, errBusy))
	// Output:
	// plan_service.get_plan: gave up after 3 attempts: the service is busy
	// plan_service get_plan 3 attempts used up
	// true
}

func ExampleRejectedError() {
	policy := quick()
	policy.Circuit.FailureThreshold = 1
	plans := mustGuard(resilient.NewGuard("plan_service", policy, quietly))
	_ = resilient.Do(context.Background(), plans, resilient.NonIdempotent("apply_plan"), func(context.Context) error {
		return errBusy
	})
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
		return nil // is not called
	})
	var rejected *resilient.RejectedError
	if errors.As(err, &rejected) {
		fmt.Println(rejected.Service, rejected.State, rejected.RetryAfter() > 50*time.Second)
	}
	fmt.Println("because:", errors.Is(err, errBusy))
	// Output:
	// plan_service open true
	// because: true
}

func ExampleAsync_panic() {
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), quietly))
	ctx := context.Background()
	_, err := resilient.Async(ctx, plans, resilient.Idempotent("get_plan"), func(context.Context) (string, error) {
		panic("index out of range")
	}).Await(ctx)
	var crash *resilient.PanicError
	fmt.Println(errors.As(err, &crash), err)
	// Output: true panic: index out of range
}

func ExampleRetryPolicy_Delays() {
	retry := resilient.DefaultPolicy().Retry
	for n := range 3 {
		shortest, longest := retry.Delays(n + 1)
		fmt.Println(shortest, longest)
	}
	// Output:
	// 500ms 1s
	// 1s 2s
	// 2s 4s
}

// Which of our limits was it?
func ExampleTimeoutError() {
	guard, err := resilient.NewGuard("search", resilient.DefaultPolicy(), quietly)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = resilient.Do(context.Background(), guard, resilient.Idempotent("query").WithTotalTimeout(10*time.Millisecond),
		func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		})
	var timeout *resilient.TimeoutError
	fmt.Println(errors.As(err, &timeout), timeout.Limit, timeout.After, errors.Is(err, context.DeadlineExceeded))
	// Output: true total 10ms true
}
