package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// The numbers on the page are those of what was done, exactly.
func TestTrafficOfAScriptedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter})
		pages := openStream(t, board)
		full := pages.next(t)
		assert.Equal(t, "full", full.kind)
		require.Len(t, full.Guards, 1)
		assert.Equal(t, "closed", full.Guards[0].State)

		// Within the first second: four successes of 10 ms.
		for range 4 {
			require.NoError(t, call(guard, put, 10*time.Millisecond, nil))
		}
		f := pages.next(t)
		assert.Equal(t, "tick", f.kind)
		assert.Equal(t, []int{4, 0}, f.Points[0], "four attempts, no error")
		assertTraffic(t, f, 0.4, 0, 0, 1)
		assertAbout(t, 10*time.Millisecond, f, 4, 5, 6)

		// Then a call of two attempts, the first a failure; it waits a second.
		tries := 0
		require.NoError(t, resilient.Do(t.Context(), guard, get, func(context.Context) error {
			if tries++; tries == 1 {
				return errDown
			}
			return nil
		}))
		f = pages.next(t)
		assert.Equal(t, []int{1, 1}, f.Points[0])
		f = pages.next(t)
		assert.Equal(t, []int{1, 0}, f.Points[0])
		assertTraffic(t, f, 0.5, 0, 1.0/6, 6.0/5)
		assertAbout(t, time.Second+10*time.Millisecond, f, 6)

		// Then an outage: three failures open it, two more calls are refused.
		for range 3 {
			require.Error(t, call(guard, put, 0, errDown))
		}
		for range 2 {
			require.Error(t, call(guard, put, 0, nil))
		}
		f = pages.next(t)
		assert.Equal(t, []int{5, 5}, f.Points[0])
		assertTraffic(t, f, 1.0, 0.2, 6.0/11, 9.0/8)
		assert.Equal(t, "open", f.Changed[0].State)
		assert.Equal(t, "connection refused", f.Changed[0].Cause)
		require.Len(t, f.News, 1)
		assert.Equal(t, item{At: f.News[0].At, Name: "orders", State: "open", Text: "after 3 failures", Cause: "connection refused"}, f.News[0])

		// Ten seconds later the rates are of nothing, and after two minutes everything is
		// forgotten.
		var last []*float64
		for range 130 {
			f = pages.next(t)
			assert.Empty(t, f.Points)
			if f.Traffic[0] != nil {
				last = f.Traffic[0]
			}
		}
		require.Len(t, last, 7)
		assert.Zero(t, *last[0])
		assert.Nil(t, last[2], "of nothing there is no rate")
		assert.Zero(t, *last[6])
	})
}

func assertTraffic(t *testing.T, f frame, want ...float64) {
	t.Helper()
	got := f.Traffic[0]
	require.Len(t, got, 7)
	for i, x := range want {
		require.NotNil(t, got[i], "number %d", i)
		assert.InDelta(t, x, *got[i], 0.0006, "number %d", i) // it is rounded to a thousandth
	}
}

// assertAbout is to an eighth.
func assertAbout(t *testing.T, want time.Duration, f frame, places ...int) {
	t.Helper()
	for _, i := range places {
		got := time.Duration(*f.Traffic[0][i]) * time.Microsecond
		assert.InEpsilon(t, want, got, 0.125, "number %d: %v, want %v", i, got, want)
	}
}

// What neither failed nor succeeded is volume, and no error. What is judged an answer is
// no error either.
func TestNeutralAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		pages := openStream(t, dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter}))
		pages.next(t)
		require.Error(t, call(guard, put, 0, resilient.Neutral(errDown)))
		f := pages.next(t)
		assert.Equal(t, []int{1, 0}, f.Points[0])
		assert.Nil(t, f.Traffic[0][2])

		permit, err := guard.Acquire(t.Context()) // by hand: all there is of its call
		require.NoError(t, err)
		permit.Settle(nil)
		f = pages.next(t)
		assert.Equal(t, []int{1, 0}, f.Points[0])
		assertTraffic(t, f, 0.2, 0, 0, 1)
	})
}

// Nothing is lost between goroutines.
func TestMeterCountsExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guards := make(resilient.GuardList, 7)
		for i := range guards {
			guards[i] = newGuard(t, fmt.Sprint("g", i), meter)
		}
		pages := openStream(t, dashboard.New(guards, &dashboard.Options{Meter: meter}))
		pages.next(t)
		var all sync.WaitGroup
		for worker := range 14 {
			all.Go(func() {
				for range 300 {
					_ = call(guards[worker%len(guards)], put, 0, nil)
				}
			})
		}
		all.Wait()
		f := pages.next(t)
		for i := range guards {
			assert.Equal(t, []int{600, 0}, f.Points[i], i)
		}
	})
}

// The bound on the memory: so many guards, each of a fixed size, and further ones none.
func TestMeterIsBounded(t *testing.T) {
	assert.LessOrEqual(t, dashboard.SizeOfCounts, uintptr(14<<10))
	meter := dashboard.NewMeter()
	for i := range dashboard.MaxMetered + 50 {
		meter.Observe(t.Context(), resilient.CallDone{Call: resilient.Call{Service: fmt.Sprint(i)}, Attempts: 1})
	}
	assert.Equal(t, dashboard.MaxMetered, meter.Metered())

	// Where calls pass no lock is taken, nor for those that are not counted.
	counted := make(chan struct{})
	go meter.Locked(func() {
		for _, name := range []string{"0", "one too many"} {
			call := resilient.Call{Service: name}
			for _, event := range []resilient.Event{
				resilient.AttemptDone{Call: call}, resilient.CallDone{Call: call}, resilient.LateResult{Call: call},
				resilient.RetryScheduled{Call: call}, resilient.CallRejected{Call: call, Rejection: &resilient.RejectedError{}},
			} {
				meter.Observe(t.Context(), event)
			}
		}
		close(counted)
	})
	select {
	case <-counted:
	case <-time.After(10 * sec):
		require.Fail(t, "it waits for a lock")
	}
}

// Transitions that are kept are bounded too, for all and for each.
func TestTransitionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "flapping", meter)
		board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter})
		for range 500 {
			guard.Circuit().ForceOpen()
			guard.Circuit().Release()
		}
		f := openStream(t, board).next(t)
		assert.Len(t, f.News, 128)
		assert.Equal(t, "closed", f.News[127].State, "the latest is the last")
		assert.Equal(t, "forced-open", f.News[126].State)
		assert.Less(t, serve(board, "GET", "/guards/flapping", nil).Body.Len(), 20<<10)
	})
}

// Hot path: the meter allocates nothing beyond what the events cost.
func TestMeterAllocatesNothing(t *testing.T) {
	seen := resilient.ObserverFunc(func(context.Context, resilient.Event) { /* what an event itself costs */ })
	measure := func(observer resilient.Observer, result error) float64 {
		p := policy()
		p.Circuit.FailureThreshold = 1_000_000
		guard, err := resilient.NewGuard("orders", p, &resilient.Options{Logger: quiet, Observers: []resilient.Observer{observer}})
		require.NoError(t, err)
		return testing.AllocsPerRun(1000, func() { _ = call(guard, put, 0, result) })
	}
	for name, result := range map[string]error{"success": nil, "failure": errDown} {
		assert.LessOrEqual(t, measure(dashboard.NewMeter(), result), measure(seen, result), name)
	}

	open := resilient.CallRejected{Call: resilient.Call{Service: "orders"}, Rejection: &resilient.RejectedError{State: breaker.Open}}
	var event resilient.Event = open
	meter := dashboard.NewMeter()
	assert.Zero(t, testing.AllocsPerRun(1000, func() { meter.Observe(t.Context(), event) }))
}

// Nil and what is not known are harmless.
func TestMeterOfNothing(t *testing.T) {
	var none *dashboard.Meter
	assert.NotPanics(t, func() { none.Observe(t.Context(), resilient.CallDone{}) })
	meter := dashboard.NewMeter()
	for _, event := range []resilient.Event{
		nil, resilient.CallRejected{}, resilient.AttemptDone{}, resilient.CallDone{Attempts: -1, Duration: -1, Err: errors.New("x")},
		resilient.RetryScheduled{Delay: -1}, resilient.LateResult{},
		resilient.CircuitChanged{Transition: breaker.Transition{To: 99}},
		resilient.CallRejected{Rejection: &resilient.RejectedError{State: 99}},
	} {
		assert.NotPanics(t, func() { meter.Observe(t.Context(), event) })
	}
}
