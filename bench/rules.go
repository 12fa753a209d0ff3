package main

import (
	"context"
	"errors"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/sony/gobreaker/v2"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Circuits with nothing round them, under the rules that look at a share of the calls.

func byShare(s *breaker.Settings) {
	s.FailureThreshold, s.FailureRate = 0, tripShare
	s.MinimumCalls, s.Window, s.WindowBuckets = tripMinimum, tripWindow, tripBuckets
}

func byBoth(s *breaker.Settings) {
	byShare(s)
	s.FailureThreshold = tripAfter
}

func bySlowness(s *breaker.Settings) {
	byShare(s)
	s.FailureRate, s.SlowCallRate, s.SlowCallDuration = 0, tripShare, slowAfter
}

func byAll(s *breaker.Settings) {
	byBoth(s)
	s.SlowCallRate, s.SlowCallDuration = tripShare, slowAfter
}

func circuitBy(rule func(*breaker.Settings)) *breaker.Circuit {
	settings := breaker.DefaultSettings()
	rule(&settings)
	settings.RecoveryTimeout = stayOpen
	return must(breaker.New("plan_service", settings, nil))
}

// circuitByRule passes the time in, as the pipeline does: a whole loop is shorter than a call that is slow.
func circuitByRule(rule func(*breaker.Settings)) func(*service) loop {
	circuit := circuitBy(rule)
	return func(s *service) loop {
		ctx, now := context.Background(), circuit.Now()
		return func(n int) error {
			for id := range n {
				permit, rejected := circuit.Acquire(now, totalTimeout)
				if rejected != nil {
					return errRefused
				}
				got, err := s.call(ctx, id)
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
				if !circuit.SettleSince(permit, now, breaker.Success, nil) {
					return errLate
				}
			}
			return nil
		}
	}
}

// newGuardBy makes a guard whose circuit follows the rule.
func newGuardBy(rule func(*breaker.Settings)) *resilient.Guard {
	guard := newGuard()
	policy := guard.Policy()
	rule(&policy.Circuit)
	if err := guard.SetPolicy(policy); err != nil {
		panic(err)
	}
	return guard
}

// oursByShare is the whole guarded call.
func oursByShare() func(*service) loop {
	guard := newGuardBy(byShare)
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := resilient.Execute(ctx, guard, resilient.Idempotent("get_plan"),
					func(ctx context.Context) (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

// newGobreakerByShare counts as it ought to be counted: what is in flight is no part of the share.
func newGobreakerByShare() *gobreaker.CircuitBreaker[int] {
	return gobreaker.NewCircuitBreaker[int](gobreaker.Settings{
		Name:         "plan_service",
		Timeout:      stayOpen,
		Interval:     tripWindow,
		BucketPeriod: tripWindow / tripBuckets,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			settled := counts.TotalSuccesses + counts.TotalFailures
			return settled >= tripMinimum && float64(counts.TotalFailures) >= tripShare*float64(settled)
		},
	})
}

func gobreakerByShare() func(*service) loop {
	circuit := newGobreakerByShare()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := circuit.Execute(func() (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

func failsafeByShare() func(*service) loop {
	executor := failsafe.With[int](circuitbreaker.NewBuilder[int]().
		WithFailureRateThreshold(tripShare, tripMinimum, tripWindow).
		WithDelay(stayOpen).
		Build())
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := executor.Get(func() (int, error) { return s.call(ctx, id) })
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
			}
			return nil
		}
	}
}

// oneIn is how many calls there are for each that fails.
const oneIn = 5

var (
	errFails     = errors.New("every fifth call fails") // what those get
	errNoFailure = errors.New("the fifth call did not fail")
)

// fifth is the service's call; each fifth one fails besides.
func (s *service) fifth(ctx context.Context, id int) (int, error) {
	got, err := s.call(ctx, id)
	if err == nil && id%oneIn == oneIn-1 {
		err = errFails
	}
	return got, err
}

// asItShould checks what a call of fifth came to.
func asItShould(got, want int, err error) error {
	switch fails := want%oneIn == oneIn-1; {
	case fails && err == nil:
		return errNoFailure
	case fails && errors.Is(err, errFails):
		err = nil
	}
	return succeeded(got, want, err)
}

func circuitFailing(rule func(*breaker.Settings)) func(*service) loop {
	circuit := circuitBy(rule)
	return func(s *service) loop {
		ctx, now := context.Background(), circuit.Now()
		return func(n int) error {
			for id := range n {
				permit, rejected := circuit.Acquire(now, totalTimeout)
				if rejected != nil {
					return errRefused
				}
				got, err := s.fifth(ctx, id)
				if !circuit.SettleSince(permit, now, breaker.OutcomeOf(err), err) {
					return errLate
				}
				if err := asItShould(got, id, err); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

func gobreakerFailing() func(*service) loop {
	circuit := newGobreakerByShare()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				got, err := circuit.Execute(func() (int, error) { return s.fifth(ctx, id) })
				if err := asItShould(got, id, err); err != nil {
					return err
				}
			}
			return nil
		}
	}
}
