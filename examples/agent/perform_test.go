package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// figuresOf are those that the table must show, written down a second time: the program's own are not what decides.
// There are 2 replicas with 10 tasks each in the outage, 2 each in the cooldowns that follow, 10 each at its end.
var figuresOf = map[breakers]struct {
	wasted, answered, cooldown int
	probes                     string // at the end
}{
	noBreaker: {200, 0, 40, "s. ×20"},
	local:     {6, 20, 2, "P. ×2  s. ×18"},
	shared:    {3, 20, 1, "P.  s. ×19"},
}

// The point of it all, and what models of other kinds come to (R26, R30, A105 … A117).
func TestPerform(t *testing.T) {
	for server, start := range servers {
		t.Run(server, func(t *testing.T) {
			seen := perform(t.Context(), start(t))
			require.Empty(t, seen.errs)
			for who := range figuresOf {
				t.Run(string(who), func(t *testing.T) { checkOutage(t, who, seen.outages[who]) })
			}
			require.Len(t, seen.reports, len(variants))
			for _, r := range seen.reports {
				t.Run(r.name, func(t *testing.T) { assert.Equal(t, r.expected, r.seen) })
			}
		})
	}
}

func checkOutage(t *testing.T, who breakers, phases []phase) {
	want := figuresOf[who]
	require.Len(t, phases, 5)
	require.Len(t, phases[0].tasks, 20)
	down := phases[0].figures()
	assert.Equal(t, want.wasted, down.wasted)
	assert.Equal(t, want.wasted, down.hits, "each reaches the backend")
	assert.Equal(t, want.answered, down.answered)
	for _, p := range phases[1:4] {
		require.Len(t, p.tasks, 4)
		assert.Equal(t, want.cooldown, p.figures().wasted, p.name)
		assert.Equal(t, want.cooldown, p.figures().hits, p.name)
	}
	up := phases[4].figures()
	assert.Zero(t, up.wasted)
	assert.Equal(t, 20, up.answered)
	assert.Equal(t, 20, up.hits, "all are answered by the backend")
	assert.Equal(t, want.probes, up.timeline, "the first task is the probe")
	for _, p := range phases {
		for _, done := range p.tasks {
			assert.LessOrEqual(t, len(done.rounds), 10)
		}
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
