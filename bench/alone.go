package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/failsafe-go/failsafe-go"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Circuits with nothing round them.

var (
	errRefused = errors.New("the healthy circuit refused a call")
	errLate    = errors.New("the result did not count")
)

func newCircuit() *breaker.Circuit {
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = tripAfter
	settings.RecoveryTimeout = stayOpen
	return must(breaker.New("plan_service", settings, nil))
}

// circuitHealthy passes the time in, as the pipeline does: it has read the clock once for the whole call, and the
// circuit reads none of its own.
func circuitHealthy() func(*service) loop {
	circuit := newCircuit()
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
				if !circuit.Settle(permit, breaker.Success, nil) {
					return errLate
				}
			}
			return nil
		}
	}
}

// circuitHealthyWithClock reads the clock for each call, as one must who has no reading at hand.
func circuitHealthyWithClock() func(*service) loop {
	circuit := newCircuit()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) error {
			for id := range n {
				permit, rejected := circuit.Acquire(circuit.Now(), totalTimeout)
				if rejected != nil {
					return errRefused
				}
				got, err := s.call(ctx, id)
				if err != nil || got != id {
					return succeeded(got, id, err)
				}
				if !circuit.Settle(permit, breaker.Success, nil) {
					return errLate
				}
			}
			return nil
		}
	}
}

// circuitRejected reads the clock for each call: whether the open time is over is the question.
func circuitRejected() func(*service) loop {
	circuit := newCircuit()
	for circuit.State() == breaker.Closed {
		permit, _ := circuit.Acquire(circuit.Now(), totalTimeout)
		circuit.Settle(permit, breaker.Failure, errUnavailable)
	}
	return func(*service) loop {
		return func(n int) error {
			var rejected *breaker.RejectedError
			for range n {
				if _, rejected = circuit.Acquire(circuit.Now(), totalTimeout); rejected == nil {
					return errAdmitted
				}
			}
			if !errors.Is(rejected, errUnavailable) {
				return fmt.Errorf("call was refused with %w, want the cause in it", rejected)
			}
			return nil
		}
	}
}

func gobreakerHealthy() func(*service) loop {
	circuit := newGobreaker()
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

func gobreakerRejected() func(*service) loop {
	circuit := newOpenGobreaker()
	return func(s *service) loop {
		ctx := context.Background()
		return func(n int) (err error) {
			for id := range n {
				if _, err = circuit.Execute(func() (int, error) { return s.call(ctx, id) }); err == nil {
					return errAdmitted
				}
			}
			return rejectedWith(err, isGobreakerRejection)
		}
	}
}

func failsafeHealthy() func(*service) loop {
	executor := failsafe.With[int](newFailsafeCircuit())
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
