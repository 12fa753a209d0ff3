package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// An answer that is not one counts as a failure, and is asked for again.
func ExampleCheck() {
	search := mustGuard(resilient.NewGuard("search", quick(), quietly))
	errEmpty := errors.New("no hits yet")
	calls := 0
	hits, err := resilient.Execute(context.Background(), search, resilient.Idempotent("query"), resilient.Check(
		func(context.Context) ([]string, error) {
			if calls++; calls < 3 {
				return nil, nil // the index is not ready
			}
			return []string{"plan 7"}, nil
		},
		func(hits []string) error {
			if len(hits) == 0 {
				return errEmpty
			}
			return nil
		}))
	fmt.Println(hits, err, calls)
	// Output: [plan 7] <nil> 3
}

func ExampleCheck1() {
	search := mustGuard(resilient.NewGuard("search", quick(), quietly))
	count := resilient.Wrap(search, resilient.Idempotent("count"), resilient.Check1(
		func(_ context.Context, query string) (int, error) { return len(query) - 10, nil },
		func(n int) error {
			if n < 0 {
				return resilient.Permanent(errors.New("the count is negative"))
			}
			return nil
		}))
	n, err := count(context.Background(), "plans")
	fmt.Println(n, err)
	// Output: -5 the count is negative
}

// The first classifier with an opinion decides.
func ExampleChain() {
	errNoCredit := errors.New("no credit")
	classify := resilient.Chain(
		resilient.NotFound, // rows and files that are not there are answers
		func(err error) resilient.Outcome {
			if errors.Is(err, errNoCredit) {
				return resilient.OutcomeNeutral // our own bill: it says nothing about them
			}
			return resilient.OutcomeUnjudged
		},
	)
	fmt.Println(classify(os.ErrNotExist), classify(errNoCredit), classify(errBusy) == resilient.OutcomeUnjudged)
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), &resilient.Options{Classify: classify}))
	fmt.Println(plans.Name())
	// Output:
	// success neutral true
	// plan_service
}

// Who is told "not logged in" logs in and tries once more, but only once.
func ExampleLimitAttempts() {
	errLogin := errors.New("not logged in")
	policy := quick()
	policy.Retry.MaxAttempts = 10
	plans := mustGuard(resilient.NewGuard("plan_service", policy, &resilient.Options{
		Logger:        slog.New(slog.DiscardHandler),
		AttemptLimits: []resilient.AttemptLimit{resilient.LimitAttempts(errLogin, 2)},
	}))
	err := resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
		return errLogin
	})
	fmt.Println(err)
	// Output: plan_service.get_plan: gave up after 2 attempts: no more attempts for this error: not logged in
}

// Two services behind the same gateway: together their retries empty one bucket.
func ExampleBudget() {
	gateway, err := resilient.NewBudget(resilient.DefaultTokenBucket())
	if err != nil {
		fmt.Println(err)
		return
	}
	options := &resilient.Options{
		Budgets: map[string]*resilient.Budget{"gateway": gateway},
		Logger:  slog.New(slog.DiscardHandler),
	}
	policy := quick()
	policy.Retry.Budget = "gateway"
	plans := mustGuard(resilient.NewGuard("plan_service", policy, options))
	vectors := mustGuard(resilient.NewGuard("vector_store_service", policy, options))
	down := func(context.Context) error { return errBusy }
	slow := func(context.Context) error { return resilient.Throttled(errBusy) }

	fmt.Println(gateway.Snapshot().Left)
	_ = resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), down)
	fmt.Println(gateway.Snapshot().Left)
	_ = resilient.Do(context.Background(), vectors, resilient.Idempotent("search"), slow)
	fmt.Println(gateway.Snapshot().Left)
	// Output:
	// 500
	// 472
	// 462
}

// Where a part of the calls may be repeated, whatever happens.
func ExampleCallRatio() {
	rule := resilient.CallRatio{Ratio: 0.1, Window: time.Minute, Floor: 1}
	budget, err := resilient.NewBudget(rule)
	if err != nil {
		fmt.Println(err)
		return
	}
	policy := quick()
	policy.Retry.Budget = "database"
	db := mustGuard(resilient.NewGuard("database", policy, &resilient.Options{
		Budgets: map[string]*resilient.Budget{"database": budget},
		Logger:  slog.New(slog.DiscardHandler),
	}))
	for range 50 {
		_ = resilient.Do(context.Background(), db, resilient.Idempotent("read"), func(context.Context) error { return nil })
	}
	fmt.Println(budget.Snapshot().Calls, budget.Snapshot().Left)
	// Output: 50 5
}

// The next provider answers when the first one does not.
func ExampleFirstOf() {
	large := mustGuard(resilient.NewGuard("large_model", quick(), quietly))
	small := mustGuard(resilient.NewGuard("small_model", quick(), quietly))
	answer, err := resilient.FirstOf(context.Background(), resilient.Idempotent("complete"),
		resilient.Alternative[string]{Guard: large, Call: func(context.Context) (string, error) { return "", errBusy }},
		resilient.Alternative[string]{Guard: small, Call: func(context.Context) (string, error) { return "forty-two", nil }},
	)
	fmt.Println(answer.Value, "from", answer.Service, err)
	// Output: forty-two from small_model <nil>
}

// A write stays where it was sent, unless its op says that it may go elsewhere.
func ExampleOp_MayFailOver() {
	mail := mustGuard(resilient.NewGuard("mail", quick(), quietly))
	backup := mustGuard(resilient.NewGuard("backup_mail", quick(), quietly))
	first := resilient.Alternative[string]{Guard: mail, Call: func(context.Context) (string, error) { return "", errBusy }}
	second := resilient.Alternative[string]{Guard: backup, Call: func(context.Context) (string, error) { return "sent", nil }}
	for _, op := range []resilient.Op{
		resilient.NonIdempotent("send"),
		resilient.NonIdempotent("send").MayFailOver(), // rather twice than never
	} {
		answer, err := resilient.FirstOf(context.Background(), op, first, second)
		fmt.Println(answer.Value, answer.Service, err)
	}
	// Output:
	//  mail the service is busy
	// sent backup_mail <nil>
}

// In an incident, retries are turned off for all who have the switch.
func ExampleSwitch() {
	incident := &resilient.Switch{Logger: slog.New(slog.DiscardHandler)}
	plans := mustGuard(resilient.NewGuard("plan_service", quick(), &resilient.Options{
		Switch: incident, Logger: slog.New(slog.DiscardHandler),
	}))
	attempts := func() (n int) {
		_ = resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), func(context.Context) error {
			n++
			return errBusy
		})
		return n
	}
	incident.SetRetries(false)
	fmt.Println(attempts())
	incident.SetRetries(true)
	fmt.Println(attempts())
	// Output:
	// 1
	// 3
}

// In tests nobody waits for a second attempt.
func ExampleCap() {
	policy := resilient.DefaultPolicy()
	policy.Retry.MaxAttempts = 100
	plans := mustGuard(resilient.NewGuard("plan_service", policy, &resilient.Options{
		Cap: &resilient.Cap{Attempts: 3}, Logger: slog.New(slog.DiscardHandler),
	}))
	began := time.Now()
	fn := func(context.Context) error { return errBusy }
	fmt.Println(resilient.Do(context.Background(), plans, resilient.Idempotent("get_plan"), fn))
	fmt.Println(time.Since(began) < time.Second)
	// Output:
	// plan_service.get_plan: gave up after 3 attempts: the service is busy
	// true
}
