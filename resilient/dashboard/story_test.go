package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed42274fcc/stoic/resilient"
	"github.com/seed42274fcc/stoic/resilient/breaker"
	"github.com/seed42274fcc/stoic/resilient/dashboard"
)

// Why it opened: the rule, and what the window held.
func TestTheRuleThatOpenedIsTold(t *testing.T) {
	byRate := func(p *resilient.Policy) {
		p.Circuit.FailureThreshold, p.Circuit.FailureRate, p.Circuit.MinimumCalls = 0, 0.6, 20
	}
	bySlow := func(p *resilient.Policy) {
		p.Circuit.FailureThreshold, p.Circuit.SlowCallRate, p.Circuit.SlowCallDuration, p.Circuit.MinimumCalls = 0, 0.5, sec, 4
	}
	for name, tt := range map[string]struct {
		edit func(*resilient.Policy)
		run  func(g *resilient.Guard)
		want string
		rule string
	}{
		"failures in a row": {nil, func(g *resilient.Guard) {
			for range 3 {
				_ = call(g, put, 0, errDown)
			}
		}, "after 3 failures", "consecutive"},
		"share of failures": {byRate, func(g *resilient.Guard) {
			for i := range 20 {
				_ = call(g, put, 0, []error{nil, errDown}[min(i/8, 1)])
			}
		}, "12 of 20 calls failed", "failure_rate"},
		"share of slow calls": {bySlow, func(g *resilient.Guard) {
			for i := range 4 {
				_ = call(g, put, time.Duration(i/2)*sec, nil)
			}
		}, "2 of 4 calls were slow", "slow_call_rate"},
		"asked to": {nil, func(g *resilient.Guard) {
			c := g.Circuit()
			permit, _ := c.Acquire(c.Now(), 0)
			c.Withhold(permit, errDown, time.Minute)
		}, "the dependency asked to be left alone", "hold"},
		"observed": {func(p *resilient.Policy) { p.Circuit.Observe = true }, func(g *resilient.Guard) {
			for range 5 {
				_ = call(g, put, 0, errDown)
			}
		}, "after 3 failures; it only observes, and refuses nothing", "consecutive"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				meter, p := dashboard.NewMeter(), policy()
				if tt.edit != nil {
					tt.edit(&p)
				}
				guard := newGuardWith(t, "orders", p, meter)
				board := dashboard.New(resilient.GuardList{guard}, &dashboard.Options{Meter: meter})
				tt.run(guard)
				f := openStream(t, board).next(t)
				require.Len(t, f.News, 1)
				assert.Equal(t, "open: "+tt.want, f.News[0].State+": "+f.News[0].Text)
				assert.Equal(t, tt.rule, f.Guards[0].Rule)
				page := serve(board, "GET", "/guards/orders", nil).Body.String()
				assert.Contains(t, page, "<dt>opened by</dt><dd>"+tt.rule+"</dd>")
				assert.Contains(t, page, tt.want)
				got := scrape(t, resilient.GuardList{guard}, meter)
				if p.Circuit.Observe {
					assert.True(t, f.Guards[0].Observe)
					assert.Equal(t, 2, f.Guards[0].Spared)
					assert.Contains(t, page, "open (only observes)")
					assert.Contains(t, page, "<dt>would have refused</dt><dd>2</dd>")
					assert.Contains(t, got, `stoic_circuit_observing{service="orders"} 1`)
					assert.Contains(t, got, `stoic_circuit_would_reject{service="orders"} 2`)
				} else {
					assert.False(t, f.Guards[0].Observe)
					assert.NotContains(t, page, "observes")
					assert.Contains(t, got, `stoic_circuit_observing{service="orders"} 0`)
				}
				wellFormed(t, got)
			})
		})
	}
}

// The window of a circuit that is closed is seen before it opens.
func TestTheWindowIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := policy()
		p.Circuit.FailureRate = 0.9
		guard := newGuardWith(t, "orders", p, nil)
		for _, err := range []error{nil, errDown, nil} {
			_ = call(guard, put, 0, err)
		}
		board := dashboard.New(resilient.GuardList{guard}, nil)
		assert.Contains(t, serve(board, "GET", "/guards/orders", nil).Body.String(), "1 of 3 calls failed, 0 were slow")
		got := scrape(t, resilient.GuardList{guard}, nil)
		assert.Contains(t, got, `stoic_circuit_window{service="orders",calls="all"} 3`)
		assert.Contains(t, got, `stoic_circuit_window{service="orders",calls="failed"} 1`)
	})
}

// fragile is a store that can be told to fail.
type fragile struct {
	*breaker.MemoryStore
	fault atomic.Pointer[error]
}

func (s *fragile) Do(ctx context.Context, circuit string, c breaker.Command) (breaker.Answer, error) {
	if fault := s.fault.Load(); fault != nil {
		return breaker.Answer{}, *fault
	}
	return s.MemoryStore.Do(ctx, circuit, c)
}

// A store that is lost, and back, is told on each guard's page, and once for all of them in the list.
func TestALostStoreIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		store := &fragile{MemoryStore: breaker.NewMemoryStore(&breaker.MemoryOptions{Silent: true})}
		guards := make(resilient.GuardList, 5)
		for i := range guards {
			g, err := resilient.NewGuard(fmt.Sprint("orders", i), policy(), &resilient.Options{
				Logger: quiet, Store: store, Observers: []resilient.Observer{meter},
			})
			require.NoError(t, err)
			guards[i] = g
		}
		use := func() {
			time.Sleep(2 * sec)
			for _, g := range guards {
				require.NoError(t, call(g, put, 0, nil))
			}
		}
		board := dashboard.New(guards, &dashboard.Options{Meter: meter})
		for range 2 { // twice: the second time is news again
			use()
			down := errors.New("redis is away, password=hunter2")
			store.fault.Store(&down)
			use()
			store.fault.Store(nil)
			time.Sleep(20 * sec)
			use()
		}
		var told []string
		for _, i := range openStream(t, board).next(t).News {
			told = append(told, i.Name+" "+i.State+": "+i.Text+": "+i.Cause)
		}
		lost := "orders0 store: its store is lost: it goes on by itself: redis is away, password=***"
		back := "orders0 store: it has its store back: "
		assert.Equal(t, []string{lost, back, lost, back}, told)
		page := serve(board, "GET", "/guards/orders4", nil).Body.String()
		assert.Contains(t, page, "its store is lost")
		assert.Contains(t, page, "it has its store back")
	})
}

// What went on to an alternative is counted of the guard that did not answer.
func TestFalloversAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guards := resilient.GuardList{newGuard(t, "first", meter), newGuard(t, "second", meter)}
		alternative := func(g *resilient.Guard, err error) resilient.Alternative[int] {
			return resilient.Alternative[int]{Guard: g, Call: func(context.Context) (int, error) { return 0, err }}
		}
		for range 2 {
			_, err := resilient.FirstOf(t.Context(), get, alternative(guards[0], resilient.Permanent(errDown)), alternative(guards[1], nil))
			require.NoError(t, err)
		}
		got := scrape(t, guards, meter)
		assert.Contains(t, got, `stoic_fallovers_total{service="first"} 2`)
		assert.Contains(t, got, `stoic_fallovers_total{service="second"} 0`)
		page := serve(dashboard.New(guards, &dashboard.Options{Meter: meter}), "GET", "/guards/first", nil).Body.String()
		assert.Contains(t, page, "<dt>went on to an alternative</dt><dd>2</dd>")
	})
}

// A permit that is held by hand is a call of one attempt.
func TestAPermitIsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := dashboard.NewMeter()
		guard := newGuard(t, "orders", meter)
		for _, err := range []error{nil, nil, errDown} {
			permit, failed := guard.Acquire(t.Context())
			require.NoError(t, failed)
			time.Sleep(sec)
			permit.Settle(err)
		}
		got := scrape(t, resilient.GuardList{guard}, meter)
		for _, line := range []string{
			`stoic_calls_total{service="orders",result="success"} 2`,
			`stoic_calls_total{service="orders",result="error"} 1`,
			`stoic_attempts_total{service="orders",outcome="success"} 2`,
			`stoic_call_duration_seconds_sum{service="orders"} 3`,
		} {
			assert.Contains(t, got, line+"\n")
		}
	})
}
