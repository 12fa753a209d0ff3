package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The point of it all, by figures that stand here a second time: the table of the program must not be what decides.
// Two replicas with ten tasks each in the outage, with two each in the cooldowns that follow, with ten each at its end.
func TestOutage(t *testing.T) {
	for name, test := range map[string]struct {
		who                        breakers
		server                     func(t *testing.T) string
		wasted, answered, cooldown int
		probes                     string // at the end
	}{
		"no breaker":               {noBreaker, nil, 200, 0, 40, "s. ×20"},
		"local breakers":           {local, nil, 6, 20, 2, "P. ×2  s. ×18"},
		"a shared one":             {shared, startEmbedded, 3, 20, 1, "P.  s. ×19"},
		"a shared one, real Redis": {shared, startRedis, 3, 20, 1, "P.  s. ×19"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := ""
			if test.server != nil {
				url = test.server(t)
			}
			phases, err := outage(t.Context(), test.who, url)
			require.NoError(t, err)
			require.Len(t, phases, 5)

			down := phases[0].figures()
			require.Len(t, phases[0].tasks, 20)
			assert.Equal(t, test.wasted, down.wasted)
			assert.Equal(t, test.wasted, down.hits, "each reaches the backend")
			assert.Equal(t, test.answered, down.answered)
			for _, p := range phases[1:4] {
				require.Len(t, p.tasks, 4)
				assert.Equal(t, test.cooldown, p.figures().wasted, p.name)
				assert.Equal(t, test.cooldown, p.figures().hits, p.name)
			}
			up := phases[4].figures()
			assert.Zero(t, up.wasted)
			assert.Equal(t, 20, up.answered)
			assert.Equal(t, 20, up.hits, "all are answered by the backend")
			assert.Equal(t, test.probes, up.timeline, "the first task is the probe")
			for _, done := range append(phases[0].tasks, phases[1].tasks...) {
				assert.LessOrEqual(t, len(done.rounds), 10)
			}
		})
	}
}

// A105 … A117: what models of other kinds come to.
func TestVariants(t *testing.T) {
	for server, start := range servers {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			url := start(t)
			for _, v := range variants {
				t.Run(v.name, func(t *testing.T) {
					t.Parallel()
					assert.Equal(t, v.expected, v.perform(t.Context(), url).seen)
				})
			}
		})
	}
}

// Without its guard each of them that uses search at all asks the backend in every round: what is seen above is the
// guard's doing.
func TestVariantsWithoutBreaker(t *testing.T) {
	for name, test := range map[string]struct {
		ask  model
		hits int // in a task
	}{
		"persistent": {persistent, 10}, "stubborn": {stubborn, 10}, "parallel": {parallel, 30}, "obedient": {obedient, 10}, "lazy": {lazy, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := newWorld(t.Context(), noBreaker, 0, "")
			require.NoError(t, err)
			defer func() { assert.NoError(t, w.close()) }()
			w.backend.down.Store(true)
			_, err = w.work(t.Context(), test.ask, 1)
			require.NoError(t, err)
			assert.Equal(t, 2*test.hits, w.hits())
		})
	}
}

// A figure that is measured while a cooldown ends is none.
func TestInTime(t *testing.T) {
	assert.NoError(t, inTime(time.Now()))
	assert.ErrorContains(t, inTime(time.Now().Add(-longCooldown-time.Second)), "too slow")
}

// The cooldown of a generation is the short one, and the next one's the long one, whatever the generation is. What Redis
// is told is in microseconds, so there is nothing left of a microsecond's parts.
func TestLimitsAt(t *testing.T) {
	for generation := range 5 {
		limits := limitsAt(generation)
		of := func(generation int) time.Duration {
			return time.Duration(float64(limits.RecoveryTimeout) * math.Pow(limits.RecoveryMultiplier, float64(generation-1)))
		}
		assert.Equal(t, shortCooldown, of(generation))
		assert.Equal(t, longCooldown, of(generation+1))
		assert.Zero(t, limits.RecoveryTimeout%time.Microsecond)
	}
}
