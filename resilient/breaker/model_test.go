package breaker_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// model is what a circuit ought to be: the pure machine, and the plainest of
// counters. It is a value.
type model struct {
	machine  breaker.Machine
	settings breaker.Settings
	run      int
}

func (m *model) acquire(now time.Duration) (breaker.Permit, bool) {
	next, permit, ok := m.machine.Acquire(now, limit, m.settings)
	m.become(next)
	return permit, ok
}

func (m *model) settle(p breaker.Permit, o breaker.Outcome, now time.Duration) bool {
	if m.machine.State(m.settings) == breaker.Closed && p.Round() == m.machine.Round {
		switch o {
		case breaker.Success:
			m.run = 0
		case breaker.Failure:
			m.run++
		}
	}
	next, counted := m.machine.Settle(p, o, m.run >= m.settings.FailureThreshold, now, m.settings)
	m.become(next)
	return counted
}

func (m *model) become(next breaker.Machine) {
	if next.Round != m.machine.Round {
		m.run = 0
	}
	m.machine = next
}

// inBubble hides the test's deadline from rapid, which cannot be asked for in a
// bubble.
type inBubble struct{ *testing.T }

func anySettings(t *rapid.T) breaker.Settings {
	s := breaker.DefaultSettings()
	s.FailureThreshold = rapid.IntRange(1, 4).Draw(t, "threshold")
	s.RecoveryTimeout = time.Duration(rapid.IntRange(1, 30).Draw(t, "recovery")) * time.Second
	s.Cooldown = time.Duration(rapid.IntRange(0, 40).Draw(t, "cooldown")) * time.Second
	s.MaxProbes = rapid.IntRange(1, 3).Draw(t, "probes")
	s.SuccessesToClose = rapid.IntRange(1, 3).Draw(t, "needed")
	s.RecoveryMultiplier = float64(rapid.IntRange(1, 3).Draw(t, "multiplier"))
	s.MaxRecoveryTimeout = time.Minute
	return s
}

var anyOutcome = rapid.SampledFrom([]breaker.Outcome{breaker.Success, breaker.Failure, breaker.Neutral})

// TestCircuitFollowsTheModel runs long random histories, one event after the other,
// through a circuit and through the model.
func TestCircuitFollowsTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(inBubble{t}, func(t *rapid.T) {
			m := model{settings: anySettings(t)}
			c, err := breaker.New("model", m.settings, nil)
			require.NoError(t, err)
			var permits []breaker.Permit
			t.Repeat(map[string]func(*rapid.T){
				"acquire": func(t *rapid.T) {
					now := c.Now()
					want, ok := m.acquire(now)
					permit, rejected := c.Acquire(now, limit)
					require.Equal(t, ok, rejected == nil)
					if ok {
						require.Equal(t, want, permit)
						permits = append(permits, permit)
					}
				},
				"settle": func(t *rapid.T) {
					if len(permits) == 0 {
						t.Skip("no permit yet")
					}
					permit := rapid.SampledFrom(permits).Draw(t, "permit")
					o := anyOutcome.Draw(t, "outcome")
					want := m.settle(permit, o, c.Now())
					require.Equal(t, want, c.Settle(permit, o, errDown))
				},
				"wait": func(t *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 45).Draw(t, "seconds")) * time.Second)
				},
				"operate": func(t *rapid.T) {
					now := c.Now()
					switch rapid.IntRange(0, 9).Draw(t, "operation") {
					case 0:
						m.become(m.machine.SetForce(breaker.ForceOpen, now))
						c.ForceOpen()
					case 1:
						m.become(m.machine.SetForce(breaker.ForceClosed, now))
						c.ForceClosed()
					case 2:
						m.become(m.machine.SetForce(breaker.ForceDisabled, now))
						c.Disable()
					case 3, 4, 5:
						m.become(m.machine.SetForce(breaker.NoForce, now))
						c.Release()
					case 6:
						m.become(m.machine.Reset(now))
						c.Reset()
					default:
						to := anySettings(t)
						m.become(m.machine.Configure(m.settings, to, now))
						m.settings = to
						require.NoError(t, c.SetSettings(to))
					}
				},
				"": func(t *rapid.T) {
					snap := c.Snapshot()
					require.Equal(t, m.machine.State(m.settings), snap.State)
					require.Equal(t, snap.State, c.State())
					require.Equal(t, m.machine.Round, snap.Round)
					require.Equal(t, m.machine.Generation, snap.Generation)
					require.Equal(t, c.Time(m.machine.LastFailure), snap.LastFailure)
					if snap.State == breaker.Closed {
						require.Equal(t, m.run, snap.Failures)
					}
				},
			})
		})
	})
}

// op is one operation of a concurrent history, with what it returned and when: it
// took effect at some moment between begin and end.
type op struct {
	name       string
	begin, end int64
	// agrees applies the operation to the model and reports whether the model gives
	// the same answer.
	agrees func(m *model) bool
}

// TestConcurrentCircuitIsLinearizable lets a few goroutines use a circuit at once
// and searches for an order of their operations, in keeping with real time, that
// explains every answer (R18, R31, P90, A10, A22). The time stands still meanwhile.
func TestConcurrentCircuitIsLinearizable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(inBubble{t}, func(t *rapid.T) {
			m := model{settings: anySettings(t)}
			c, err := breaker.New("model", m.settings, nil)
			require.NoError(t, err)
			permits := prepare(t, &m, c)

			var clock atomic.Int64
			var mu sync.Mutex
			var history []op
			record := func(name string, run func() func(*model) bool) {
				begin := clock.Add(1)
				agrees := run()
				end := clock.Add(1)
				mu.Lock()
				defer mu.Unlock()
				history = append(history, op{name, begin, end, agrees})
			}
			now := c.Now()
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range rapid.IntRange(2, 4).Draw(t, "goroutines") {
				script := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 3).Draw(t, "script")
				outcomes := rapid.SliceOfN(anyOutcome, 3, 3).Draw(t, "outcomes")
				var mine []breaker.Permit
				if len(permits) > 0 {
					mine, permits = []breaker.Permit{permits[0]}, permits[1:]
				}
				wg.Go(func() {
					<-start
					for i, what := range script {
						switch {
						case what <= 1:
							record("acquire", func() func(*model) bool {
								permit, rejected := c.Acquire(now, limit)
								if rejected == nil {
									mine = append(mine, permit)
								}
								return func(m *model) bool {
									want, ok := m.acquire(now)
									return ok == (rejected == nil) && (!ok || want == permit)
								}
							})
						case len(mine) > 0:
							permit, o := mine[0], outcomes[i]
							mine = mine[1:]
							record(fmt.Sprintf("settle %v %v", permit, o), func() func(*model) bool {
								counted := c.Settle(permit, o, errDown)
								return func(m *model) bool { return m.settle(permit, o, now) == counted }
							})
						}
					}
				})
			}
			close(start)
			wg.Wait()

			final := c.Snapshot()
			if !explained(m, history, final) {
				names := make([]string, len(history))
				for i, o := range history {
					names[i] = fmt.Sprintf("[%d,%d] %s", o.begin, o.end, o.name)
				}
				t.Fatalf("no order explains the answers:\n%s\nfinal %+v", strings.Join(names, "\n"), final)
			}
		})
	})
}

// prepare brings the circuit, and the model with it, into an interesting state and
// returns permits that are out.
func prepare(t *rapid.T, m *model, c *breaker.Circuit) (permits []breaker.Permit) {
	acquire := func() {
		now := c.Now()
		m.acquire(now)
		if permit, rejected := c.Acquire(now, limit); rejected == nil {
			permits = append(permits, permit)
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "permits from closed") {
		acquire()
	}
	for range rapid.IntRange(0, 4).Draw(t, "failures") {
		now := c.Now()
		permit, ok := m.acquire(now)
		if !ok {
			break
		}
		m.settle(permit, breaker.Failure, now)
		attempt(c, breaker.Failure)
	}
	time.Sleep(time.Duration(rapid.IntRange(0, 45).Draw(t, "seconds")) * time.Second)
	for range rapid.IntRange(0, 2).Draw(t, "permits from later") {
		acquire()
	}
	slices.Reverse(permits) // those of the present state first
	return permits
}

// explained searches for the order.
func explained(m model, rest []op, final breaker.Snapshot) bool {
	if len(rest) == 0 {
		return m.machine.Round == final.Round && m.machine.State(m.settings) == final.State &&
			m.machine.Generation == final.Generation && (final.State != breaker.Closed || m.run == final.Failures)
	}
	earliestEnd := slices.MinFunc(rest, func(a, b op) int { return int(a.end - b.end) }).end
	for i, o := range rest {
		if o.begin > earliestEnd {
			continue // another had ended before it began
		}
		next := m
		if o.agrees(&next) && explained(next, slices.Delete(slices.Clone(rest), i, i+1), final) {
			return true
		}
	}
	return false
}
