package breaker_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// A circuit by itself, round work that is not one function call.
func Example() {
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = 2
	circuit, err := breaker.New("search", settings, &breaker.Options{
		OnTransition: func(t breaker.Transition) { fmt.Println(t.Circuit, "was", t.From, "is", t.To) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	search := func() error { return errors.New("connection refused") }
	for range 3 {
		permit, rejected := circuit.Acquire(circuit.Now(), 0)
		if rejected != nil {
			fmt.Println("rejected:", rejected.State)
			continue
		}
		err := search()
		circuit.Settle(permit, breaker.OutcomeOf(err), err)
	}
	// Output:
	// search was closed is open
	// rejected: open
}

// What an operator does.
func ExampleCircuit_ForceOpen() {
	circuit, err := breaker.New("search", breaker.DefaultSettings(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	circuit.ForceOpen()
	fmt.Println(circuit.State())
	circuit.Release()
	fmt.Println(circuit.State())
	circuit.Disable()
	fmt.Println(circuit.State())
	circuit.Reset()
	fmt.Println(circuit.State())
	// Output:
	// forced-open
	// closed
	// disabled
	// closed
}

// What a page for operators shows.
func ExampleCircuit_Snapshot() {
	circuit, err := breaker.New("search", breaker.DefaultSettings(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	permit, _ := circuit.Acquire(circuit.Now(), 0)
	circuit.Settle(permit, breaker.Failure, errors.New("connection refused"))
	snapshot := circuit.Snapshot()
	fmt.Println(snapshot.Name, snapshot.State, snapshot.Failures, snapshot.Cause)
	// Output: search closed 1 connection refused
}

// Other settings hold at once, also for a circuit that is open.
func ExampleCircuit_SetSettings() {
	circuit, err := breaker.New("search", breaker.DefaultSettings(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = 0
	fmt.Println(circuit.SetSettings(settings))
	// Output: circuit search: FailureThreshold is 0, want 1 … 1000000, or 0 beside a FailureRate or SlowCallRate
}

// The rules alone, for those who build a circuit of another kind and want to check
// it.
func ExampleMachine() {
	settings := breaker.DefaultSettings()
	machine := breaker.Machine{Beneath: breaker.Open, Generation: 1, LastFailure: 1}
	fmt.Println("probe due at", machine.OpenUntil(settings))
	machine, permit, ok := machine.Acquire(machine.OpenUntil(settings), 0, settings)
	fmt.Println(ok, machine.Beneath, permit.Probe())
	machine, counted := machine.Settle(permit, breaker.Success, false, machine.Since+1, settings)
	fmt.Println(counted, machine.Beneath)
	// Output:
	// probe due at 1m0.000000001s
	// true half-open true
	// true closed
}

// An open time that grows with each failed recovery, up to a maximum.
func ExampleSettings() {
	settings := breaker.DefaultSettings()
	settings.RecoveryMultiplier = 2
	settings.MaxRecoveryTimeout = 3 * time.Minute
	for generation := 1; generation <= 4; generation++ {
		machine := breaker.Machine{Beneath: breaker.Open, Generation: generation}
		fmt.Println(machine.OpenUntil(settings))
	}
	// Output:
	// 1m0s
	// 2m0s
	// 3m0s
	// 3m0s
}

// A circuit that opens when half of the last minute's calls fail, or a fifth of them take
// two seconds or longer: each rule can be on alone or with others.
func ExampleSettings_rules() {
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = 0 // five failures in a row are nothing special here
	settings.FailureRate = 0.5
	settings.SlowCallRate, settings.SlowCallDuration = 0.2, 2*time.Second
	settings.RecoveryJitter = 0.2 // replicas do not come back together
	circuit, err := breaker.New("search", settings, &breaker.Options{
		OnTransition: func(t breaker.Transition) { fmt.Println(t.To, "by", t.Rule, t.Window) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 20 {
		began := circuit.Now()
		permit, rejected := circuit.Acquire(began, 0)
		if rejected != nil {
			fmt.Println(rejected.State)
			break
		}
		var err error
		if i%2 == 1 {
			err = errors.New("connection refused")
		}
		circuit.SettleSince(permit, began, breaker.OutcomeOf(err), err)
	}
	// Output: open by failure_rate {20 10 0}
}

// A policy on trial: the circuit judges, and refuses nothing.
func ExampleSettings_observe() {
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = 2
	settings.Observe = true
	circuit, err := breaker.New("search", settings, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 5 {
		permit, rejected := circuit.Acquire(circuit.Now(), 0)
		circuit.Settle(permit, breaker.Failure, errors.New("connection refused"))
		fmt.Println(rejected == nil, permit.WouldReject())
	}
	fmt.Println(circuit.State(), circuit.Snapshot().WouldReject)
	// Output:
	// true false
	// true false
	// true true
	// true true
	// true true
	// open 3
}
