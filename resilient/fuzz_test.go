package resilient_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// FuzzDelays holds what is promised for every input, and that what is drawn lies between what Delays says.
func FuzzDelays(f *testing.F) {
	for i := range resilient.Backoffs() {
		f.Add(i, int64(sec), int64(60*sec), true, 3)
		f.Add(i, int64(0), int64(0), false, 0)
		f.Add(i, int64(1), int64(2), true, 9)
		f.Add(i, int64(math.MaxInt64), int64(math.MaxInt64), true, 100)
		f.Add(i, int64(math.MinInt64), int64(math.MinInt64), true, math.MinInt)
		f.Add(i, int64(100*ms), int64(5*sec), true, 2000)
		f.Add(i, int64(time.Hour), int64(24*time.Hour), false, math.MaxInt)
	}
	f.Add(-1, int64(sec), int64(60*sec), true, 3)
	f.Fuzz(func(t *testing.T, strategy int, base, most int64, jitter bool, n int) {
		r := resilient.RetryPolicy{BaseDelay: time.Duration(base), MaxDelay: time.Duration(most), Jitter: jitter, IdempotentOnly: true}
		if all := resilient.Backoffs(); strategy >= 0 {
			r.Backoff = all[strategy%len(all)]
		}
		shortest, longest := r.Delays(n)
		top := max(0, r.MaxDelay)
		if floor := min(top, r.Backoff.Floor()); shortest < floor || shortest > longest || longest > top {
			t.Fatalf("%+v retry %d: %v … %v, floor %v", r, n, shortest, longest, floor)
		}
		if !jitter && r.Backoff != resilient.BackoffJitter && shortest != longest {
			t.Fatalf("%+v retry %d: spread without jitter, %v … %v", r, n, shortest, longest)
		}
		drawn(t, r, n)
	})
}

// drawn makes a call with the policy, if it is valid, and looks at the delays in its events.
func drawn(t *testing.T, r resilient.RetryPolicy, n int) {
	t.Helper()
	p := steady()
	p.Retry = r
	p.Retry.MaxAttempts = 2 + (n&0x7f)%30
	if p.Validate() != nil {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		seen := &recorder{}
		g := newGuard(t, p, &resilient.Options{Observers: []resilient.Observer{seen}})
		_ = resilient.Do(context.Background(), g, get, returns(errDown))
		for _, e := range recorded[resilient.RetryScheduled](seen) {
			if shortest, longest := r.Delays(e.Attempt); e.Delay < shortest || e.Delay > longest {
				t.Errorf("%+v retry %d: %v is not in %v … %v", r, e.Attempt, e.Delay, shortest, longest)
			}
		}
	})
}

// FuzzPolicyValidate: whatever passes makes a guard that works, and nothing panics.
func FuzzPolicyValidate(f *testing.F) {
	f.Add(3, int64(sec), int64(60*sec), "exponential", int64(60*sec), int64(300*sec), int64(0), 5)
	f.Add(0, int64(-1), int64(0), "", int64(-1), int64(0), int64(-1), 0)
	f.Add(100, int64(time.Hour), int64(24*time.Hour), "jitter", int64(24*time.Hour), int64(1), int64(300*sec), 1_000_000)
	f.Add(1, int64(0), int64(0), "none", int64(0), int64(sec), int64(1), 1)
	f.Fuzz(func(t *testing.T, attempts int, base, most int64, backoff string, retryAfter, total, each int64, threshold int) {
		p := resilient.DefaultPolicy()
		p.Retry.MaxAttempts, p.Retry.BaseDelay, p.Retry.MaxDelay = attempts, time.Duration(base), time.Duration(most)
		p.Retry.Backoff, p.Retry.MaxRetryAfter = resilient.Backoff(backoff), time.Duration(retryAfter)
		p.TotalTimeout, p.AttemptTimeout = time.Duration(total), time.Duration(each)
		p.Circuit.FailureThreshold = threshold
		synctest.Test(t, func(t *testing.T) {
			_, err := resilient.NewGuard("plans", p, nil)
			if (err == nil) != (p.Validate() == nil) {
				t.Fatalf("Validate says %v, NewGuard %v", p.Validate(), err)
			}
			if err != nil {
				return
			}
			calls := 0
			start := time.Now()
			g := newGuard(t, p, nil)
			if resilient.Do(t.Context(), g, get, func(context.Context) error { calls++; return errDown }) == nil {
				t.Error("it succeeded")
			}
			if calls < 1 || calls > attempts {
				t.Errorf("%d calls of %d", calls, attempts)
			}
			if took := time.Since(start); took >= p.TotalTimeout && took > 0 {
				t.Errorf("took %v of %v", took, p.TotalTimeout)
			}
		})
	})
}
