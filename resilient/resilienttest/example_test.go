package resilienttest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/resilienttest"
)

type Order struct{ ID string }

var errDown = errors.New("orders are down")

// impatient is the default policy without waiting.
func impatient() resilient.Policy {
	policy := resilient.DefaultPolicy()
	policy.Retry.Backoff = resilient.BackoffNone
	return policy
}

func quiet() *resilient.Options {
	return &resilient.Options{Logger: slog.New(slog.DiscardHandler)}
}

// A dependency that fails, fails and succeeds: two retries get there.
func ExampleScript() {
	get := resilienttest.Script[Order]{Steps: []resilienttest.Step[Order]{
		{Err: errDown}, {Err: errDown}, {Value: Order{ID: "o-1"}},
	}}
	orders, err := resilient.NewGuard("orders", impatient(), quiet())
	if err != nil {
		panic(err)
	}
	order, err := resilient.Execute(context.Background(), orders, resilient.Idempotent("get"), get.Run)
	fmt.Println(order, err)
	for _, run := range get.Runs() {
		fmt.Print("attempt ", run.Attempt, "; ")
	}
	// Output:
	// {o-1} <nil>
	// attempt 1; attempt 2; attempt 3;
}

// A dependency that hangs: the attempt's limit ends the run, and the guard says so.
func ExampleStep() {
	apply := resilienttest.Script[struct{}]{Steps: []resilienttest.Step[struct{}]{{Hang: true}}}
	orders, err := resilient.NewGuard("orders", impatient(), quiet())
	if err != nil {
		panic(err)
	}
	op := resilient.NonIdempotent("apply").WithAttemptTimeout(10 * time.Millisecond)
	err = resilient.Do(context.Background(), orders, op, apply.RunErr)
	var timeout *resilient.TimeoutError
	fmt.Println(errors.As(err, &timeout), timeout.Limit, len(apply.Runs()))
	// Output: true attempt 1
}

func ExampleEvents() {
	events := new(resilienttest.Recorder)
	options := quiet()
	options.Observers = []resilient.Observer{events}
	orders, err := resilient.NewGuard("orders", impatient(), options)
	if err != nil {
		panic(err)
	}
	get := resilienttest.Script[Order]{Steps: []resilienttest.Step[Order]{{Err: errDown}, {}}}
	_, _ = resilient.Execute(context.Background(), orders, resilient.Idempotent("get"), get.Run)

	for _, retry := range resilienttest.Events[resilient.RetryScheduled](events) {
		fmt.Println("attempt", retry.Attempt, "failed:", retry.Err)
	}
	fmt.Println(len(resilienttest.Events[resilient.Event](events)), "events in all")
	// Output:
	// attempt 1 failed: orders are down
	// 4 events in all
}

// purse is a service with one wrong annotation: a deposit that is repeated after a
// lost answer is made twice.
type purse struct {
	guard *resilient.Guard
	cents int
}

func (p *purse) Balance(ctx context.Context) (int, error) {
	return resilient.Execute(ctx, p.guard, resilient.Idempotent("balance"),
		func(context.Context) (int, error) { return p.cents, nil })
}

func (p *purse) Set(ctx context.Context, cents int) error {
	return resilient.Do(ctx, p.guard, resilient.Idempotent("set"),
		func(context.Context) error { p.cents = cents; return nil })
}

func (p *purse) Deposit(ctx context.Context, cents int) error {
	return resilient.Do(ctx, p.guard, resilient.Idempotent("deposit"), // wrong
		func(context.Context) error { p.cents += cents; return nil })
}

// printer stands for the *testing.T of a test.
type printer struct{}

func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func ExampleReplay() {
	t := printer{}
	p := new(purse)
	options := quiet()
	options.Replay = resilienttest.Replay(t, func(context.Context) (int, error) { return p.cents, nil })
	var err error
	if p.guard, err = resilient.NewGuard("purse", resilient.DefaultPolicy(), options); err != nil {
		panic(err)
	}

	ctx := context.Background()
	_ = p.Set(ctx, 100)
	_ = p.Deposit(ctx, 5)
	_, _ = p.Balance(ctx)
	// Output:
	// replay: deposit of purse is declared idempotent, but a second run changes the state:
	// 	after one run:  105
	// 	after two runs: 110
}
