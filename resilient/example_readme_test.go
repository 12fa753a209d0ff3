package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// The code of the README, which a test keeps the same as this.

type Order struct{ ID string }

type orderClient struct{}

func (orderClient) Get(_ context.Context, id string) (Order, error) { return Order{ID: id}, nil }

func stream(context.Context) error { return io.ErrUnexpectedEOF }

func readme(ctx context.Context) error {
	var client orderClient
	// region direct
	orders, err := resilient.NewGuard("orders", resilient.DefaultPolicy(), nil)
	if err != nil {
		return err
	}
	order, err := resilient.Execute(ctx, orders, resilient.Idempotent("get"),
		func(ctx context.Context) (Order, error) { return client.Get(ctx, "o-1") })
	// endregion
	fmt.Println(order, err)

	// region others
	get := resilient.Wrap(orders, resilient.Idempotent("get"), client.Get)

	future := resilient.Async(ctx, orders, resilient.Idempotent("get"),
		func(ctx context.Context) (Order, error) { return client.Get(ctx, "o-2") })
	defer future.Cancel()
	second, err := future.Await(ctx)
	if err != nil {
		return err
	}

	permit, err := orders.Acquire(ctx)
	if err != nil {
		return err
	}
	permit.Settle(stream(ctx))
	// endregion
	fmt.Println(second)
	_, err = get(ctx, "o-3")
	return err
}

var errNoCredit = errors.New("no credit")

type answer struct{ Text string }

type model string

func (m model) Complete(context.Context) (answer, error) {
	if m == "large" {
		return answer{}, nil // it has nothing to say
	}
	return answer{string(m)}, nil
}

func readmeJudging(ctx context.Context, policy resilient.Policy) (answer, error) {
	model := model("small")
	// region judging
	models, err := resilient.NewGuard("models", policy, &resilient.Options{
		Classify: resilient.Chain(resilient.NotFound, resilient.Answers(errNoCredit)), // these are answers, no failures
		AttemptLimits: []resilient.AttemptLimit{
			resilient.LimitAttempts(io.ErrUnexpectedEOF, 2), // an answer that breaks off is asked for once more
		},
	})
	if err != nil {
		return answer{}, err
	}
	complete := resilient.Check(model.Complete, func(a answer) error {
		if a.Text == "" {
			return errors.New("an empty answer") // counts as a failure, and is retried
		}
		return nil
	})
	text, err := resilient.Execute(ctx, models, resilient.Idempotent("complete"), complete)
	// endregion
	return text, err
}

func readmeFirstOf(ctx context.Context, large, small *resilient.Guard) error {
	askLarge := resilient.Check(model("large").Complete, func(a answer) error {
		if a.Text == "" {
			return errors.New("an empty answer")
		}
		return nil
	})
	askSmall := model("small").Complete
	// region firstof
	found, err := resilient.FirstOf(ctx, resilient.Idempotent("complete").WithTotalTimeout(20*time.Second),
		resilient.Alternative[answer]{Guard: large, Call: askLarge},
		resilient.Alternative[answer]{Guard: small, Call: askSmall},
	)
	if err != nil {
		return err // that of the one that answered, or *NoAnswerError with all of them
	}
	fmt.Println(found.Value, "from", found.Service)
	// endregion
	return nil
}

func readmeRules() (*resilient.Guard, error) {
	// region rules
	policy := resilient.DefaultPolicy()
	policy.AttemptTimeout = 10 * time.Second
	policy.Circuit.FailureThreshold = 0 // no such rule
	policy.Circuit.FailureRate, policy.Circuit.MinimumCalls, policy.Circuit.Window = 0.5, 50, 30*time.Second
	policy.Circuit.SlowCallRate, policy.Circuit.SlowCallDuration = 0.8, 2*time.Second
	stock, err := resilient.NewGuard("stock_service", policy, nil)
	// endregion
	return stock, err
}

func readmeAsyncFirstOf(ctx context.Context, alternatives ...resilient.Alternative[answer]) error {
	// region asyncfirstof
	future := resilient.Async(ctx, resilient.Passthrough(), resilient.NonIdempotent("complete"),
		func(ctx context.Context) (resilient.Answer[answer], error) {
			return resilient.FirstOf(ctx, resilient.Idempotent("complete"), alternatives...)
		})
	defer future.Cancel()
	found, err := future.Await(ctx)
	// endregion
	fmt.Println(found.Value, "from", found.Service)
	return err
}

// The README's ways to judge, and to go on.
func Example_readme() {
	policy := quick()
	policy.Retry.MaxAttempts = 1
	fmt.Println(readmeJudging(context.Background(), policy))
	large, small := mustGuard(resilient.NewGuard("large_model", policy, quietly)), mustGuard(resilient.NewGuard("small_model", policy, quietly))
	if err := readmeFirstOf(context.Background(), large, small); err != nil {
		fmt.Println(err)
	}
	if err := readmeAsyncFirstOf(context.Background(), resilient.Alternative[answer]{Guard: small, Call: model("small").Complete}); err != nil {
		fmt.Println(err)
	}
	stock, err := readmeRules()
	fmt.Println(stock.Policy().Circuit.FailureRate, err)
	// Output:
	// {small} <nil>
	// {small} from small_model
	// {small} from small_model
	// 0.5 <nil>
}

func explain(err error) {
	// region errors
	var rejected *resilient.RejectedError
	var exhausted *resilient.ExhaustedError
	switch {
	case errors.As(err, &exhausted):
		log.Printf("%s after %d attempts: %v", exhausted.Reason, exhausted.Attempts, err)
	case errors.As(err, &rejected):
		log.Printf("not even tried, again in at most %v: %v", rejected.RetryAfter(), err)
	}
	// endregion
}

func Example() {
	if err := readme(context.Background()); err != nil {
		explain(err)
	}
	// Output:
	// {o-1} <nil>
	// {o-2}
}
