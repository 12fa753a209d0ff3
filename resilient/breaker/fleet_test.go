package breaker_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// shelf is a store as plain as can be, whose faults the test decides on. It pushes only
// when it is told to.
type shelf struct {
	mu       sync.Mutex
	records  map[string]breaker.Record
	watchers []func(breaker.News)
	commands []breaker.Command // of all circuits
	fail     error             // what Do returns instead
	before   func(breaker.Command)
	terms    breaker.Terms
}

func newShelf() *shelf {
	return &shelf{
		records: map[string]breaker.Record{},
		terms:   breaker.Terms{Timeout: 50 * time.Millisecond, MaxViewAge: time.Second},
	}
}

func (s *shelf) Do(_ context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if s.before != nil {
		s.before(c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, c)
	if s.fail != nil {
		return breaker.Answer{}, s.fail
	}
	next, answer := s.records[circuit].Apply(time.Duration(time.Now().UnixNano()), c)
	s.records[circuit] = next
	return answer, nil
}

func (s *shelf) Watch(_ string, news func(breaker.News)) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, news)
	return func() {}
}

func (s *shelf) Terms() breaker.Terms { return s.terms }

// tell lets each watcher know what the store has; live says whether it goes on to.
func (s *shelf) tell(circuit string, live, fresh bool) {
	s.mu.Lock()
	_, answer := s.records[circuit].Apply(time.Duration(time.Now().UnixNano()), breaker.Command{})
	watchers := s.watchers
	s.mu.Unlock()
	for _, w := range watchers {
		w(breaker.News{Live: live, Fresh: fresh, Answer: &answer})
	}
}

// sent is what was asked of the store since it was last called.
func (s *shelf) sent() []breaker.Kind {
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := []breaker.Kind{}
	for _, c := range s.commands {
		kinds = append(kinds, c.Kind)
	}
	s.commands = nil
	return kinds
}

func (s *shelf) forget(circuit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, circuit)
}

func (s *shelf) break_(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func replica(t *testing.T, s breaker.Store, settings breaker.Settings) *breaker.Circuit {
	c, err := breaker.New("dep", settings, &breaker.Options{Store: s})
	require.NoError(t, err)
	return c
}

func call(c *breaker.Circuit, err error) (admitted bool) {
	p, rejected := c.Acquire(c.Now(), limit)
	if rejected != nil {
		return false
	}
	c.Settle(p, breaker.OutcomeOf(err), err)
	return true
}

func fleetOf(t *testing.T, n int, s breaker.Store, settings breaker.Settings) []*breaker.Circuit {
	all := make([]*breaker.Circuit, n)
	for i := range all {
		all[i] = replica(t, s, settings)
	}
	return all
}

func TestHealthyCallsSendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		s.tell("dep", true, true)
		for range 10_000 {
			require.True(t, call(c, nil))
		}
		assert.Empty(t, s.sent(), "news arrive: the view does not age")

		s.tell("dep", false, true)
		for range 50 {
			for range 100 {
				require.True(t, call(c, nil))
			}
			time.Sleep(100 * time.Millisecond)
		}
		assert.Len(t, s.sent(), 4, "one read each time that the view has become too old")
	})
}

func TestAFailureIsOneCommandAndATripIsKnownToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 3, s, small()) // two failures open it
		for _, c := range fleet {
			require.True(t, call(c, nil))
		}
		s.sent()
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[1], errDown))
		assert.Equal(t, []breaker.Kind{breaker.Settle, breaker.Settle}, s.sent())
		assert.Equal(t, breaker.Closed, fleet[1].State(), "each had succeeded since its last report, so the count is 1")
		require.True(t, call(fleet[0], errDown))
		assert.Equal(t, breaker.Open, fleet[0].State())
		s.sent()

		for range 10 {
			assert.False(t, call(fleet[0], nil))
		}
		assert.Empty(t, s.sent(), "a rejection costs nothing")
		s.tell("dep", true, false)
		assert.Equal(t, breaker.Open, fleet[2].State())
		_, rejected := fleet[2].Acquire(fleet[2].Now(), limit)
		require.NotNil(t, rejected)
		assert.ErrorContains(t, rejected, "last failure: down", "why is known to all")
		_, rejected = fleet[0].Acquire(fleet[0].Now(), limit)
		assert.ErrorIs(t, rejected, errDown, "and who saw it has the error itself")
	})
}

func TestASuccessCountsWhileAFailureIsBeingReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small()) // two failures open it
		require.True(t, call(c, nil))
		s.before = func(breaker.Command) {
			s.before = nil
			require.True(t, call(c, nil)) // by another caller, while the store takes its time
		}
		require.True(t, call(c, errDown))
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Closed, c.State(), "the two were not in a row")
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Open, c.State())
	})
}

func TestFailuresThatCouldNotBeReportedAreNotInARowForThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small()) // two failures open it
		require.True(t, call(c, nil))
		s.break_(errStore)
		s.before = func(breaker.Command) {
			s.before = nil
			require.True(t, call(c, nil))
			require.True(t, call(c, errDown)) // finds out first that the store is gone
		}
		require.True(t, call(c, errDown))
		require.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		assert.Equal(t, breaker.Closed, c.State(), "there was a success between the two")
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Open, c.State(), "and none between these")
	})
}

func TestOneProbeInTheWholeFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 5, s, small())
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		s.tell("dep", true, true)
		time.Sleep(20 * time.Second)
		s.sent()

		var probes []breaker.Permit
		for range 20 {
			for _, c := range fleet {
				if p, rejected := c.Acquire(c.Now(), limit); rejected == nil {
					probes = append(probes, p)
				}
			}
		}
		require.Len(t, probes, 1)
		assert.True(t, probes[0].Probe())
		assert.Len(t, s.sent(), 5, "each asks once, and knows then")
		assert.True(t, fleet[0].Settle(probes[0], breaker.Success, nil))
		assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent(), "a probe is two commands")
		assert.Equal(t, breaker.Closed, fleet[0].State())
		s.tell("dep", true, false)
		for _, c := range fleet {
			assert.Equal(t, breaker.Closed, c.State())
		}
	})
}

var errStore = errors.New("no store")

func TestALostStoreIsNobodysFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		require.True(t, call(c, nil))
		s.sent()
		s.break_(errStore)
		require.True(t, call(c, errDown), "the store is lost with this one, which counts here")
		assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		require.True(t, call(c, errDown))
		assert.Equal(t, breaker.Open, c.State(), "the same rules, here")
		assert.Len(t, s.sent(), 1, "a lost store is not asked on every call")
		time.Sleep(16 * time.Second)
		p, rejected := c.Acquire(c.Now(), limit)
		require.Nil(t, rejected)
		require.True(t, p.Probe())
		assert.False(t, call(c, nil), "one probe at a time, here too")
		assert.True(t, c.Settle(p, breaker.Failure, errDown))

		s.break_(nil)
		time.Sleep(time.Second)
		assert.True(t, call(c, nil), "the shared circuit is closed, and holds again")
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
		assert.False(t, c.Settle(p, breaker.Failure, errDown), "what began alone counts nothing now")
	})
}

func TestAStoreThatPanicsIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		s.before = func(breaker.Command) { panic("store") }
		require.True(t, call(c, nil))
		assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
	})
}

// A39: one sick replica opens its own circuit, and not that of all.
func TestTooFewReportersOpenTheirOwnOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters = 2
		fleet := fleetOf(t, 3, s, settings)
		s.tell("dep", true, true)
		for range 2 {
			require.True(t, call(fleet[0], errDown))
		}
		assert.Equal(t, []breaker.Kind{breaker.Vote}, s.sent())
		assert.Equal(t, breaker.Open, fleet[0].State())
		assert.Equal(t, breaker.Apart, fleet[0].Snapshot().Sharing)
		s.tell("dep", true, false)
		assert.Equal(t, breaker.Closed, fleet[1].State())
		assert.Equal(t, breaker.Open, fleet[0].State(), "news of a closed circuit do not close it")

		time.Sleep(16 * time.Second) // its vote has lapsed
		require.True(t, call(fleet[0], nil), "its own probe")
		assert.Equal(t, breaker.Closed, fleet[0].State())
		assert.Equal(t, breaker.Shared, fleet[0].Snapshot().Sharing)

		for _, c := range fleet[:2] {
			for range 2 {
				require.True(t, call(c, errDown))
			}
		}
		s.tell("dep", true, false)
		for _, c := range fleet {
			assert.Equal(t, breaker.Open, c.State(), "two are enough")
			assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
		}
	})
}

func TestOrdersReachTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 2, s, small())
		order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "migration, password=hunter2", For: time.Minute}
		require.NoError(t, fleet[0].Steer(t.Context(), order))
		s.tell("dep", true, false)
		for _, c := range fleet {
			assert.False(t, call(c, nil))
			snap := c.Snapshot()
			assert.Equal(t, breaker.ForcedOpen, snap.State)
			assert.Equal(t, "ann", snap.Order.Author)
			assert.Equal(t, "migration, password=***", snap.Order.Reason)
			assert.WithinDuration(t, time.Now().Add(time.Minute), snap.ForceUntil, time.Second)
		}
		s.sent()
		time.Sleep(time.Minute)
		assert.Equal(t, breaker.Closed, fleet[1].State(), "it lapses by time alone")
		for _, c := range fleet {
			assert.True(t, call(c, nil))
		}
		require.Error(t, fleet[0].Steer(t.Context(), breaker.Order{Force: breaker.ForceOpen, Author: "a", Reason: "b"}), "no end")
		s.break_(errStore)
		require.ErrorIs(t, fleet[0].Steer(t.Context(), order), errStore)
		assert.True(t, call(fleet[0], nil))
	})
}

// A45: what this process alone has forced holds, whatever the fleet does.
func TestAnOwnForceIsStrongerThanTheFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		fleet := fleetOf(t, 2, s, small())
		require.True(t, call(fleet[0], errDown))
		require.True(t, call(fleet[0], errDown))
		s.tell("dep", true, true)
		time.Sleep(16 * time.Second)
		p, rejected := fleet[0].Acquire(fleet[0].Now(), limit)
		require.Nil(t, rejected)
		s.tell("dep", true, false)
		fleet[1].ForceOpen()
		s.sent()
		for range 10 {
			assert.False(t, call(fleet[1], nil))
		}
		s.tell("dep", true, true)
		assert.Equal(t, breaker.ForcedOpen, fleet[1].State())
		assert.Empty(t, s.sent())
		require.True(t, fleet[0].Settle(p, breaker.Success, nil))
		s.tell("dep", true, false)
		assert.Equal(t, breaker.ForcedOpen, fleet[1].State())
		fleet[1].Release()
		assert.Equal(t, breaker.Closed, fleet[1].State())
		assert.True(t, call(fleet[1], nil))
	})
}

// A41: what makes no sense is written anew from what is known here.
func TestGarbledStateIsRebuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		require.True(t, call(c, errDown))
		require.True(t, call(c, errDown))
		s.break_(breaker.ErrGarbled)
		time.Sleep(2 * time.Second)
		assert.False(t, call(c, nil))
		assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		s.break_(nil)
		s.sent()
		time.Sleep(time.Second) // what cannot be written anew is not tried by each call
		assert.False(t, call(c, nil))
		assert.Equal(t, breaker.Rebuild, s.sent()[0])
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
	})
}

func TestALocalCircuitAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.Local = true
		c := replica(t, s, settings)
		for range 2 {
			require.True(t, call(c, errDown))
		}
		assert.Equal(t, breaker.Open, c.State())
		assert.Empty(t, s.sent())
		settings.Local = false
		require.NoError(t, c.SetSettings(settings))
		assert.True(t, call(c, nil), "the fleet's is closed")
		assert.Equal(t, []breaker.Kind{breaker.Read}, s.sent())
	})
}

func TestAStoreThatEndsTheGoroutineIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		s.before = func(breaker.Command) { runtime.Goexit() }
		done := make(chan struct{})
		go func() {
			defer close(done)
			call(c, nil)
		}()
		<-done
		assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		assert.True(t, call(c, nil))
	})
}

// What opened the circuit is told with the error itself by whoever saw it.
func TestTransitionsOfASharedCircuitCarryTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		var seen []breaker.Transition
		c, err := breaker.New("dep", small(), &breaker.Options{
			Store:        s,
			OnTransition: func(t breaker.Transition) { seen = append(seen, t) },
		})
		require.NoError(t, err)
		for range 2 {
			require.True(t, call(c, errDown))
		}
		require.Len(t, seen, 1)
		assert.Same(t, errDown, seen[0].Cause)
		assert.Equal(t, 2, seen[0].Failures)
		assert.Equal(t, c.Snapshot().Round, seen[0].Round)
	})
}

// An operator's order outlives what has become of the store's memory of it.
func TestGarbledStateIsForcedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "migration", For: time.Minute}
		require.NoError(t, c.Steer(t.Context(), order))
		s.break_(breaker.ErrGarbled)
		time.Sleep(20 * time.Second)
		assert.False(t, call(c, nil))
		s.break_(nil)
		s.forget("dep")
		s.sent()
		time.Sleep(time.Second)
		assert.False(t, call(c, nil))
		assert.Equal(t, []breaker.Kind{breaker.Rebuild, breaker.Operate}, s.sent())
		snap := c.Snapshot()
		assert.Equal(t, breaker.ForcedOpen, snap.State)
		assert.Equal(t, "migration", snap.Order.Reason)
		assert.WithinDuration(t, time.Now().Add(40*time.Second), snap.ForceUntil, 2*time.Second)
	})
}

// A dependency that says when to come again is left alone until then, by all.
func TestWithholdOpensForAll(t *testing.T) {
	for name, store := range map[string]*shelf{"alone": nil, "shared": newShelf()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := &breaker.Options{}
				if store != nil {
					options.Store = store
				}
				c, err := breaker.New("dep", small(), options)
				require.NoError(t, err)
				p, rejected := c.Acquire(c.Now(), limit)
				require.Nil(t, rejected)
				assert.True(t, c.Withhold(p, errDown, 5*time.Minute))
				_, rejected = c.Acquire(c.Now(), limit)
				require.NotNil(t, rejected, "one is enough")
				assert.InDelta(t, 5*time.Minute, rejected.RetryAfter(), float64(time.Second))
				assert.Same(t, errDown, rejected.Cause)
				time.Sleep(5*time.Minute - 2*time.Second)
				assert.False(t, call(c, nil))
				time.Sleep(3 * time.Second)
				assert.True(t, call(c, nil))
				assert.Equal(t, breaker.Closed, c.State())
			})
		})
	}
}

func TestAClosedCircuitAsksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := breaker.NewMemoryStore(nil)
		fleet := fleetOf(t, 2, s, small())
		fleet[0].Close()
		fleet[0].Close()
		for range 2 {
			require.True(t, call(fleet[0], errDown))
		}
		assert.Equal(t, breaker.Open, fleet[0].State(), "it goes on by itself")
		assert.Equal(t, breaker.Closed, fleet[1].State())
		for range 2 {
			require.True(t, call(fleet[1], errDown))
		}
		time.Sleep(20 * time.Second)
		require.True(t, call(fleet[0], nil))
		assert.Equal(t, breaker.Closed, fleet[0].State(), "what others do is nothing to it")
	})
}

// batching is a shelf that counts its round trips.
type batching struct {
	*shelf
	trips [][]breaker.Kind
}

func (b *batching) DoAll(ctx context.Context, commands []breaker.BatchCommand) []breaker.BatchReply {
	replies := make([]breaker.BatchReply, len(commands))
	var kinds []breaker.Kind
	for i, c := range commands {
		replies[i].Answer, replies[i].Err = b.Do(ctx, c.Circuit, c.Command)
		kinds = append(kinds, c.Command.Kind)
	}
	b.trips = append(b.trips, kinds)
	return replies
}

func TestAcquireAllIsOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &batching{shelf: newShelf()}
		var requests []breaker.Request
		for _, name := range []string{"a", "b", "c", "d"} {
			c, err := breaker.New(name, small(), &breaker.Options{Store: s})
			require.NoError(t, err)
			requests = append(requests, breaker.Request{Circuit: c, Limit: limit})
		}
		alone, err := breaker.New("alone", small(), nil)
		require.NoError(t, err)
		requests = append(requests, breaker.Request{Circuit: alone, Limit: limit})

		for _, g := range breaker.AcquireAll(requests) {
			require.Nil(t, g.Rejected)
		}
		assert.Equal(t, [][]breaker.Kind{{breaker.Read, breaker.Read, breaker.Read, breaker.Read}}, s.trips)
		for _, g := range breaker.AcquireAll(requests) {
			require.Nil(t, g.Rejected)
		}
		assert.Len(t, s.trips, 1, "all that is known is fresh")

		for _, r := range requests[:2] {
			for range 2 {
				require.True(t, call(r.Circuit, errDown))
			}
		}
		time.Sleep(time.Minute)
		s.trips = nil
		grants := breaker.AcquireAll(append(requests, requests[0]))
		assert.Equal(t, [][]breaker.Kind{{breaker.Acquire, breaker.Acquire, breaker.Read, breaker.Read}}, s.trips)
		for i, g := range grants[:5] {
			require.Nil(t, g.Rejected)
			assert.Equal(t, i < 2, g.Permit.Probe())
		}
		assert.NotNil(t, grants[5].Rejected, "the same one again: its probe is out")

		s.break_(errStore)
		assert.True(t, requests[0].Circuit.Settle(grants[0].Permit, breaker.Success, nil))
		time.Sleep(time.Minute)
		for _, g := range breaker.AcquireAll(requests[1:]) {
			require.Nil(t, g.Rejected, "each goes on by itself")
		}
	})
}

func TestReleaseAllIsOneRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &batching{shelf: newShelf()}
		var circuits []*breaker.Circuit
		for _, name := range []string{"a", "b", "c", "alone"} {
			options := &breaker.Options{Store: s}
			if name == "alone" {
				options = nil
			}
			c, err := breaker.New(name, small(), options)
			require.NoError(t, err)
			for range 2 {
				require.True(t, call(c, errDown))
			}
			circuits = append(circuits, c)
		}
		probes := func() (releases []breaker.Release) {
			time.Sleep(time.Minute)
			for _, c := range circuits {
				permit, rejected := c.Acquire(c.Now(), limit)
				require.Nil(t, rejected)
				require.True(t, permit.Probe())
				releases = append(releases, breaker.Release{Circuit: c, Permit: permit})
			}
			s.trips = nil
			return releases
		}
		requireFree := func() {
			t.Helper()
			for _, c := range circuits {
				require.Zero(t, c.Snapshot().Probes)
				require.Equal(t, breaker.HalfOpen, c.State())
			}
		}
		releases := probes()
		breaker.ReleaseAll(releases)
		assert.Equal(t, [][]breaker.Kind{{breaker.Settle, breaker.Settle, breaker.Settle}}, s.trips)
		requireFree()
		breaker.ReleaseAll(releases)
		requireFree()
		breaker.ReleaseAll(nil)
		assert.Len(t, s.trips, 2)

		releases = probes()
		s.break_(errStore)
		breaker.ReleaseAll(releases)
		assert.Len(t, s.trips, 1, "what is lost with it is found out once")
		requireFree()
		for _, c := range circuits {
			require.True(t, call(c, nil), "each goes on by itself")
			assert.Equal(t, breaker.Closed, c.State())
		}
	})
}
