package resilient_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient"
)

const (
	ms     = time.Millisecond
	sec    = time.Second
	maxInt = time.Duration(math.MaxInt64)
)

func TestR7Strategies(t *testing.T) {
	const (
		exponential = resilient.BackoffExponential
		linear      = resilient.BackoffLinear
		fixed       = resilient.BackoffFixed
		jitter      = resilient.BackoffJitter
		none        = resilient.BackoffNone
		increasing  = resilient.BackoffLinearIncreasing
	)
	tests := []struct {
		strategy          resilient.Backoff
		base, most        time.Duration
		jitter            bool
		n                 int
		shortest, longest time.Duration
	}{
		{exponential, sec, 60 * sec, false, 1, sec, sec},
		{exponential, sec, 60 * sec, false, 2, 2 * sec, 2 * sec},
		{exponential, sec, 60 * sec, false, 6, 32 * sec, 32 * sec},
		{exponential, sec, 60 * sec, false, 7, 60 * sec, 60 * sec},
		{exponential, sec, 60 * sec, true, 2, sec, 2 * sec},
		{exponential, sec, 60 * sec, true, 9, 30 * sec, 60 * sec}, // the jitter is still there at the cap
		{exponential, 20 * ms, 60 * sec, false, 1, 100 * ms, 100 * ms},
		{exponential, 20 * ms, 60 * sec, false, 3, 100 * ms, 100 * ms},
		{exponential, 20 * ms, 60 * sec, false, 4, 160 * ms, 160 * ms},
		{exponential, 20 * ms, 60 * sec, true, 4, 100 * ms, 160 * ms}, // the floor holds for the jitter too
		{exponential, 0, 60 * sec, false, 50, 100 * ms, 100 * ms},
		{exponential, 0, 60 * sec, false, 100, 100 * ms, 100 * ms}, // nothing doubled stays nothing
		{exponential, sec, 50 * ms, false, 1, 50 * ms, 50 * ms},    // the cap beats the floor
		{linear, sec, 60 * sec, false, 1, 2 * sec, 2 * sec},
		{linear, 3 * sec, 60 * sec, false, 1, 3 * sec, 3 * sec},
		{linear, 3 * sec, 60 * sec, false, 9, 3 * sec, 3 * sec}, // constant
		{linear, 3 * sec, 60 * sec, true, 9, 2 * sec, 3 * sec},  // half of 3 s is below the floor
		{linear, 8 * sec, 60 * sec, true, 1, 4 * sec, 8 * sec},
		{linear, sec, sec, false, 1, sec, sec},
		{fixed, sec, 60 * sec, false, 1, sec, sec},
		{fixed, sec, 60 * sec, false, 70, sec, sec},
		{fixed, sec, 60 * sec, true, 70, 500 * ms, sec},
		{fixed, 0, 60 * sec, false, 1, 100 * ms, 100 * ms},
		{fixed, 0, 60 * sec, true, 1, 100 * ms, 100 * ms},
		{jitter, sec, 60 * sec, false, 1, 100 * ms, sec},
		{jitter, sec, 60 * sec, true, 1, 100 * ms, sec}, // spread already: the flag adds nothing
		{jitter, sec, 60 * sec, false, 3, 100 * ms, 4 * sec},
		{jitter, sec, 60 * sec, false, 9, 100 * ms, 60 * sec},
		{jitter, 0, 60 * sec, false, 9, 100 * ms, 100 * ms},
		{jitter, sec, 50 * ms, false, 9, 50 * ms, 50 * ms},
		{none, sec, 60 * sec, false, 1, 0, 0},
		{none, sec, 60 * sec, true, 9, 0, 0},
		{increasing, sec, 60 * sec, false, 1, sec, sec},
		{increasing, sec, 60 * sec, false, 7, 7 * sec, 7 * sec},
		{increasing, sec, 60 * sec, false, 61, 60 * sec, 60 * sec},
		{increasing, sec, 60 * sec, true, 4, 2 * sec, 4 * sec},
		{increasing, ms, 60 * sec, false, 1, ms, ms}, // no floor
		{increasing, 0, 60 * sec, false, 100, 0, 0},
		{increasing, 1, maxInt, false, math.MaxInt - 1, maxInt - 1, maxInt - 1},
		{exponential, sec, 60 * sec, false, 0, sec, sec},
		{exponential, sec, 60 * sec, false, -5, sec, sec},
		{exponential, -sec, 60 * sec, true, 1, 100 * ms, 100 * ms},
		{exponential, sec, -sec, true, 1, 0, 0},
		{"unheard of", sec, 60 * sec, true, 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s base %v max %v jitter %v n %d", tt.strategy, tt.base, tt.most, tt.jitter, tt.n), func(t *testing.T) {
			r := resilient.RetryPolicy{Backoff: tt.strategy, BaseDelay: tt.base, MaxDelay: tt.most, Jitter: tt.jitter}
			shortest, longest := r.Delays(tt.n)
			assert.Equal(t, tt.shortest, shortest, "shortest")
			assert.Equal(t, tt.longest, longest, "longest")
		})
	}
}

func TestR7StrategiesByName(t *testing.T) {
	assert.Equal(t, []resilient.Backoff{"exponential", "linear", "fixed", "jitter", "none", "linear_increasing"}, resilient.Backoffs())
	for _, b := range resilient.Backoffs() {
		assert.True(t, b.Valid(), b)
	}
	for _, b := range []resilient.Backoff{"", "Exponential", "random", " fixed"} {
		assert.False(t, b.Valid(), b)
		assert.Zero(t, b.Floor())
	}
	resilient.Backoffs()[0] = "changed"
	assert.Equal(t, resilient.BackoffExponential, resilient.Backoffs()[0], "the slice is the caller's")
}

func TestP1ExponentialNeitherOverflowsNorShrinks(t *testing.T) {
	r := resilient.RetryPolicy{Backoff: resilient.BackoffExponential, BaseDelay: sec, MaxDelay: maxInt}
	before := time.Duration(0)
	for n := 1; n <= 200; n++ {
		shortest, longest := r.Delays(n)
		require.Positive(t, shortest, n)
		require.Equal(t, shortest, longest)
		require.GreaterOrEqual(t, shortest, before, n)
		before = shortest
	}
	r.MaxDelay = 30 * sec
	for n := 6; n <= 200; n++ {
		_, longest := r.Delays(n)
		require.Equal(t, 30*sec, longest, n)
	}
	_, longest := r.Delays(5)
	assert.Equal(t, 16*sec, longest)
}

func TestP6CapHoldsForEveryAttempt(t *testing.T) {
	for _, b := range []resilient.Backoff{resilient.BackoffExponential, resilient.BackoffLinearIncreasing} {
		r := resilient.RetryPolicy{Backoff: b, BaseDelay: 200 * ms, MaxDelay: 5 * sec}
		for n := 37; n <= 2000; n++ {
			shortest, longest := r.Delays(n)
			require.Equal(t, 5*sec, shortest, n)
			require.Equal(t, 5*sec, longest, n)
		}
	}
}

func TestA47NeverOutOfRange(t *testing.T) {
	for _, b := range resilient.Backoffs() {
		for base := time.Nanosecond; base <= time.Hour; base *= 7 {
			for _, most := range []time.Duration{time.Nanosecond, ms, 59 * time.Minute, 24 * time.Hour, maxInt} {
				for _, jitter := range []bool{false, true} {
					r := resilient.RetryPolicy{Backoff: b, BaseDelay: base, MaxDelay: most, Jitter: jitter}
					for n := 1; n <= 5000; n += 1 + n/8 {
						shortest, longest := r.Delays(n)
						ok := 0 <= shortest && shortest <= longest && longest <= most
						if b != resilient.BackoffNone {
							ok = ok && longest > 0
						}
						require.True(t, ok, "%+v retry %d: %v … %v", r, n, shortest, longest)
					}
				}
			}
		}
	}
}

func TestA50FloorsHoldForEveryStrategy(t *testing.T) {
	floors := map[resilient.Backoff]time.Duration{
		resilient.BackoffExponential: 100 * ms, resilient.BackoffFixed: 100 * ms, resilient.BackoffJitter: 100 * ms,
		resilient.BackoffLinear: 2 * sec, resilient.BackoffNone: 0, resilient.BackoffLinearIncreasing: 0,
	}
	require.Len(t, floors, len(resilient.Backoffs()))
	for b, floor := range floors {
		assert.Equal(t, floor, b.Floor(), b)
		for _, jitter := range []bool{false, true} {
			for n := 1; n <= 20; n++ {
				r := resilient.RetryPolicy{Backoff: b, BaseDelay: time.Nanosecond, MaxDelay: 60 * sec, Jitter: jitter}
				shortest, _ := r.Delays(n)
				require.GreaterOrEqual(t, shortest, floor, "%s retry %d", b, n)
			}
		}
		if floor > 0 { // a cap below the floor is refused, not passed over
			p := resilient.DefaultPolicy()
			p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.MaxDelay = b, 0, floor-1
			assert.ErrorContains(t, p.Validate(), "Retry.MaxDelay")
			p.Retry.MaxDelay = floor
			assert.NoError(t, p.Validate())
		}
	}
}

func TestR7DelaysForAnyPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := resilient.RetryPolicy{
			Backoff:   rapid.SampledFrom(append(resilient.Backoffs(), "")).Draw(t, "strategy"),
			BaseDelay: time.Duration(rapid.Int64().Draw(t, "base")),
			MaxDelay:  time.Duration(rapid.Int64().Draw(t, "most")),
			Jitter:    rapid.Bool().Draw(t, "jitter"),
		}
		n := rapid.Int().Draw(t, "n")
		shortest, longest := r.Delays(n)
		most := max(0, r.MaxDelay)
		require.LessOrEqual(t, min(most, r.Backoff.Floor()), shortest)
		require.LessOrEqual(t, shortest, longest)
		require.LessOrEqual(t, longest, most)
		if n > 0 && n < math.MaxInt { // never shorter than the one before
			_, next := r.Delays(n + 1)
			require.GreaterOrEqual(t, next, longest)
		}
	})
}

// waits makes a call that fails always and returns the delays that were really waited for.
func waits(t *testing.T, p resilient.Policy) []time.Duration {
	t.Helper()
	var at []time.Time
	g := newGuard(t, p, nil)
	_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
		at = append(at, time.Now())
		return errDown
	})
	var all []time.Duration
	for i := 1; i < len(at); i++ {
		all = append(all, at[i].Sub(at[i-1]))
	}
	return all
}

func TestP2FullJitterOverAHundredAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := waits(t, steady(attempts(100), delay(100*ms), func(p *resilient.Policy) {
			p.Retry.Backoff = resilient.BackoffJitter
			p.Retry.MaxDelay = 2 * sec
		}))
		require.Len(t, all, 99)
		for i, d := range all {
			r := resilient.RetryPolicy{Backoff: resilient.BackoffJitter, BaseDelay: 100 * ms, MaxDelay: 2 * sec}
			shortest, longest := r.Delays(i + 1)
			assert.True(t, shortest <= d && d <= longest, "%v not in %v … %v", d, shortest, longest)
		}
	})
}

func TestP3WithoutJitterTheBaseIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		assert.Equal(t, []time.Duration{1234567891, 1234567891}, waits(t, steady(delay(1234567891))))
	})
}

func TestP5A49JitterIsStillThereAtTheCap(t *testing.T) {
	for _, b := range []resilient.Backoff{resilient.BackoffExponential, resilient.BackoffFixed, resilient.BackoffJitter} {
		t.Run(string(b), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := steady(attempts(2), func(p *resilient.Policy) {
					p.Retry = resilient.RetryPolicy{
						MaxAttempts: 2, Backoff: b, BaseDelay: time.Minute, MaxDelay: time.Minute, Jitter: true,
					}
				})
				g := newGuard(t, p, nil)
				drawn := map[time.Duration]bool{}
				shortest, longest := time.Hour, time.Duration(0)
				for range 1000 {
					start := time.Now()
					fn, _ := fails(1)
					_, err := resilient.Execute(t.Context(), g, get, fn)
					require.NoError(t, err)
					d := time.Since(start)
					drawn[d] = true
					shortest, longest = min(shortest, d), max(longest, d)
				}
				least, most := p.Retry.Delays(1)
				require.Equal(t, time.Minute, most)
				assert.GreaterOrEqual(t, len(drawn), 100)
				assert.GreaterOrEqual(t, shortest, least)
				assert.LessOrEqual(t, longest, most)
				width := most - least // a thousand draws come near both ends
				assert.Less(t, shortest, least+width/20)
				assert.Greater(t, longest, most-width/20)
			})
		})
	}
}

func TestP7A51DelaysOfNanoseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for base := range time.Duration(10) {
			for _, b := range resilient.Backoffs() {
				p := steady(attempts(100), func(p *resilient.Policy) {
					p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.Jitter = b, base, true
					p.Retry.MaxDelay = max(base, b.Floor())
				})
				for i, d := range waits(t, p) {
					shortest, longest := p.Retry.Delays(i + 1)
					require.True(t, shortest <= d && d <= longest, "%s base %d retry %d: %v", b, base, i+1, d)
				}
			}
		}
	})
}

// Both ends can occur, which shows where there is nothing in between.
func TestJitterDrawsBothEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawn := map[time.Duration]int{}
		for _, d := range waits(t, steady(attempts(100), func(p *resilient.Policy) {
			p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.MaxDelay, p.Retry.Jitter = resilient.BackoffLinearIncreasing, 1, 1, true
		})) {
			drawn[d]++
		}
		assert.Len(t, drawn, 2)
		assert.Greater(t, drawn[0], 10)
		assert.Greater(t, drawn[1], 10)
	})
}

// And nothing beyond them, where no cap would hide it.
func TestJitterDrawsNothingBeyondItsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawn := map[time.Duration]bool{}
		for range 100 {
			for _, d := range waits(t, steady(attempts(2), func(p *resilient.Policy) {
				p.Retry.Backoff, p.Retry.BaseDelay, p.Retry.MaxDelay, p.Retry.Jitter = resilient.BackoffLinearIncreasing, 1, sec, true
			})) {
				drawn[d] = true
			}
		}
		assert.Equal(t, map[time.Duration]bool{0: true, 1: true}, drawn)
	})
}

func TestP18ConcurrentCallsDoNotShareTheirBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := steady(attempts(4), func(p *resilient.Policy) { p.Retry.Backoff = resilient.BackoffExponential })
		seen := &recorder{}
		g := newGuard(t, p, &resilient.Options{Observers: []resilient.Observer{seen}})
		for range 100 {
			go func() { _ = resilient.Do(t.Context(), g, get, returns(errDown)) }()
			time.Sleep(10 * ms)
		}
		time.Sleep(time.Minute)
		byAttempt := map[int][]time.Duration{}
		for _, e := range recorded[resilient.RetryScheduled](seen) {
			byAttempt[e.Attempt] = append(byAttempt[e.Attempt], e.Delay)
		}
		assert.Equal(t, map[int][]time.Duration{
			1: slices.Repeat([]time.Duration{sec}, 100),
			2: slices.Repeat([]time.Duration{2 * sec}, 100),
			3: slices.Repeat([]time.Duration{4 * sec}, 100),
		}, byAttempt)
	})
}

func TestR8ACallKeepsTheDelaysThatItBeganWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, steady(), nil)
		start := time.Now()
		var at []time.Duration
		_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
			at = append(at, time.Since(start))
			assert.NoError(t, g.SetPolicy(steady(delay(7*sec), attempts(9))))
			return errDown
		})
		assert.Equal(t, []time.Duration{0, sec, 2 * sec}, at)
		start, at = time.Now(), nil
		_ = resilient.Do(t.Context(), g, get, func(context.Context) error {
			at = append(at, time.Since(start))
			return errDown
		})
		require.Len(t, at, 9, "the next call has the new policy")
		assert.Equal(t, 7*sec, at[1])
	})
}

// The last doubling that a duration can hold is made, and the one after it is the end of the range.
func TestExponentialToTheEndOfTheRange(t *testing.T) {
	p := resilient.RetryPolicy{Backoff: resilient.BackoffExponential, BaseDelay: 1, MaxDelay: math.MaxInt64}
	for n, want := range map[int]time.Duration{62: 1 << 61, 63: 1 << 62, 64: math.MaxInt64, 65: math.MaxInt64} {
		shortest, longest := p.Delays(n)
		assert.Equal(t, want, shortest, "%d", n)
		assert.Equal(t, want, longest, "%d", n)
	}
}

// So does the growth by steps.
func TestLinearIncreasingToTheEndOfTheRange(t *testing.T) {
	p := resilient.RetryPolicy{Backoff: resilient.BackoffLinearIncreasing, BaseDelay: math.MaxInt64 / 3, MaxDelay: math.MaxInt64}
	for n, want := range map[int]time.Duration{2: 2 * (math.MaxInt64 / 3), 3: 3 * (math.MaxInt64 / 3), 4: math.MaxInt64} {
		_, longest := p.Delays(n)
		assert.Equal(t, want, longest, "%d", n)
	}
}
