package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/redisstore"
)

// contestant is a way to make one call on each replica.
type contestant struct {
	name  string
	calls []func(ctx context.Context) error // one for each replica
}

// work is what each call does.
func work(context.Context) (int, error) {
	time.Sleep(time.Millisecond)
	return 0, nil
}

// enter makes the contestants: none, ours, theirs.
func enter(ctx context.Context, address string, s setting) ([]contestant, error) {
	none := contestant{name: "no breaker"}
	ours := contestant{name: "stoic, shared"}
	theirs := contestant{name: "gobreaker, distributed"}
	for range s.replicas {
		none.calls = append(none.calls, func(ctx context.Context) error { _, err := work(ctx); return err })
		guard, err := sharedGuard(ctx, address)
		if err != nil {
			return nil, err
		}
		ours.calls = append(ours.calls, func(ctx context.Context) error {
			_, err := resilient.Execute(ctx, guard, resilient.Idempotent("work"), work)
			return err
		})
		circuit, err := gobreaker.NewDistributedCircuitBreaker[int](&locked{redis.NewClient(&redis.Options{Addr: address})},
			gobreaker.Settings{Name: "fleet"})
		if err != nil {
			return nil, err
		}
		theirs.calls = append(theirs.calls, func(ctx context.Context) error {
			_, err := circuit.Execute(func() (int, error) { return work(ctx) })
			return err
		})
	}
	return []contestant{none, ours, theirs}, nil
}

// sharedGuard is a guard whose circuit is shared, and whose store is told the news.
func sharedGuard(ctx context.Context, address string) (*resilient.Guard, error) {
	store, err := redisstore.Open("redis://"+address, &redisstore.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	go func() { _ = store.Run(ctx) }()
	return resilient.NewGuard("fleet", resilient.DefaultPolicy(), &resilient.Options{Store: store})
}

// locked is the store that gobreaker asks for, made as its documentation describes one: a lock that is taken with SET
// NX, and a value.
type locked struct{ client *redis.Client }

var errLocked = errors.New("somebody else holds the lock")

func (l *locked) Lock(name string) error {
	taken, err := l.client.SetNX(context.Background(), name, "1", 5*time.Second).Result()
	if err == nil && !taken {
		err = errLocked
	}
	return err
}

func (l *locked) Unlock(name string) error { return l.client.Del(context.Background(), name).Err() }

func (l *locked) GetData(name string) ([]byte, error) {
	data, err := l.client.Get(context.Background(), name).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return data, err
}

func (l *locked) SetData(name string, data []byte) error {
	return l.client.Set(context.Background(), name, data, 0).Err()
}

// throughput is how many calls a second all workers of all replicas make.
func throughput(ctx context.Context, c contestant, s setting) (float64, error) {
	var made atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	began := time.Now()
	end := began.Add(s.period)
	for _, call := range c.calls {
		for range s.workers {
			workers.Go(func() {
				for time.Now().Before(end) {
					switch err := call(ctx); {
					case err == nil:
						made.Add(1)
					case !errors.Is(err, errLocked): // on those gobreaker itself gives up
						failed.Store(&err)
						return
					}
				}
			})
		}
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(made.Load()) / time.Since(began).Seconds(), nil
}

// healthyCost is what a call takes that does nothing, in nanoseconds: with a circuit in this process, and with a shared
// one. Medians of interleaved samples.
func healthyCost(ctx context.Context, address string) (alone, shared float64, err error) {
	guard, err := sharedGuard(ctx, address)
	if err != nil {
		return 0, 0, err
	}
	own, err := resilient.NewGuard("fleet", resilient.DefaultPolicy(), nil)
	if err != nil {
		return 0, 0, err
	}
	const rounds, calls = 301, 10_000
	var times [2][]float64
	for range rounds {
		for i, g := range []*resilient.Guard{own, guard} {
			began := time.Now()
			for range calls {
				if _, err := resilient.Execute(ctx, g, resilient.Idempotent("nothing"), nothing); err != nil {
					return 0, 0, err
				}
			}
			times[i] = append(times[i], float64(time.Since(began).Nanoseconds())/calls)
		}
	}
	return median(times[0]), median(times[1]), nil
}

func nothing(context.Context) (int, error) { return 0, nil }
