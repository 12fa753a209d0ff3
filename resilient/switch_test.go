package resilient_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// switched are options with a switch that logs into a journal.
func switched() (*resilient.Options, *resilient.Switch, *journal) {
	log := &journal{}
	s := &resilient.Switch{Logger: log.logger()}
	return &resilient.Options{Switch: s}, s, log
}

// A82: with retries off a call runs once, whatever its policy says, and comes back as it is.
func TestA82RetriesSwitchedOff(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		options, s, _ := switched()
		g := newGuard(t, steady(noDelay, attempts(10)), options)
		s.SetRetries(false)
		fn, calls := fails(always)
		_, err := in.call(t.Context(), g, get, fn)
		assert.Equal(t, errDown, err)
		assert.EqualValues(t, 1, calls.Load())
		s.SetRetries(true)
		_, err = in.call(t.Context(), g, get, fn)
		require.ErrorIs(t, err, errDown)
		assert.EqualValues(t, 11, calls.Load())
	})
}

// It is live: a call on its way ends with its next failure, or with its wait.
func TestRetriesSwitchedOffMeanwhile(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for when, took := range map[time.Duration]time.Duration{
			ms / 2:      ms,           // in the first attempt: there is no wait
			3 * sec / 2: 2*sec + 2*ms, // in the second wait
		} {
			options, s, _ := switched()
			g := newGuard(t, steady(attempts(10)), options)
			calls := 0
			start := time.Now()
			time.AfterFunc(when, func() { s.SetRetries(false) })
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
				calls++
				time.Sleep(ms)
				return calls, errDown
			})
			var exhausted *resilient.ExhaustedError
			require.ErrorAs(t, err, &exhausted)
			assert.Equal(t, resilient.ReasonSwitchedOff, exhausted.Reason)
			assert.Equal(t, calls, exhausted.Attempts)
			assert.Equal(t, 1+int(when/sec), calls)
			assert.Equal(t, took, time.Since(start))
			assert.Contains(t, err.Error(), "retries switched off: down")
		}
	})
}

// With circuits off everything is admitted and nothing counts, and afterwards each circuit is what it was.
func TestCircuitsSwitchedOff(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		for name, prepare := range map[string]func(*resilient.Guard){
			"closed":      func(*resilient.Guard) {},
			"with counts": func(g *resilient.Guard) { _ = resilient.Do(t.Context(), g, apply, returns(errDown)) },
			"open":        func(g *resilient.Guard) { open(t, g) },
			"half-open":   func(g *resilient.Guard) { halfOpen(t, g) },
			"forced open": func(g *resilient.Guard) { g.Circuit().ForceOpen() },
		} {
			options, s, _ := switched()
			g := newGuard(t, steady(threshold(2), noDelay), options)
			prepare(g)
			before := g.Circuit().Snapshot()
			s.SetCircuits(false)
			for range 5 {
				fn, calls := fails(always)
				_, err := in.call(t.Context(), g, get, fn)
				require.ErrorIs(t, err, errDown, name)
				assert.EqualValues(t, 3, calls.Load(), "%s: it is retried as ever", name)
				permit, err := g.Acquire(t.Context())
				require.NoError(t, err, name)
				assert.True(t, permit.Settle(errDown), name)
			}
			_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, nil })
			require.NoError(t, err)
			assert.Equal(t, before, g.Circuit().Snapshot(), name)
			s.SetCircuits(true)
			_, err = in.call(t.Context(), g, apply, func(context.Context) (int, error) { return 0, nil })
			assert.Equal(t, name == "open" || name == "forced open", err != nil, name)
		}
	})
}

// What began before still counts: its permit is out. What began meanwhile does not, when it ends afterwards.
func TestCircuitsSwitchedOffInMidFlight(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		options, s, _ := switched()
		g := newGuard(t, steady(threshold(1)), options)
		_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { s.SetCircuits(false); return 0, errDown })
		assert.Equal(t, breaker.Open, g.Circuit().State())
		g.Circuit().Reset()
		_, _ = in.call(t.Context(), g, apply, func(context.Context) (int, error) { s.SetCircuits(true); return 0, errDown })
		assert.Equal(t, breaker.Closed, g.Circuit().State())
		assert.Zero(t, g.Circuit().Snapshot().Late)
	})
}

// A circuit that opens in the middle of a call does not end it once circuits are off, nor is a panic counted then.
func TestCircuitsSwitchedOffKeepNobody(t *testing.T) {
	overEntries(t, func(t *testing.T, in entry) {
		options, s, _ := switched()
		g := newGuard(t, steady(threshold(1), noDelay), options)
		calls := 0
		_, err := in.call(t.Context(), g, get, func(context.Context) (int, error) {
			if calls++; calls == 2 {
				return calls, nil
			}
			s.SetCircuits(false) // the failure still opens the circuit
			return 0, errDown
		})
		require.NoError(t, err)
		assert.Equal(t, breaker.Open, g.Circuit().State())
		g.Circuit().Reset()
		func() {
			defer func() { _ = recover() }()
			_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) { panic("down") })
		}()
		assert.Equal(t, breaker.Closed, g.Circuit().State())
	})
}

func TestTheSwitchLogsOnceForEachChange(t *testing.T) {
	_, s, log := switched()
	s.SetCircuits(true)
	assert.Empty(t, log.text(), "nothing has changed")
	s.SetCircuits(false)
	s.SetCircuits(false)
	assert.False(t, s.Circuits())
	assert.True(t, s.Retries())
	s.SetRetries(false)
	s.SetCircuits(true)
	assert.True(t, s.Circuits())
	assert.False(t, s.Retries())
	assert.Equal(t, []map[string]any{
		{"level": "WARN", "msg": "resilience switched off", "what": "circuits"},
		{"level": "WARN", "msg": "resilience switched off", "what": "retries"},
		{"level": "WARN", "msg": "resilience switched on", "what": "circuits"},
	}, log.records(t))

	var none *resilient.Switch
	none.SetRetries(false)
	none.SetCircuits(false)
	assert.True(t, none.Retries())
	assert.True(t, none.Circuits())

	var all sync.WaitGroup
	_, s, log = switched()
	for range 8 {
		all.Go(func() { s.SetRetries(false) })
	}
	all.Wait()
	assert.Len(t, log.records(t), 1, "many at once: one record")

	s = &resilient.Switch{Logger: slog.New(panicHandler{slog.DiscardHandler})}
	s.SetRetries(false)
	assert.False(t, s.Retries(), "though the logger panics")
}

// panicHandler is a log that panics.
type panicHandler struct{ slog.Handler }

func (panicHandler) Enabled(context.Context, slog.Level) bool  { return true }
func (panicHandler) Handle(context.Context, slog.Record) error { panic("log") }

// Switched while calls are under way: every call ends, and the circuit loses no place.
func TestSwitchingUnderLoad(t *testing.T) {
	options, s, _ := switched()
	g := newGuard(t, steady(threshold(3), noDelay, func(p *resilient.Policy) {
		p.Circuit.RecoveryTimeout, p.Circuit.Cooldown = 1, 0
	}), options)
	var callers, switching sync.WaitGroup
	stop := make(chan struct{})
	switching.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.SetCircuits(i%2 == 0)
				s.SetRetries(i%3 == 0)
			}
		}
	})
	for w := range 4 {
		callers.Go(func() {
			for i := range 2000 {
				_ = resilient.Do(context.Background(), g, get, func(context.Context) error {
					if (i+w)%4 == 0 {
						return errors.New("down")
					}
					return nil
				})
			}
		})
	}
	callers.Wait()
	close(stop)
	switching.Wait()
	s.SetCircuits(true)
	assert.Zero(t, g.Circuit().Snapshot().Probes)
	require.Eventually(t, func() bool { return resilient.Do(context.Background(), g, get, returns(nil)) == nil }, 10*time.Second, time.Millisecond)
}

// A82: the cap of tests lowers, and never raises.
func TestA82TheCapOnlyLowers(t *testing.T) {
	tests := []struct {
		name   string
		policy resilient.Policy
		limits resilient.Cap
		calls  int64
		waited time.Duration
	}{
		{"min(3, 10)", steady(), resilient.Cap{Attempts: 10, Delay: time.Hour}, 3, 2 * sec},
		{"min(10, 3)", steady(attempts(10)), resilient.Cap{Attempts: 3, Delay: time.Hour}, 3, 2 * sec},
		{"one", steady(attempts(10)), resilient.Cap{Attempts: 1}, 1, 0},
		{"no cap on attempts", steady(attempts(5)), resilient.Cap{Delay: ms}, 5, 4 * ms},
		{"no waits", steady(attempts(5)), resilient.Cap{}, 5, 0},
		{"shorter waits", steady(attempts(3), delay(10*sec)), resilient.Cap{Delay: 100 * ms}, 3, 200 * ms},
		{"below the floor", steady(), resilient.Cap{Delay: 1}, 3, 2},
		{"no delay stays none", steady(noDelay), resilient.Cap{Delay: sec}, 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			overEntries(t, func(t *testing.T, in entry) {
				g := newGuard(t, tt.policy, &resilient.Options{Cap: &tt.limits})
				for range 2 {
					fn, calls := fails(always)
					start := time.Now()
					_, err := in.call(t.Context(), g, get, fn)
					require.ErrorIs(t, err, errDown)
					assert.Equal(t, tt.calls, calls.Load())
					assert.Equal(t, tt.waited, time.Since(start))
					assert.Equal(t, tt.policy, g.Policy(), "the policy is what it was")
					require.NoError(t, g.SetPolicy(tt.policy)) // and the cap stays
				}
			})
		})
	}
	overEntries(t, func(t *testing.T, in entry) {
		g := newGuard(t, steady(attempts(2)), &resilient.Options{Cap: &resilient.Cap{}})
		start := time.Now()
		_, _ = in.call(t.Context(), g, get, func(context.Context) (int, error) { return 0, resilient.RetryAfter(errDown, 7*sec) })
		assert.Equal(t, 7*sec, time.Since(start), "what a server asks for is waited for")
	})
	for _, bad := range []resilient.Cap{{Attempts: -1}, {Delay: -1}} {
		_, err := resilient.NewGuard("plans", steady(), &resilient.Options{Cap: &bad})
		require.ErrorContains(t, err, "Options.Cap")
	}
	limits := &resilient.Cap{Attempts: 1}
	g := newGuard(t, steady(noDelay), &resilient.Options{Cap: limits})
	limits.Attempts = 3
	require.NoError(t, g.SetPolicy(steady(noDelay)))
	fn, calls := fails(always)
	_, _ = resilient.Execute(t.Context(), g, get, fn)
	assert.EqualValues(t, 1, calls.Load(), "the guard has its own copy")
}
