package dashboard

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// MaxMetered is how many guards a [Meter] counts for, by name, as they come. Of further
// ones only the state is known.
const MaxMetered = 2000

// Meter counts what happens to the calls of guards: put it among their Observers. It
// keeps about 13 KB for each guard, whatever the traffic, takes no lock where calls pass,
// and allocates nothing there. It is safe for concurrent use. Make it with [NewMeter]; nil
// counts nothing.
type Meter struct {
	origin time.Time
	guards atomic.Pointer[map[string]*counts] // replaced when one is added: reading takes no lock

	mu   sync.Mutex
	told []item // the latest of all guards, the oldest first
	last uint64 // their number
}

// NewMeter makes a meter that has counted nothing.
func NewMeter() *Meter {
	m := &Meter{origin: time.Now()}
	m.guards.Store(&map[string]*counts{})
	return m
}

// now is the second that it is, from 1.
func (m *Meter) now() uint32 { return uint32(time.Since(m.origin)/time.Second) + 1 }

// untilNext is how long the second lasts.
func (m *Meter) untilNext() time.Duration { return time.Second - time.Since(m.origin)%time.Second }

// Observe counts an event.
func (m *Meter) Observe(_ context.Context, event resilient.Event) {
	if m == nil {
		return
	}
	switch e := event.(type) {
	case resilient.AttemptDone:
		if c := m.enter(e.Service); c != nil {
			now := m.now()
			c.attempted(now, e.Outcome)
			if e.ByHand { // it is all there is of its call
				c.done(now, 1, e.Duration, e.Err)
			}
		}
	case resilient.CallDone:
		if c := m.enter(e.Service); c != nil {
			c.done(m.now(), e.Attempts, e.Duration, e.Err)
		}
	case resilient.CallRejected:
		if c := m.enter(e.Service); c != nil && e.Rejection != nil {
			c.rejected(m.now(), e.Rejection.State, e.Attempts == 0)
		}
	case resilient.RetryScheduled:
		if c := m.enter(e.Service); c != nil {
			c.totals.retries.Add(1)
			c.totals.delay.Add(uint64(max(e.Delay, 0)))
		}
	case resilient.LateResult:
		if c := m.enter(e.Service); c != nil {
			c.totals.late.Add(1)
		}
	case resilient.FellOver:
		if c := m.enter(e.Service); c != nil {
			c.totals.fellOver.Add(1)
		}
	case resilient.CircuitChanged:
		m.changed(e)
	case resilient.StoreChanged:
		if i, ok := storeItemOf(e.SharingChange); ok {
			m.noteStore(m.enter(e.Circuit), i)
		}
	}
}

func (m *Meter) changed(e resilient.CircuitChanged) {
	c := m.enter(e.Circuit)
	if c != nil && int(e.To) < len(c.totals.changes) {
		c.totals.changes[e.To].Add(1)
	}
	m.note(c, itemOf(e.Transition))
}

// of returns what is counted of a guard; nil if there is nothing.
func (m *Meter) of(name string) *counts { return (*m.guards.Load())[name] }

// enter likewise, but it begins to count.
func (m *Meter) enter(name string) *counts {
	known := *m.guards.Load()
	if c := known[name]; c != nil || len(known) >= MaxMetered {
		return c
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known = *m.guards.Load() // somebody may have been quicker
	if c := known[name]; c != nil || len(known) >= MaxMetered {
		return c
	}
	next := maps.Clone(known)
	c := &counts{}
	next[name] = c
	m.guards.Store(&next)
	return c
}
