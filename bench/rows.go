package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/toolguard"
)

// What is measured is data: a row is a situation, and has contestants, ours first. To measure another thing, add a row
// to rows, or a contestant to a row, and, where there is something to hold, a goal to goals.

// What all the guards here are set to.
const (
	attempts     = 3
	totalTimeout = 300 * time.Second
	// tripAfter is how many failures in a row open a circuit. It is more than all goroutines together reach in the row
	// whose calls fail twice, and reached on purpose where a circuit is to be open.
	tripAfter = 20
	// What the rules that look at a share are set to.
	tripShare   = 0.5
	tripMinimum = 20
	tripWindow  = 60 * time.Second
	tripBuckets = 10
	slowAfter   = time.Minute // longer than any sample
	// stayOpen is how long a circuit stays open: longer than any run.
	stayOpen = 24 * time.Hour
)

// row is one situation, in which all its contestants do the same.
type row struct {
	name        string
	note        string // what else there is to know
	failures    int    // how often the function fails before it succeeds
	asksDone    bool   // the function looks at its context's Done
	overHTTP    bool   // the function sends a request to a server on this machine
	idle        bool   // the function is not called
	contestants []contestant
}

// contestant is one way to do what the row says. What its goroutines share, such as the guard, was made with it.
type contestant struct {
	name string
	// start makes what one goroutine needs.
	start func(s *service) loop
}

// loop does it n times, and says so if something other than what the row says came out of it. The loop is the
// contestant's own, so that nothing stands between it and the call.
type loop func(n int) error

// The contestants' names, where a goal or another row's names them.
const (
	nameOurs      = "stoic"
	nameFailsafe  = "failsafe-go"
	nameByHand    = "by hand"
	nameGobreaker = "gobreaker alone"
	nameCircuit   = "stoic circuit alone"
	nameAlloc     = "64 bytes"
	namePart      = "stoic, and 5 % of 100 µs"
	nameMetered   = "stoic, the dashboard's meter"
	nameLookups   = "one map look-up per tool"
)

// The rows' names.
const (
	rowSuccess  = "success"
	rowAsksDone = "success, the function asks for Done"
	rowRetried  = "two failures, then success"
	rowAsync    = "async success"
	rowHealthy  = "healthy circuit alone"
	rowShare    = "healthy circuit alone, by failure rate"
	rowSlow     = "healthy circuit alone, by slow calls"
	rowFailing  = "circuit alone, one call in five fails, by failure rate"
	rowRejected = "rejection by an open circuit"
	rowHTTP     = "success over net/http"
	rowBudget   = "a failure, then success, with a retry budget"
	rowWatched  = "success, with what watches it"
	rowBusy     = "success, on one of 200 guards"
	rowFirst    = "two providers, the first answers"
	rowSecond   = "two providers, the second answers"
	rowAlloc    = "yardstick"
	rowTurn     = "an agent's turn over 100 healthy tools"
	rowToolCall = "guarded tool call"
)

func rows() []row {
	return []row{
		{
			name: rowSuccess,
			note: "retry 3, circuit, total timeout 300 s, nesting (failsafe-go has no nesting: nothing is added for it)",
			contestants: []contestant{
				{nameOurs, oursGuarded()},
				{nameFailsafe, failsafeGuarded()},
				{nameByHand, byHandGuarded()},
			},
		},
		{
			name: rowAlloc,
			note: "a bare allocation, to compare with",
			idle: true,
			contestants: []contestant{
				{nameAlloc, allocate},
			},
		},
		{
			name:     rowAsksDone,
			note:     "what a context that is really waited on costs",
			asksDone: true,
			contestants: []contestant{
				{nameOurs, oursGuarded()},
				{nameFailsafe, failsafeGuarded()},
				{nameByHand, byHandGuarded()},
			},
		},
		{
			name:     rowRetried,
			note:     "no delay (the peers wait all the same, for a timer set to 0)",
			failures: 2,
			contestants: []contestant{
				{nameOurs, oursGuarded()},
				{nameFailsafe, failsafeGuarded()},
				{nameByHand, byHandGuarded()},
			},
		},
		{
			name:     rowHTTP,
			note:     "a GET of a few bytes on loopback; it asks the context for Done",
			overHTTP: true,
			contestants: []contestant{
				{nameOurs, oursGuarded()},
				{nameFailsafe, failsafeGuarded()},
				{nameByHand, byHandGuarded()},
				{"unguarded", unguarded},
			},
		},
		{
			name:     rowBudget,
			note:     "no delay; failsafe-go's budget is of concurrent calls",
			failures: 1,
			contestants: []contestant{
				{"stoic, tokens", oursBudgeted(tokens())},
				{"stoic, without a budget", oursGuarded()},
				{"stoic, ratio of calls", oursBudgeted(ratio())},
				{nameFailsafe, failsafeBudgeted()},
			},
		},
		{
			name: rowWatched,
			note: "what a budget and an incident switch add to a call that succeeds at once",
			contestants: []contestant{
				{nameOurs, oursGuarded()},
				{"stoic, token budget", oursBudgeted(tokens())},
				{"stoic, ratio budget", oursBudgeted(ratio())},
				{"stoic, switch", oursSwitched()},
			},
		},
		{
			name: rowBusy,
			note: "at 10 000 calls a second a core has 100 µs for each",
			contestants: []contestant{
				{nameOurs, oursBusy(0)},
				{nameMetered, oursBusy(0, metered())},
				{namePart, oursBusy(busyPart)},
			},
		},
		{
			name: rowFirst,
			note: "each under its own guard, within one total timeout",
			contestants: []contestant{
				{nameOurs, oursFirstOf(nothing)},
				{nameFailsafe, failsafeFallback(false)},
				{nameByHand, byHandFallback(false)},
			},
		},
		{
			name: rowSecond,
			note: "the first one's circuit is open",
			contestants: []contestant{
				{nameOurs, oursFirstOf(tripped)},
				{nameFailsafe, failsafeFallback(true)},
				{nameByHand, byHandFallback(true)},
			},
		},
		{
			name: rowAsync,
			note: "started, and waited for",
			contestants: []contestant{
				{nameOurs, oursAsync()},
				{nameFailsafe, failsafeAsync()},
				{nameByHand, byHandAsync()},
			},
		},
		{
			name: rowHealthy,
			note: "acquire, the function, settle",
			contestants: []contestant{
				{nameOurs, circuitHealthy()},
				{"stoic, reads the clock", circuitHealthyWithClock()},
				{nameGobreaker, gobreakerHealthy()},
				{"failsafe-go alone", failsafeHealthy()},
			},
		},
		{
			name: rowShare,
			note: "acquire, the function, settle; half of at least 20 calls in a minute, in 10 buckets",
			contestants: []contestant{
				{nameOurs, circuitByRule(byShare)},
				{"stoic, and in a row", circuitByRule(byBoth)},
				{"stoic, guarded call", oursByShare()},
				{nameGobreaker, gobreakerByShare()},
				{"failsafe-go alone", failsafeByShare()},
			},
		},
		{
			name: rowSlow,
			note: "as before, of calls of a minute or more (gobreaker and failsafe-go have no such rule)",
			contestants: []contestant{
				{nameOurs, circuitByRule(bySlowness)},
				{"stoic, and failures", circuitByRule(byAll)},
			},
		},
		{
			name: rowFailing,
			note: "what a failure costs more, and whoever comes after it",
			contestants: []contestant{
				{nameOurs, circuitFailing(byShare)},
				{"stoic, and in a row", circuitFailing(byBoth)},
				{nameGobreaker, gobreakerFailing()},
			},
		},
		{
			name: rowRejected,
			note: "the whole call, and circuits alone",
			idle: true,
			contestants: []contestant{
				{nameOurs, oursRejected(tripped)},
				{"stoic, forced open", oursRejected(forcedOpen)},
				{nameCircuit, circuitRejected()},
				{nameFailsafe, failsafeRejected()},
				{nameByHand, byHandRejected()},
				{nameGobreaker, gobreakerRejected()},
			},
		},
		{
			name: rowTurn,
			note: "the turn and its filter; all tools are watched, and all of them closed after a failure",
			idle: true,
			contestants: []contestant{
				{nameOurs, oursTurns(toolguard.Options{}, failedOnce)},
				{"stoic, shared by a store", oursTurns(toolguard.Options{Store: breaker.NewMemoryStore(nil)}, failedOnce)},
				{"stoic, nothing has failed", oursTurns(toolguard.Options{}, nothingFailed)},
				{nameLookups, lookups()},
			},
		},
		{
			name: rowToolCall,
			note: "with the tool's own time limit, for which each call has a context with a timer",
			contestants: []contestant{
				{nameOurs, oursToolCalls(toolguard.Options{}, failedOnce)},
				{"stoic, no time limit", oursToolCalls(toolguard.Options{Limits: toolguard.Limits{Timeout: toolguard.NoTimeout}}, failedOnce)},
				{"stoic, nothing has failed", oursToolCalls(toolguard.Options{}, nothingFailed)},
				{"context.WithTimeout alone", timeoutByHand()},
			},
		},
	}
}

// allocate is what one small allocation costs here, now.
func allocate(s *service) loop {
	return func(n int) error {
		for range n {
			s.sink = new([64]byte)
		}
		return nil
	}
}

// succeeded checks one call's result; want is what the function was called with.
func succeeded(got, want int, err error) error {
	if err != nil || got != want {
		return fmt.Errorf("call returned %d, %v, want %d, nil", got, err, want)
	}
	return nil
}

// errAdmitted says that an open circuit let a call pass.
var errAdmitted = errors.New("call was admitted, want a rejection")

// rejectedWith checks what the last of the rejected calls was rejected with.
func rejectedWith(err error, is func(error) bool) error {
	if !is(err) {
		return fmt.Errorf("call was refused with %w, want the circuit's rejection", err)
	}
	return nil
}

// must is for what cannot fail, the settings being right.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
