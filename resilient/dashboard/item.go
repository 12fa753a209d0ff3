package dashboard

import (
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// newsKept is how many items the board keeps of all guards.
const newsKept = 128

// item is one line of the list that answers why a circuit is as it is.
type item struct {
	number uint64
	At     int64  `json:"at"` // milliseconds since 1970
	Name   string `json:"name"`
	State  string `json:"state"` // that it led to; "order" for an order
	Text   string `json:"text"`
	Cause  string `json:"cause,omitempty"`
}

func itemOf(t breaker.Transition) item {
	i := item{At: millis(t.At), Name: t.Circuit, State: t.To.String(), Text: why(t)}
	if t.Cause != nil {
		i.Cause = t.Cause.Error() // sanitised: see resilient.CircuitChanged
	}
	return i
}

// why says what led to a transition, as far as it tells.
func why(t breaker.Transition) string {
	switch {
	case t.To >= breaker.ForcedOpen:
		return "by an order, or by its settings"
	case t.From >= breaker.ForcedOpen:
		return "the order was lifted, or its time was over"
	case t.To == breaker.HalfOpen:
		return "its open time was over: probes are let through"
	case t.To == breaker.Closed && t.From == breaker.HalfOpen:
		return "the dependency answers again"
	case t.To == breaker.Closed:
		return "it was reset"
	case t.From == breaker.HalfOpen:
		return fmt.Sprintf("a probe failed: opening %d in a row", t.Generation)
	case t.Failures == 1:
		return "after 1 failure"
	default:
		return fmt.Sprintf("after %d failures", t.Failures)
	}
}

// note keeps an item, for all and for its guard; c may be nil.
func (m *Meter) note(c *counts, i item) {
	m.mu.Lock()
	m.last++
	i.number = m.last
	m.told = keep(m.told, i, newsKept)
	m.mu.Unlock()
	if c != nil {
		c.mu.Lock()
		c.told = keep(c.told, i, toldOf)
		c.mu.Unlock()
	}
}

// keep appends, and lets the oldest go where there is no room.
func keep(items []item, i item, room int) []item {
	if len(items) >= room {
		copy(items, items[1:])
		items = items[:room-1]
	}
	return append(items, i)
}

// since returns copies of the items after one, the oldest first.
func since(items []item, number uint64) []item {
	found := []item{}
	for _, i := range items {
		if i.number > number {
			found = append(found, i)
		}
	}
	return found
}

// news returns the items after one, and the number of the last there is.
func (m *Meter) news(after uint64) (items []item, last uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return since(m.told, after), m.last
}

// newsOf returns those of one guard.
func (c *counts) news() []item {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return since(c.told, 0)
}

// millis is a time as the page has it: 0 is none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
