package breaker_test

import (
	"math"
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
	s.ProbeLease = time.Hour
	assert.Equal(t, time.Hour, s.LeaseFor(time.Second))
}
