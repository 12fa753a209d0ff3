package breaker_test

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func TestOpenForAndLeaseFor(t *testing.T) {
	s := breaker.DefaultSettings()
	s.RecoveryTimeout, s.RecoveryMultiplier, s.MaxRecoveryTimeout = 10*time.Second, 3, time.Minute
	for generation, want := range map[int]time.Duration{
		math.MinInt: 10 * time.Second, 0: 10 * time.Second, 1: 10 * time.Second, 2: 30 * time.Second,
		3: time.Minute, 4: time.Minute, math.MaxInt: time.Minute,
	} {
		assert.Equal(t, want, s.OpenFor(generation), generation)
	}
	assert.Equal(t, 3*time.Second, s.LeaseFor(2*time.Second))
	assert.Equal(t, 110*time.Second, s.LeaseFor(100*time.Second))
	assert.Equal(t, 330*time.Second, s.LeaseFor(0))
	assert.Equal(t, time.Second+1, s.LeaseFor(1))
	s.ProbeLease = time.Hour
	assert.Equal(t, time.Hour, s.LeaseFor(time.Second))
}

func TestLongestOpenFor(t *testing.T) {
	s := breaker.DefaultSettings()
	s.RecoveryTimeout, s.RecoveryMultiplier = 10*time.Second, 100
	assert.Equal(t, 10*time.Second, s.LongestOpenFor(1), "without jitter")
	s.RecoveryJitter = 0.5
	assert.Equal(t, 15*time.Second, s.LongestOpenFor(1))
	assert.Equal(t, 15*time.Second, s.LongestOpenFor(0))
	assert.Equal(t, 1000*time.Second+5*time.Minute, s.LongestOpenFor(2), "no more than five minutes longer")
}

// P62: what is foretold of a share is exact, too.
func TestFailuresAmong(t *testing.T) {
	s := breaker.DefaultSettings()
	assert.Zero(t, s.FailuresAmong(100), "no such rule")
	assert.Zero(t, s.SlowAmong(100), "no such rule")
	s.MinimumCalls = 10
	for _, c := range []struct {
		rate        float64
		calls, want int
	}{
		{0.57, 100, 57}, {0.5, 200, 100}, {0.5, 199, 100}, {0.5, 9, 0}, {0.5, 10, 5}, {0.01, 10, 1},
		{1, 10, 10}, {1, math.MaxInt, math.MaxInt}, {0.000001, 1_000_000, 1}, {0.000001, 1_000_001, 2}, {1.0 / 3, 10, 4},
		{0.5, 0, 0}, {0.5, -1, 0},
	} {
		s.FailureRate, s.SlowCallRate = c.rate, 0
		assert.Equal(t, c.want, s.FailuresAmong(c.calls), "%+v", c)
		s.FailureRate, s.SlowCallRate = 0, c.rate
		assert.Equal(t, c.want, s.SlowAmong(c.calls), "%+v", c)
	}
	if strconv.IntSize == 64 { // rounding up leaves the range of 64 bits in between
		var calls, want uint64 = 323_627_089_012_448_273, 184_467_440_737_095_516
		s.SlowCallRate = 0.57
		assert.Equal(t, int(want), s.SlowAmong(int(calls)))
	}
	s.MinimumCalls = 0 // not valid, and nothing to divide by
	assert.Zero(t, s.SlowAmong(0))
}
