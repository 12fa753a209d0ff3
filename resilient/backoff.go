package resilient

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Backoff is a strategy: how the delay before a retry follows from the retry's
// number n = 1, 2, … The zero value is none of them, and not valid.
type Backoff string

const (
	// BackoffExponential waits base·2^(n-1), and at least 0.1 s.
	BackoffExponential Backoff = "exponential"
	// BackoffLinear waits the constant max(base, 2 s). The name is kept from the
	// configuration that users have; what grows linearly is
	// [BackoffLinearIncreasing].
	BackoffLinear Backoff = "linear"
	// BackoffFixed waits base, and at least 0.1 s.
	BackoffFixed Backoff = "fixed"
	// BackoffJitter is full jitter: it waits anything between 0.1 s and
	// base·2^(n-1).
	BackoffJitter Backoff = "jitter"
	// BackoffNone does not wait.
	BackoffNone Backoff = "none"
	// BackoffLinearIncreasing waits base·n.
	BackoffLinearIncreasing Backoff = "linear_increasing"
)

// Backoffs returns the strategies there are.
func Backoffs() []Backoff {
	return []Backoff{BackoffExponential, BackoffLinear, BackoffFixed, BackoffJitter, BackoffNone, BackoffLinearIncreasing}
}

// Valid reports whether b is one of [Backoffs].
func (b Backoff) Valid() bool { return slices.Contains(Backoffs(), b) }

// Floor is the least delay of the strategy, where the policy's MaxDelay allows it.
func (b Backoff) Floor() time.Duration {
	switch b {
	case BackoffExponential, BackoffFixed, BackoffJitter:
		return 100 * time.Millisecond
	case BackoffLinear:
		return 2 * time.Second
	default:
		return 0
	}
}

// Delays returns the shortest and the longest delay before retry n = 1, 2, …
// They are equal without jitter. It is defined for every input: the result is
// never negative and never above MaxDelay.
func (r RetryPolicy) Delays(n int) (shortest, longest time.Duration) {
	s, within := r.spread(n), r.bounds()
	return within.clamp(s.from), within.clamp(s.to)
}

// spread is what one delay is drawn from: evenly from [from, to], then lifted to
// the floor and cut at the cap.
type spread struct{ from, to time.Duration }

// bounds are the floor and the cap of all delays.
type bounds struct{ floor, ceiling time.Duration }

func (r RetryPolicy) bounds() bounds {
	top := max(0, r.MaxDelay)
	return bounds{floor: min(r.Backoff.Floor(), top), ceiling: top}
}

func (r RetryPolicy) spread(n int) spread {
	within := r.bounds()
	d := min(r.raw(n), within.ceiling)
	switch {
	case r.Backoff == BackoffJitter:
		return spread{from: within.floor, to: max(within.floor, d)}
	case r.Jitter:
		return spread{from: d / 2, to: d}
	default:
		return spread{from: d, to: d}
	}
}

// raw is the strategy's own delay, before floor, cap and jitter. One that leaves the range
// stays at its end.
func (r RetryPolicy) raw(n int) time.Duration {
	base := max(0, r.BaseDelay)
	n = max(1, n)
	switch r.Backoff {
	case BackoffExponential, BackoffJitter:
		if base > math.MaxInt64>>(n-1) {
			return math.MaxInt64
		}
		return base << (n - 1)
	case BackoffLinearIncreasing:
		if time.Duration(n) > math.MaxInt64/max(1, base) {
			return math.MaxInt64
		}
		return base * time.Duration(n)
	case BackoffLinear:
		return max(base, r.Backoff.Floor())
	case BackoffFixed:
		return base
	default:
		return 0
	}
}

// draw picks one delay.
func (s spread) draw() time.Duration {
	return s.from + time.Duration(rand.Uint64N(uint64(s.to-s.from)+1)) // both ends can occur
}

func (b bounds) clamp(d time.Duration) time.Duration { return min(b.ceiling, max(b.floor, d)) }

// schedule is a policy's delays: retry 1 at index 0 and so on. It is computed once, when
// a retry first asks: most guards never need the room.
type schedule struct {
	within bounds
	before []spread
}

func newSchedule(r RetryPolicy, within bounds) *schedule {
	s := &schedule{within: within, before: make([]spread, r.MaxAttempts-1)}
	for i := range s.before {
		s.before[i] = r.spread(i + 1)
	}
	return s
}

// draw picks the delay before retry n.
func (s *schedule) draw(n int) time.Duration { return s.within.clamp(s.before[n-1].draw()) }
