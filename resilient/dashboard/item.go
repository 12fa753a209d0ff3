package dashboard

import (
	"fmt"
	"slices"
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
	State  string `json:"state"` // that it led to; "order" for an order, "store" for what the store did
	Text   string `json:"text"`
	Cause  string `json:"cause,omitempty"`
}

func itemOf(t breaker.Transition) item {
	i := item{At: millis(t.At), Name: t.Circuit, State: t.To.String(), Text: why(t)}
	if t.Observe {
		i.Text += "; it only observes, and refuses nothing"
	}
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
	case t.Rule == breaker.RuleFailureRate:
		return fmt.Sprintf("%d of %d calls failed", t.Window.Failures, t.Window.Calls)
	case t.Rule == breaker.RuleSlowCalls:
		return fmt.Sprintf("%d of %d calls were slow", t.Window.Slow, t.Window.Calls)
	case t.Rule == breaker.RuleHold:
		return "the dependency asked to be left alone"
	case t.From == breaker.HalfOpen:
		return fmt.Sprintf("a probe failed: opening %d in a row", t.Generation)
	case t.Failures == 0:
		return "by what all that share it have counted"
	case t.Failures == 1:
		return "after 1 failure"
	default:
		return fmt.Sprintf("after %d failures", t.Failures)
	}
}

// storeItemOf says that a circuit's store is lost, or back; false for other changes, which
// are no store's doing.
func storeItemOf(s breaker.SharingChange) (i item, ok bool) {
	i = item{At: millis(s.At), Name: s.Circuit, State: "store"}
	switch {
	case s.To == breaker.Lost:
		i.Text = "its store is lost: it goes on by itself"
	case s.From == breaker.Lost && s.To != breaker.Alone:
		i.Text = "it has its store back"
	default:
		return i, false
	}
	if s.Cause != nil {
		i.Cause = s.Cause.Error() // sanitised: see resilient.StoreChanged
	}
	return i, true
}

// noteStore keeps an item of the store's. A store is lost for all its guards at once: in
// the list of all, the first one within a while stands for them.
func (m *Meter) noteStore(c *counts, i item) {
	m.mu.Lock()
	told := slices.ContainsFunc(m.told, func(before item) bool {
		return before.State == i.State && before.Text == i.Text && i.At-before.At < storeQuiet.Milliseconds()
	})
	if !told {
		m.tell(i)
	}
	i.number = m.last
	m.mu.Unlock()
	c.note(i)
}

// storeQuiet is that while.
const storeQuiet = 10 * time.Second

// note keeps an item, for all and for its guard; c may be nil.
func (m *Meter) note(c *counts, i item) {
	m.mu.Lock()
	m.tell(i)
	i.number = m.last
	m.mu.Unlock()
	c.note(i)
}

// tell gives an item its number. The mutex is held.
func (m *Meter) tell(i item) {
	m.last++
	i.number = m.last
	m.told = keep(m.told, i, newsKept)
}

// note keeps an item of one guard; c may be nil.
func (c *counts) note(i item) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.told = keep(c.told, i, toldOf)
	c.mu.Unlock()
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
