package breaker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// openedAt is a machine that has opened at that time, in that round.
func openedAt(at time.Duration, round uint64, s breaker.Settings) breaker.Machine {
	m := breaker.Machine{Round: round - 1}
	_, permit, _ := m.Acquire(at, 0, s)
	m, _ = m.Settle(permit, breaker.Failure, true, at, s)
	return m
}

// The jitter only lengthens, by no more than its share and five minutes, and is the same
// whenever it is asked for.
func TestJitterOnlyLengthens(t *testing.T) {
	const at = time.Hour
	for name, tt := range map[string]struct {
		set   func(*breaker.Settings)
		least time.Duration // of the open time
		most  time.Duration
	}{
		"none":       {func(s *breaker.Settings) { s.RecoveryJitter = 0 }, 10 * time.Second, 10 * time.Second},
		"a fifth":    {func(s *breaker.Settings) { s.RecoveryJitter = 0.2 }, 10 * time.Second, 12 * time.Second},
		"all of it":  {func(s *breaker.Settings) { s.RecoveryJitter = 1 }, 10 * time.Second, 20 * time.Second},
		"at the cap": {func(s *breaker.Settings) { s.RecoveryJitter, s.MaxRecoveryTimeout = 1, s.RecoveryTimeout }, 10 * time.Second, 20 * time.Second},
		"of a day": {func(s *breaker.Settings) {
			s.RecoveryJitter, s.RecoveryTimeout = 1, 24*time.Hour
		}, 24 * time.Hour, 24*time.Hour + 5*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := small()
			s.Cooldown = 0
			tt.set(&s)
			require.NoError(t, s.Validate())
			sum, seen := time.Duration(0), map[time.Duration]bool{}
			for round := uint64(1); round <= 1000; round++ {
				m := openedAt(at, round, s)
				open := m.OpenUntil(s) - at
				assert.Equal(t, open, m.OpenUntil(s)-at)
				assert.GreaterOrEqual(t, open, tt.least)
				assert.LessOrEqual(t, open, tt.most)
				sum += open - tt.least
				seen[open] = true
			}
			if tt.most == 24*time.Hour+5*time.Minute {
				return // nearly all are at the bound
			}
			assert.InDelta(t, float64(tt.most-tt.least)/2, float64(sum/1000), float64(tt.most-tt.least)/20, "evenly spread")
			if tt.most > tt.least {
				assert.Greater(t, len(seen), 900)
			}
		})
	}
}

// Processes that share a circuit draw the same share, in each version: these are SplitMix64's numbers.
func TestJitterStaysWhatItIs(t *testing.T) {
	s := small()
	s.Cooldown, s.RecoveryTimeout, s.RecoveryJitter = 0, 100*time.Second, 1
	for round, want := range map[uint64]time.Duration{
		1:                  133_816_660_127,
		2:                  185_867_646_877,
		3:                  111_845_963_771,
		0x9e3779b97f4a7c15: 188_331_080_821, // the generator's first, from 0: 0xe220a8397b1dcdaf
	} {
		assert.Equal(t, want, openedAt(time.Hour, round, s).OpenUntil(s)-time.Hour, "round %d", round)
	}
}

// It shortens neither what the dependency has asked for nor the cooldown.
func TestJitterLengthensAHint(t *testing.T) {
	s := small()
	s.RecoveryJitter = 0.5
	m, permit, _ := breaker.Machine{}.Acquire(1, 0, s)
	m, _ = m.Withhold(permit, time.Minute, 1, s)
	open := m.OpenUntil(s) - 1
	assert.Greater(t, open, time.Minute)
	assert.LessOrEqual(t, open, 90*time.Second)

	s.Cooldown = time.Hour
	m.LastHalfOpen = 1
	assert.Equal(t, time.Hour+1, m.OpenUntil(s))
}

// Circuits of one name that share nothing do not come back together; a snapshot, a
// rejection and the first probe agree; another jitter holds at once.
func TestJitterOfCircuits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := small()
		s.RecoveryJitter = 1
		ends := map[time.Time]bool{}
		for range 20 {
			c := newCircuit(t, s, nil)
			trip2(c)
			ends[c.Snapshot().Until] = true
		}
		assert.Len(t, ends, 20)

		c := newCircuit(t, s, nil)
		trip2(c)
		until := c.Snapshot().Until
		assert.Equal(t, until, c.Rejects(c.Now()).Until)
		time.Sleep(time.Until(until) - 1)
		assert.False(t, attempt(c, breaker.Success))
		time.Sleep(time.Nanosecond)
		require.True(t, attempt(c, breaker.Success))

		trip2(c)
		time.Sleep(15 * time.Second) // the cooldown
		s.RecoveryJitter = 0
		require.NoError(t, c.SetSettings(s))
		require.True(t, attempt(c, breaker.Success))
		c.Reset()
		trip2(c)
		assert.Equal(t, time.Now().Add(10*time.Second), c.Snapshot().Until)
	})
}

// All that share a circuit agree on when it is due, and open by themselves apart.
func TestJitterOfAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settings := small()
		settings.RecoveryJitter, settings.Cooldown = 1, 0
		s := newShelf()
		fleet := fleetOf(t, 5, s, settings)
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		s.tell("dep", true, true)
		until := fleet[0].Snapshot().Until
		require.Greater(t, time.Until(until), 10*time.Second)
		for _, c := range fleet {
			require.Equal(t, breaker.Open, c.State())
			require.Equal(t, until, c.Snapshot().Until)
		}
		s.sent()
		time.Sleep(time.Until(until) - time.Microsecond)
		for _, c := range fleet {
			require.False(t, call(c, nil))
		}
		assert.Empty(t, s.sent(), "the store would have granted a probe already, but nobody asks")
		time.Sleep(time.Microsecond)
		require.True(t, call(fleet[3], nil))
		s.tell("dep", true, true)

		s.break_(errDown)
		ends := map[time.Time]bool{}
		for _, c := range fleet {
			for c.State() != breaker.Open {
				call(c, errDown)
				time.Sleep(time.Millisecond)
			}
			ends[c.Snapshot().Until] = true
		}
		assert.Len(t, ends, 5)
	})
}

// No jitter, share or time makes an open time that is shorter, or that never ends.
func TestJitterOfAnySettings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := breaker.DefaultSettings()
		s.RecoveryTimeout = time.Duration(rapid.Int64Range(1, int64(24*time.Hour)).Draw(t, "recovery"))
		s.RecoveryMultiplier = rapid.Float64Range(1, 100).Draw(t, "multiplier")
		plain := s
		s.RecoveryJitter = rapid.Float64Range(0, 1).Draw(t, "jitter")
		require.NoError(t, s.Validate())
		m := openedAt(1, rapid.Uint64Range(1, 1<<62).Draw(t, "round"), s)
		m.Generation = rapid.IntRange(1, 1<<30).Draw(t, "generation")
		least := m.OpenUntil(plain)
		require.GreaterOrEqual(t, m.OpenUntil(s), least)
		require.LessOrEqual(t, m.OpenUntil(s), least+5*time.Minute)
	})
}
