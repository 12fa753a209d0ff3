package main

import (
	"errors"
	"fmt"
	"time"
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
	rowAlloc    = "yardstick"
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
			contestants: []contestant{
				{"64 bytes", allocate},
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
			contestants: []contestant{
				{nameOurs, oursRejected(tripped)},
				{"stoic, forced open", oursRejected(forcedOpen)},
				{"stoic circuit alone", circuitRejected()},
				{nameFailsafe, failsafeRejected()},
				{nameByHand, byHandRejected()},
				{nameGobreaker, gobreakerRejected()},
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
