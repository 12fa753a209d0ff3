package breaker_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

func small() breaker.Settings {
	s := breaker.DefaultSettings()
	s.FailureThreshold = 2
	s.RecoveryTimeout = 10 * time.Second
	s.Cooldown = 15 * time.Second
	return s
}

// world is a machine with what surrounds it: a clock, a counter, and the permits
// that were granted. It is a value, so that a search can branch from it.
type world struct {
	machine  breaker.Machine
	now      time.Duration
	run      int // consecutive failures of the closed round
	permits  [3]breaker.Permit
	leases   [3]time.Duration // when they end
	settled  [3]bool
	granted  int
	settings breaker.Settings
}

const limit = 5 * time.Second // of a call; the lease follows from it

// event is one thing that can happen to a circuit.
type event struct {
	name  string
	apply func(w *world, check func(ok bool, invariant string))
}

func events() []event {
	all := []event{
		{"acquire", acquire},
		{"wait for what comes next", func(w *world, _ func(bool, string)) { w.now = wakeUp(w) }},
		{"wait 1 s", func(w *world, _ func(bool, string)) { w.now += time.Second }},
		{"wait for a lease", func(w *world, _ func(bool, string)) { w.now += limit + time.Second }},
		{"force open", force(breaker.ForceOpen)},
		{"force closed", force(breaker.ForceClosed)},
		{"release", force(breaker.NoForce)},
		{"reset", reset},
		{"flip enabled", flip},
	}
	for i := range 3 {
		for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral} {
			all = append(all, event{fmt.Sprintf("settle %d %v", i, o), settle(i, o)})
		}
	}
	return all
}

// wakeUp is the next moment at which time alone makes a difference.
func wakeUp(w *world) time.Duration {
	at := w.now
	switch w.machine.State(w.settings) {
	case breaker.Open:
		at = w.machine.OpenUntil(w.settings)
	case breaker.HalfOpen:
		at = w.machine.FreeAt(w.now, w.settings)
	}
	return max(at, w.now)
}

func acquire(w *world, check func(bool, string)) {
	before := w.machine
	next, permit, ok := before.Acquire(w.now, limit, w.settings)
	if !ok {
		check(same(before, next, w.now), "a rejection changes nothing")
		state := before.State(w.settings)
		check(state != breaker.Closed && state != breaker.ForcedClosed && state != breaker.Disabled, "these states admit all")
		return
	}
	check(permit.Round() == next.Round, "a permit belongs to the round it was granted in")
	check(before.State(w.settings) != breaker.ForcedOpen, "forced open rejects all")
	if before.State(w.settings) == breaker.Open {
		check(next.Round == before.Round+1 && next.Beneath == breaker.HalfOpen && permit.Probe(), "entering half-open grants the first permit in the same step")
		check(w.now >= before.OpenUntil(w.settings), "no probe before its time")
		w.run = 0
	} else {
		check(next.Round == before.Round, "granting alone begins no round")
	}
	w.machine = next
	w.permits[w.granted%3], w.settled[w.granted%3] = permit, false
	w.leases[w.granted%3] = w.now + limit + time.Second
	w.granted++
}

func settle(i int, o breaker.Outcome) func(*world, func(bool, string)) {
	return func(w *world, check func(bool, string)) {
		if i >= w.granted {
			return
		}
		before, permit := w.machine, w.permits[i]
		run := w.run
		if before.State(w.settings) == breaker.Closed && permit.Round() == before.Round {
			switch o {
			case breaker.Success:
				run = 0
			case breaker.Failure:
				run++
			}
		}
		trip := run >= w.settings.FailureThreshold
		next, counted := before.Settle(permit, o, trip, w.now, w.settings)
		lapsed := permit.Probe() && w.now >= w.leases[i]
		if permit.Round() != before.Round || permit.Probe() && w.settled[i] || lapsed {
			check(same(before, next, w.now), "a result of another round, a second one, or one after the lease changes nothing")
			check(counted == (o == breaker.Neutral), "it is late, unless it had nothing to say")
			return
		}
		check(next.Round == before.Round || next.Round == before.Round+1, "one result, one round at most")
		if next.Round == before.Round+1 {
			check(counted && o != breaker.Neutral, "only an outcome that counts begins a round")
			run = 0
		}
		if next.Beneath == breaker.Open && before.Beneath == breaker.HalfOpen {
			check(next.Generation == before.Generation+1, "a failed probe raises the generation once")
		}
		if next.Beneath == breaker.Open && before.Beneath == breaker.Closed {
			check(next.Generation == 1 && trip, "a trip is the counter's word, and the first generation")
		}
		if next.Beneath == breaker.Closed {
			check(next.Generation == 0, "closed has no generation")
		}
		w.machine, w.run, w.settled[i] = next, run, true
	}
}

func force(f breaker.Force) func(*world, func(bool, string)) {
	return func(w *world, check func(bool, string)) {
		before := w.machine
		w.machine = before.SetForce(f, w.now)
		check(w.machine.Beneath == before.Beneath && w.machine.Generation == before.Generation, "a force lies over the state and leaves it")
		check((w.machine.Round == before.Round) == (f == before.Force), "a force that changes begins a round, one that does not does not")
		if w.machine.Round != before.Round {
			w.run = 0
			check(w.machine.LivePermits(w.now) == 0, "a force voids the permits that are out")
		}
	}
}

func reset(w *world, check func(bool, string)) {
	before := w.machine
	w.machine, w.run = before.Reset(w.now), 0
	m := w.machine
	check(m.Beneath == breaker.Closed && m.Force == breaker.NoForce && m.Generation == 0 && m.LastFailure == 0 && m.LastHalfOpen == 0, "reset clears all at once")
	check(m.Round == before.Round+1, "reset begins a round")
}

func flip(w *world, check func(bool, string)) {
	before, to := w.machine, w.settings
	to.Enabled = !to.Enabled
	w.machine, w.settings, w.run = before.Configure(w.settings, to, w.now), to, 0
	check(w.machine.Round == before.Round+1, "switching on or off begins a round")
}

func same(a, b breaker.Machine, now time.Duration) bool {
	return a.Beneath == b.Beneath && a.Force == b.Force && a.Round == b.Round && a.Generation == b.Generation &&
		a.LastFailure == b.LastFailure && a.LastHalfOpen == b.LastHalfOpen && a.Since == b.Since &&
		a.Successes == b.Successes && a.LivePermits(now) == b.LivePermits(now)
}

// invariants hold in every state that can be reached.
func invariants(w *world, check func(bool, string)) {
	m := w.machine
	check(m.LivePermits(w.now) <= w.settings.MaxProbes, "live permits never exceed the limit")
	if m.State(w.settings) == breaker.ForcedOpen {
		return
	}
	_, _, ok := m.Acquire(wakeUp(w), limit, w.settings)
	check(ok, "in every unforced state there is a time after which a permit is granted")
}

// worldKey tells worlds apart: what can follow depends on nothing else.
type worldKey struct {
	machine breaker.Key
	now     time.Duration
	run     int
	permits [3]breaker.Permit
	leases  [3]time.Duration
	settled [3]bool
	granted int
	enabled bool
}

func (w *world) key() worldKey {
	return worldKey{breaker.KeyOf(w.machine), w.now, w.run, w.permits, w.leases, w.settled, w.granted, w.settings.Enabled}
}

// TestMachineExhaustively goes through every sequence of events up to length 7, from
// each of the three states, of which many lead to the same world, from where one
// look is enough (R11 … R17, cases A5, A9, A15, A29, P74, P79, P86, P87, P117).
func TestMachineExhaustively(t *testing.T) {
	for _, limits := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}} {
		t.Run(fmt.Sprintf("probes %d needed %d", limits[0], limits[1]), func(t *testing.T) {
			t.Parallel()
			settings := small()
			settings.MaxProbes, settings.SuccessesToClose = limits[0], limits[1]
			type found struct {
				world
				path string
			}
			closed := world{now: 1, settings: settings}
			open, halfOpen := closed, closed
			open.machine = breaker.Machine{Beneath: breaker.Open, Generation: 1, LastFailure: 1}
			halfOpen.machine = breaker.Machine{Beneath: breaker.HalfOpen, Generation: 1, LastFailure: 1, LastHalfOpen: 1}
			level := []found{{closed, "closed"}, {open, "open"}, {halfOpen, "half-open"}}
			known := map[worldKey]bool{}
			reached := map[breaker.State]bool{}
			for range 7 {
				var deeper []found
				for _, from := range level {
					for _, e := range events() {
						next := found{from.world, from.path + ", " + e.name}
						check := func(ok bool, invariant string) {
							if !ok {
								require.Fail(t, invariant, "after %s", next.path)
							}
						}
						e.apply(&next.world, check)
						invariants(&next.world, check)
						reached[next.machine.State(next.settings)] = true
						if key := next.key(); !known[key] {
							known[key] = true
							deeper = append(deeper, next)
						}
					}
				}
				level = deeper
			}
			t.Logf("%d worlds", len(known))
			require.Greater(t, len(known), 10_000)
			require.Len(t, reached, 6, "every state was reached")
		})
	}
}

// TestSuccessesDoNotOutliveTheirRound is case A29 and P117: S, S, F, reopen, S.
func TestSuccessesDoNotOutliveTheirRound(t *testing.T) {
	s := small()
	s.SuccessesToClose = 3
	m := breaker.Machine{Beneath: breaker.Open, Generation: 1, LastFailure: 1}
	now := time.Duration(1)
	probe := func(o breaker.Outcome) {
		now = max(now, m.OpenUntil(s))
		next, permit, ok := m.Acquire(now, limit, s)
		require.True(t, ok)
		m, ok = next.Settle(permit, o, false, now, s)
		require.True(t, ok)
	}
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Success, breaker.Failure} {
		probe(o)
	}
	require.Equal(t, breaker.Open, m.Beneath)
	require.Equal(t, 2, m.Generation)
	probe(breaker.Success)
	require.Equal(t, breaker.HalfOpen, m.Beneath)
	require.Equal(t, 1, m.Successes)
}

// TestOpenUntil is R12, R25's arithmetic, and that a changed policy holds at once.
func TestOpenUntil(t *testing.T) {
	const s1 = time.Second
	base := breaker.Settings{RecoveryTimeout: 60 * s1, RecoveryMultiplier: 1, MaxRecoveryTimeout: 600 * s1, Cooldown: 30 * s1}
	with := func(f func(*breaker.Settings)) breaker.Settings { s := base; f(&s); return s }
	double := func(s *breaker.Settings) { s.RecoveryMultiplier = 2 }
	for name, tt := range map[string]struct {
		settings     breaker.Settings
		generation   int
		failure      time.Duration
		lastHalfOpen time.Duration
		want         time.Duration
	}{
		"fixed":                           {base, 1, 100 * s1, 0, 160 * s1},
		"fixed, late generation":          {base, 9, 100 * s1, 0, 160 * s1},
		"doubling, first":                 {with(double), 1, 0, 0, 60 * s1},
		"doubling, third":                 {with(double), 3, 0, 0, 240 * s1},
		"doubling, capped":                {with(double), 5, 0, 0, 600 * s1},
		"doubling, far beyond":            {with(double), 1_000_000, 0, 0, 600 * s1},
		"not a number":                    {with(func(s *breaker.Settings) { s.RecoveryMultiplier = math.NaN() }), 2, 0, 0, 600 * s1},
		"infinite":                        {with(func(s *breaker.Settings) { s.RecoveryMultiplier = math.Inf(1) }), 2, 0, 0, 600 * s1},
		"cooldown binds":                  {with(func(s *breaker.Settings) { s.Cooldown = 90 * s1 }), 1, 100 * s1, 99 * s1, 189 * s1},
		"cooldown does not bind":          {base, 1, 100 * s1, 99 * s1, 160 * s1},
		"cooldown without half-open ever": {with(func(s *breaker.Settings) { s.Cooldown = 900 * s1 }), 1, 100 * s1, 0, 160 * s1},
		"end of time":                     {base, 1, math.MaxInt64 - 5, 0, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			m := breaker.Machine{Beneath: breaker.Open, Generation: tt.generation, LastFailure: tt.failure, LastHalfOpen: tt.lastHalfOpen}
			assert.Equal(t, tt.want, m.OpenUntil(tt.settings))
		})
	}
}

// TestFreeAtAfterTheLimitWasLowered: with three probes out and one place left,
// three leases must lapse.
func TestFreeAtAfterTheLimitWasLowered(t *testing.T) {
	s := small()
	s.MaxProbes = 3
	m := breaker.Machine{Beneath: breaker.HalfOpen, Round: 1}
	var ok bool
	for i := range 3 {
		m, _, ok = m.Acquire(time.Duration(i)*time.Second, limit, s)
		require.True(t, ok)
	}
	require.Equal(t, limit+time.Second, m.FreeAt(3*time.Second, s))
	require.Zero(t, m.FreeAt(limit+time.Second, s), "the first has lapsed, at this moment")
	s.MaxProbes = 1
	require.Equal(t, limit+3*time.Second, m.FreeAt(3*time.Second, s))
	require.Equal(t, limit+3*time.Second, m.FreeAt(limit+time.Second, s), "the other two have to lapse as well")
	_, _, ok = m.Acquire(limit+3*time.Second-1, limit, s)
	require.False(t, ok)
	_, _, ok = m.Acquire(limit+3*time.Second, limit, s)
	require.True(t, ok)
}

// TestAfterTheLease: a probe that settles when its lease has lapsed is late, also
// when nobody has asked for its place meanwhile; until then it counts.
func TestAfterTheLease(t *testing.T) {
	s := small()
	for _, o := range []breaker.Outcome{breaker.Success, breaker.Failure, breaker.Unjudged} {
		m, permit, ok := breaker.Machine{Beneath: breaker.HalfOpen, Round: 1}.Acquire(1, limit, s)
		require.True(t, ok)
		end := 1 + limit + time.Second
		late, counted := m.Settle(permit, o, false, end, s)
		require.False(t, counted)
		require.True(t, same(m, late, end))
		_, counted = m.Settle(permit, o, false, end-1, s)
		require.True(t, counted)
		next, _, ok := m.Acquire(end, limit, s)
		require.True(t, ok)
		require.Len(t, next.Leases, 1, "the one that has lapsed is gone")
	}
}

// TestHoldIsForAWhile: a dependency that asks for no time at all has failed like any other.
func TestHoldIsForAWhile(t *testing.T) {
	s := small()
	m, permit, _ := breaker.Machine{}.Acquire(1, limit, s)
	for _, hold := range []time.Duration{-1, 0} {
		next, counted := m.Withhold(permit, hold, 2, s)
		require.True(t, counted)
		require.Equal(t, breaker.Closed, next.Beneath, "%v", hold)
		require.EqualValues(t, 2, next.LastFailure)
	}
	next, _ := m.Withhold(permit, 1, 2, s)
	require.Equal(t, breaker.Open, next.Beneath)
	require.EqualValues(t, 1, next.Hold)
	next, probe, ok := next.Acquire(next.OpenUntil(s), limit, s)
	require.True(t, ok)
	require.EqualValues(t, 1, next.Hold, "until it is closed")
	next, _ = next.Settle(probe, breaker.Success, false, next.Since, s)
	require.Equal(t, breaker.Closed, next.Beneath)
	require.Zero(t, next.Hold)
	next, _ = m.Settle(permit, breaker.Failure, true, 2, s)
	require.Equal(t, breaker.Open, next.Beneath)
	require.Zero(t, next.Hold)
}

// TestAForceLapsesInEachStep: from its end on it is as if it had been released, also when an outcome comes first.
func TestAForceLapsesInEachStep(t *testing.T) {
	s := small()
	forced := breaker.Machine{}.SetForce(breaker.ForceClosed, 1)
	forced.ForceUntil = 10
	m, permit, ok := forced.Acquire(9, limit, s)
	require.True(t, ok)
	m, counted := m.Settle(permit, breaker.Failure, false, 9, s)
	require.True(t, counted)
	require.Equal(t, breaker.ForceClosed, m.Force)
	next, counted := m.Settle(permit, breaker.Failure, false, 10, s)
	require.False(t, counted, "its round is over")
	require.Equal(t, breaker.NoForce, next.Force)
	require.Greater(t, next.Round, m.Round)
	next, _, ok = m.Acquire(10, limit, s)
	require.True(t, ok)
	require.Equal(t, breaker.NoForce, next.Force)
}

// TestTimeGoingBackwards is P69: nothing panics, and what was counted stays.
func TestTimeGoingBackwards(t *testing.T) {
	s := small()
	m, permit, _ := breaker.Machine{}.Acquire(10*time.Second, limit, s)
	m, counted := m.Settle(permit, breaker.Failure, false, 5*time.Second, s)
	require.True(t, counted)
	m, counted = m.Settle(permit, breaker.Failure, true, 4*time.Second, s)
	require.True(t, counted)
	require.Equal(t, breaker.Open, m.Beneath)
	m, _, ok := m.Acquire(3*time.Second, limit, s)
	require.False(t, ok)
	_, _, ok = m.Acquire(m.OpenUntil(s), limit, s)
	require.True(t, ok)
}

// TestMachineIsAValue: no step changes the machine that it starts from.
func TestMachineIsAValue(t *testing.T) {
	s := small()
	s.MaxProbes, s.SuccessesToClose = 2, 3
	m := breaker.Machine{Beneath: breaker.HalfOpen, Round: 1}
	m, first, _ := m.Acquire(1, limit, s)
	m, second, _ := m.Acquire(1, limit, s)
	before := breaker.KeyOf(m)
	for _, permit := range []breaker.Permit{first, second} {
		for _, o := range []breaker.Outcome{breaker.Neutral, breaker.Success, breaker.Failure} {
			_, counted := m.Settle(permit, o, false, 2, s)
			require.True(t, counted)
			require.Equal(t, before, breaker.KeyOf(m))
		}
	}
}
