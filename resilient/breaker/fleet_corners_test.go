package breaker_test

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// admitted takes a permit.
func admitted(t *testing.T, c *breaker.Circuit) breaker.Permit {
	t.Helper()
	p, rejected := c.Acquire(c.Now(), limit)
	require.Nil(t, rejected)
	return p
}

// A force that admits is over, and what is beneath it does not: whoever comes while
// another asks for the probe is refused, with a reason.
func TestWhileAProbeIsAskedForUnderALapsedForceOthersAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		for range 2 {
			require.True(t, call(c, errDown))
		}
		order := breaker.Order{Force: breaker.ForceClosed, Author: "ann", Reason: "drill", For: time.Minute}
		require.NoError(t, c.Steer(t.Context(), order))
		s.tell("dep", true, true)
		time.Sleep(time.Minute)
		asked := 0
		s.before = func(breaker.Command) {
			s.before = nil
			asked++
			_, rejected := c.Acquire(c.Now(), limit)
			require.NotNil(t, rejected)
			assert.Equal(t, breaker.Open, rejected.State)
			assert.Same(t, errDown, rejected.Cause)
		}
		assert.True(t, admitted(t, c).Probe())
		assert.Equal(t, 1, asked)
	})
}

// Rounds that a circuit makes by itself never come again, however often it has been
// without its store.
func TestRoundsOfItsOwnDoNotComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		openAndClose := func() {
			s.break_(errStore)
			for range 2 {
				require.True(t, call(c, errDown))
			}
			require.Equal(t, breaker.Open, c.State())
			time.Sleep(16 * time.Second)
			require.True(t, call(c, nil))
			require.Equal(t, breaker.Closed, c.State())
			require.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		}
		require.True(t, call(c, nil))
		openAndClose()
		stale := admitted(t, c)
		s.break_(nil)
		time.Sleep(2 * time.Second)
		require.True(t, call(c, nil))
		require.Equal(t, breaker.Shared, c.Snapshot().Sharing)
		openAndClose()
		assert.False(t, c.Settle(stale, breaker.Failure, errDown), "it is of the time before")
		assert.Zero(t, c.Snapshot().Failures)
	})
}

// A listener may end the goroutine: the next success is reported nevertheless.
func TestASuccessIsReportedAfterAListenerHasEndedTheGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.FailureThreshold = 3
		ends := false
		c, err := breaker.New("dep", settings, &breaker.Options{Store: s, OnTransition: func(breaker.Transition) {
			if ends {
				ends = false
				runtime.Goexit()
			}
		}})
		require.NoError(t, err)
		other := replica(t, s, settings)
		require.True(t, call(c, errDown))
		ends = true
		s.before = func(k breaker.Command) {
			s.before = nil
			order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "drill", For: time.Minute}
			require.NoError(t, other.Steer(t.Context(), order))
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			call(c, nil)
		}()
		<-ended
		require.Equal(t, breaker.ForcedOpen, c.State())
		require.NoError(t, c.Steer(t.Context(), breaker.Order{Author: "ann", Reason: "over"}))
		require.True(t, call(c, errDown))
		s.sent()
		require.True(t, call(c, nil))
		assert.Equal(t, []breaker.Kind{breaker.Settle}, s.sent(), "a failure is on the books")
	})
}

// batchOf is a store that cannot be compared.
type batchOf struct {
	*batching
	_ []int
}

// A store is whatever has its methods.
func TestAcquireAllTakesStoresThatCannotBeCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := batchOf{batching: &batching{shelf: newShelf()}}
		var requests []breaker.Request
		for _, name := range []string{"a", "b"} {
			c, err := breaker.New(name, small(), &breaker.Options{Store: s})
			require.NoError(t, err)
			requests = append(requests, breaker.Request{Circuit: c, Limit: limit})
		}
		require.NotPanics(t, func() {
			for _, g := range breaker.AcquireAll(requests) {
				assert.Nil(t, g.Rejected)
			}
		})
	})
}

// A listener that ends the goroutine takes no other circuit with it, and no permit.
func TestAcquireAllSurvivesAListenerThatEndsTheGoroutine(t *testing.T) {
	for _, first := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &batching{shelf: newShelf()}
			ends := false
			listener := func(breaker.Transition) {
				if ends {
					ends = false
					runtime.Goexit()
				}
			}
			ending, err := breaker.New("ending", small(), &breaker.Options{Store: s, OnTransition: listener})
			require.NoError(t, err)
			other, err := breaker.New("other", small(), &breaker.Options{Store: s})
			require.NoError(t, err)
			for range 2 {
				require.True(t, call(ending, errDown))
				require.True(t, call(other, errDown))
			}
			requests := []breaker.Request{{Circuit: ending, Limit: limit}, {Circuit: other, Limit: limit}}
			if !first {
				requests[0], requests[1] = requests[1], requests[0]
			}
			time.Sleep(20 * time.Second)
			ends = true
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				breaker.AcquireAll(requests)
			}()
			<-ended
			require.False(t, ends)
			time.Sleep(2 * time.Second)
			assert.True(t, call(other, nil), "its place is free: nobody has the permit")
			assert.Equal(t, breaker.Closed, other.State())
		})
	}
}

// nonsense is a store that answers what it is told to.
type nonsense struct {
	*shelf
	spoil func(*breaker.Answer)
}

func (n *nonsense) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	answer, err := n.shelf.Do(ctx, circuit, c)
	n.spoil(&answer)
	return answer, err
}

// What no store may say is not obeyed, and the circuit goes on by itself.
func TestNonsenseFromAStoreIsNotObeyed(t *testing.T) {
	const far = time.Duration(math.MaxInt64)
	for name, spoil := range map[string]func(*breaker.Answer){
		"a round that is too large":  func(a *breaker.Answer) { a.Record.Round = math.MaxUint64 },
		"no such state":              func(a *breaker.Answer) { a.Record.Beneath = 77 },
		"a force as a state":         func(a *breaker.Answer) { a.Record.Beneath = breaker.ForcedOpen },
		"no such force":              func(a *breaker.Answer) { a.Record.Force = 9 },
		"a limit below 0":            func(a *breaker.Answer) { a.Record.Beneath, a.Record.Limit = breaker.HalfOpen, -5 },
		"more successes than anyone": func(a *breaker.Answer) { a.Record.Beneath, a.Record.Needed = breaker.HalfOpen, math.MaxInt },
		"a failure to come":          func(a *breaker.Answer) { a.Record.Beneath, a.Record.LastFailure = breaker.Open, far },
		"a failure before time":      func(a *breaker.Answer) { a.Record.Beneath, a.Record.LastFailure = breaker.Open, -far },
		"a store before time":        func(a *breaker.Answer) { a.Now, a.Record.Beneath, a.Record.LastFailure = -far, breaker.Open, far },
		"a hold for centuries":       func(a *breaker.Answer) { a.Record.Beneath, a.Record.Hold = breaker.Open, far },
		"a half-open to come":        func(a *breaker.Answer) { a.Record.Beneath, a.Record.LastHalfOpen = breaker.Open, far },
		"a force for centuries":      func(a *breaker.Answer) { a.Record.Force, a.Record.ForceUntil = breaker.ForceOpen, far },
		"a lease for centuries": func(a *breaker.Answer) {
			a.Record.Beneath, a.Record.Leases = breaker.HalfOpen, []breaker.Lease{{Token: 1, End: far, Length: time.Minute}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &nonsense{shelf: newShelf(), spoil: func(*breaker.Answer) {}}
				c := replica(t, s, small())
				require.True(t, call(c, nil))
				s.spoil = spoil
				time.Sleep(2 * time.Second)
				for range 1000 {
					call(c, nil)
				}
				assert.Less(t, len(s.sent()), 10, "it is not asked by each call")
				granted := 0
				for range 100 {
					time.Sleep(time.Hour)
					if call(c, nil) {
						granted++
					}
				}
				assert.Equal(t, 100, granted, "the dependency is healthy")
				assert.Equal(t, breaker.Lost, c.Snapshot().Sharing)

				s.spoil = func(*breaker.Answer) {}
				time.Sleep(2 * time.Second)
				assert.True(t, call(c, nil))
				assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
			})
		})
	}
}

// What makes no sense and cannot be written anew is not asked for by each call.
func TestAStoreThatStaysGarbledIsNotAskedByEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		s.break_(breaker.ErrGarbled)
		for range 1000 {
			require.True(t, call(c, nil))
		}
		assert.Less(t, len(s.sent()), 10)
	})
}

// Where replicas vote, a healthy call takes no lock.
func TestHealthyCallsOfVotersTakeNoLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters = 2
		c := replica(t, s, settings)
		s.tell("dep", true, true)
		require.True(t, call(c, nil))
		p := admitted(t, c)
		unlock := breaker.Lock(c)
		settled := make(chan bool)
		go func() { settled <- c.Settle(p, breaker.Success, nil) }()
		synctest.Wait()
		select {
		case <-settled:
			unlock()
		default:
			unlock()
			<-settled
			t.Error("it waits for the lock")
		}
	})
}

// A voter's own count goes on when its store is away for a moment.
func TestAVotersCountOutlivesAStoreThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters, settings.FailureThreshold = 2, 3
		c := replica(t, s, settings)
		for _, fault := range []error{nil, errStore, nil} {
			s.break_(fault)
			time.Sleep(1100 * time.Millisecond)
			require.True(t, call(c, errDown))
		}
		assert.Equal(t, breaker.Open, c.State(), "three in a row")
	})
}

// A voter's result of a round that the store has lost counts nowhere.
func TestAVotersLateResultCountsNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		c := replica(t, s, settings)
		for range 2 {
			require.True(t, call(c, errDown))
		}
		time.Sleep(20 * time.Second)
		require.True(t, call(c, nil))
		settings.MinReporters = 2
		require.NoError(t, c.SetSettings(settings))
		late := admitted(t, c)
		s.forget("dep")
		time.Sleep(2 * time.Second)
		require.True(t, call(c, nil))
		require.Zero(t, c.Snapshot().Round)
		assert.False(t, c.Settle(late, breaker.Failure, errDown))
		assert.Zero(t, c.Snapshot().Failures)
	})
}

// A circuit that has opened by itself stays so when the store is away for a moment.
func TestACircuitApartStaysSoWhenItsStoreIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters = 2
		c := replica(t, s, settings)
		require.True(t, call(c, nil))
		s.break_(errStore) // its vote is lost, too
		for range 2 {
			require.True(t, call(c, errDown))
		}
		require.Equal(t, breaker.Open, c.State())
		s.break_(nil)
		time.Sleep(2 * time.Second)
		assert.False(t, call(c, nil), "its own open time is not over")
		time.Sleep(2 * time.Second)
		assert.False(t, call(c, nil))
		assert.Equal(t, breaker.Apart, c.Snapshot().Sharing)
		time.Sleep(16 * time.Second)
		assert.True(t, call(c, nil))
		assert.Equal(t, breaker.Closed, c.State())
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
	})
}

// A reset ends what a circuit does by itself.
func TestResetOfACircuitApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters = 2
		c := replica(t, s, settings)
		for range 2 {
			require.True(t, call(c, errDown))
		}
		require.Equal(t, breaker.Apart, c.Snapshot().Sharing)
		c.Reset()
		require.True(t, call(c, nil))
		assert.Equal(t, breaker.Closed, c.State())
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
	})
}

// A reset that finds the fleet's circuit open still says why.
func TestAResetDoesNotForgetTheFleetsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		for range 2 {
			require.True(t, call(c, errDown))
		}
		c.Reset()
		_, rejected := c.Acquire(c.Now(), limit)
		require.NotNil(t, rejected)
		assert.ErrorIs(t, rejected, errDown)
	})
}

// A probe that is out when its process is forced gives its place back to the fleet.
func TestAnOwnForceKeepsNoPlaceOfTheFleets(t *testing.T) {
	for name, put := range map[string]func(*breaker.Circuit){
		"forced":   (*breaker.Circuit).ForceOpen,
		"disabled": func(c *breaker.Circuit) { off := small(); off.Enabled = false; _ = c.SetSettings(off) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				fleet := fleetOf(t, 2, s, small())
				for range 2 {
					require.True(t, call(fleet[0], errDown))
				}
				time.Sleep(20 * time.Second)
				p := admitted(t, fleet[0])
				require.True(t, p.Probe())
				put(fleet[0])
				fleet[0].Settle(p, breaker.Failure, errDown)
				assert.True(t, call(fleet[1], nil), "the place is free")
				assert.Equal(t, breaker.Closed, fleet[1].State())
			})
		})
	}
}

// What an operator lifts on a circuit that goes on by itself stays lifted.
func TestAnOrderOfACircuitByItselfReplacesItsOwnForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.Local = true
		c := replica(t, s, settings)
		c.ForceOpen()
		require.NoError(t, c.Steer(t.Context(), breaker.Order{Author: "ann", Reason: "over"}))
		s.tell("dep", false, true)
		assert.Equal(t, "ann", c.Snapshot().Order.Author, "the fleet's is not its own")
		settings.Local = false
		require.NoError(t, c.SetSettings(settings))
		assert.True(t, call(c, nil))
	})
}

// After Close settings change, and the store is not asked again.
func TestAClosedCircuitDoesNotJoinAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		c := replica(t, s, settings)
		c.Close()
		settings.Local = true
		require.NoError(t, c.SetSettings(settings))
		settings.Local = false
		require.NoError(t, c.SetSettings(settings))
		assert.True(t, call(c, nil))
		assert.Empty(t, s.sent())
	})
}

// telltale is an error whose text asks the circuit, or ends the goroutine.
type telltale struct{ say func() }

func (e telltale) Error() string { e.say(); return "telltale" }

// No lock is held while an error tells its text.
func TestACausesTextMayUseTheCircuit(t *testing.T) {
	for name, settle := range map[string]func(s *shelf, c *breaker.Circuit){
		"reported": func(*shelf, *breaker.Circuit) {},
		"voted": func(_ *shelf, c *breaker.Circuit) {
			settings := small()
			settings.MinReporters = 2
			_ = c.SetSettings(settings)
		},
		"rebuilt": func(s *shelf, _ *breaker.Circuit) { s.break_(breaker.ErrGarbled) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf()
				c := replica(t, s, small())
				require.True(t, call(c, nil))
				settle(s, c)
				var once sync.Mutex
				said := telltale{func() {
					unlock := make(chan struct{})
					go func() { c.Snapshot(); close(unlock) }()
					synctest.Wait()
					select {
					case <-unlock:
					default:
						once.Lock()
						t.Error("the circuit is locked")
						once.Unlock()
					}
				}}
				for range 2 {
					call(c, said)
				}
				s.break_(nil)
				time.Sleep(20 * time.Second)
				call(c, nil)
			})
		})
	}
}

// ForceOpen has no end, not even that of an operator's order which is on already.
func TestAnOwnForceOutlastsAnOrder(t *testing.T) {
	for name, s := range map[string]*shelf{"alone": nil, "lost": newShelf()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				options := &breaker.Options{}
				if s != nil {
					options.Store = s
				}
				c, err := breaker.New("dep", small(), options)
				require.NoError(t, err)
				order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "drill", For: time.Minute}
				require.NoError(t, c.Steer(t.Context(), order))
				if s != nil {
					s.break_(errStore)
					time.Sleep(2 * time.Second)
					require.False(t, call(c, nil))
					require.Equal(t, breaker.Lost, c.Snapshot().Sharing)
				}
				c.ForceOpen()
				time.Sleep(time.Hour)
				assert.False(t, call(c, nil))
				assert.Zero(t, c.Snapshot().ForceUntil)
				c.Release()
				assert.True(t, call(c, nil))
			})
		})
	}
}

// What a process lifts is its own force: the fleet's holds, though the store is lost.
func TestReleaseLeavesTheFleetsForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		c := replica(t, s, small())
		order := breaker.Order{Force: breaker.ForceOpen, Author: "ann", Reason: "drill", For: time.Minute}
		require.NoError(t, c.Steer(t.Context(), order))
		s.break_(errStore)
		time.Sleep(2 * time.Second)
		require.False(t, call(c, nil))
		require.Equal(t, breaker.Lost, c.Snapshot().Sharing)
		c.ForceClosed()
		require.True(t, call(c, nil))
		c.Release()
		assert.False(t, call(c, nil))
		assert.Equal(t, "ann", c.Snapshot().Order.Author)
		time.Sleep(time.Minute)
		assert.True(t, call(c, nil))
	})
}

// A circuit that has closed while its store was lost is not apart any more.
func TestACircuitThatClosedWhileLostIsNotApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, settings := newShelf(), small()
		settings.MinReporters = 2
		c := replica(t, s, settings)
		require.True(t, call(c, nil))
		s.break_(errStore)
		for range 2 {
			require.True(t, call(c, errDown))
		}
		time.Sleep(16 * time.Second)
		require.True(t, call(c, nil))
		off := settings
		off.Enabled = false
		require.NoError(t, c.SetSettings(off))
		s.break_(nil)
		time.Sleep(2 * time.Second)
		require.True(t, call(c, nil))
		require.NoError(t, c.SetSettings(settings))
		assert.Equal(t, breaker.Closed, c.State())
		assert.Equal(t, breaker.Shared, c.Snapshot().Sharing)
	})
}
