package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// A core that makes 10 000 calls a second, over as many services as a large dashboard shows, has 100 µs for each. What a
// page that is open costs besides, once a second, is the dashboard's own BenchmarkFrame.
const (
	busyGuards = 200
	busyPart   = 5 * time.Microsecond // 5 % of it
)

// oursBusy is the guarded call of our contestants, which takes so long, on guards with these observers.
func oursBusy(takes time.Duration, observers ...resilient.Observer) func(*service) loop {
	guards := make([]*resilient.Guard, busyGuards)
	policy := newGuard().Policy()
	for i := range guards {
		guards[i] = must(resilient.NewGuard(fmt.Sprint("service_", i), policy, &resilient.Options{
			Logger: slog.New(slog.DiscardHandler), Observers: observers,
		}))
	}
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := resilient.Execute(ctx, guards[id%busyGuards], resilient.Idempotent("get_plan"),
					func(ctx context.Context) (int, error) {
						work(takes)
						return s.call(ctx, id)
					})
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

// work keeps the core busy for so long.
func work(d time.Duration) {
	if d == 0 {
		return
	}
	for began := time.Now(); time.Since(began) < d; {
	}
}

func metered() resilient.Observer { return dashboard.NewMeter() }
