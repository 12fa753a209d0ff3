package resilient

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"
)

// CallRatio is the rule of a [Budget] that allows so many retries for so many calls in
// a window of time, so that retries never add more than their part to the load. Start
// from [DefaultCallRatio]; the zero value is not valid.
type CallRatio struct {
	// Ratio is how many retries may be scheduled for each call: 0 … 1. A call counts
	// when its first attempt begins; one that a circuit refuses does not.
	Ratio float64
	// Window is how far back calls and retries count, to a tenth of it: 1 s … 1 h.
	Window time.Duration
	// Floor is how many retries the window has in any case, for services that are
	// seldom called: 0 … 1 000 000.
	Floor int
}

// DefaultCallRatio allows two retries for ten calls, over ten seconds, and ten in any
// case.
func DefaultCallRatio() CallRatio {
	return CallRatio{Ratio: 0.2, Window: 10 * time.Second, Floor: 10}
}

func (CallRatio) budgetRule() {}

// Validate returns nil, or one error, of one line, that names every field out of its
// range.
func (r CallRatio) Validate() error {
	var faults []string
	if !(r.Ratio >= 0 && r.Ratio <= 1) { // NaN too
		faults = append(faults, fmt.Sprintf("Ratio is %v, want 0 … 1", r.Ratio))
	}
	if r.Window < time.Second || r.Window > time.Hour {
		faults = append(faults, fmt.Sprintf("Window is %v, want %v … %v", r.Window, time.Second, time.Hour))
	}
	if r.Floor < 0 || r.Floor > maxTokens {
		faults = append(faults, fmt.Sprintf("Floor is %d, want 0 … %d", r.Floor, maxTokens))
	}
	if len(faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(faults, "; "))
}

// allows is how many retries go with so many calls. The ratio is taken as a whole
// number of millionths, so that a fifth of 1000 is 200.
func (r CallRatio) allows(calls int64) int64 {
	return max(int64(r.Floor), calls*int64(math.Round(r.Ratio*1e6))/1e6)
}

// slots is how many parts a window has.
const slots = 10

// ratio is a [Budget] by calls. Its methods need the budget's mutex; a call that begins
// goes straight to the ring.
type ratio struct {
	rule CallRatio
	ring atomic.Pointer[ring]
}

func newRatio(rule CallRatio) *ratio {
	r := &ratio{rule: rule}
	r.ring.Store(newRing(rule.Window))
	return r
}

// in is how many calls and retries there are in the window that ends at a time.
func (r *ratio) in(at time.Duration) (calls, retries int64) {
	ring := r.ring.Load()
	now := ring.slot(at)
	for i := range slots {
		calls += recent(ring.calls[i].Load(), now)
		retries += recent(ring.retries[i], now)
	}
	return calls, retries
}

func (r *ratio) draw(at time.Duration) (drawn, bool) {
	if calls, retries := r.in(at); retries >= r.rule.allows(calls) {
		return drawn{}, false
	}
	ring := r.ring.Load()
	now := ring.slot(at)
	ring.retries[now%slots] = counted(ring.retries[now%slots], now, 1)
	return drawn{ring: ring, slot: now}, true
}

// set begins a new ring where the window is another one, with what the old one held,
// as if it had all been now: a retry too many stays one.
func (r *ratio) set(rule CallRatio, at time.Duration) {
	if rule.Window != r.rule.Window {
		calls, retries := r.in(at)
		scale := float64(rule.Window) / float64(r.rule.Window)
		next := newRing(rule.Window)
		now := next.slot(at)
		next.calls[now%slots].Store(counted(0, now, bounded(float64(calls)*scale)))
		next.retries[now%slots] = counted(0, now, bounded(math.Ceil(float64(retries)*scale)))
		r.ring.Store(next)
	}
	r.rule = rule
}

// bounded is a count that leaves room for as many on top of it.
func bounded(count float64) uint64 { return uint64(min(count, 1<<(countBits-1))) }

// ring counts by slots of time. Each count has the number of its slot above it, and the
// window is the present slot with those before it: nothing has to be cleared.
type ring struct {
	width   time.Duration
	calls   [slots]atomic.Uint64
	retries [slots]uint64 // with the budget's mutex
}

// A stamp is a slot's number and, in the lower half, its count.
const countBits = 32

func newRing(window time.Duration) *ring { return &ring{width: window / slots} }

func (r *ring) slot(at time.Duration) uint64 { return uint64(max(0, at) / r.width) }

// recent is a stamp's count, if it is in the window. One of a slot to come is: somebody
// has read the clock later.
func recent(stamp, now uint64) int64 {
	if slot := stamp >> countBits; slot+slots <= now {
		return 0
	}
	return int64(stamp & (1<<countBits - 1))
}

// counted is a stamp with so many more in that slot.
func counted(stamp, slot, more uint64) uint64 {
	if stamp>>countBits < slot {
		stamp = slot << countBits
	}
	return stamp + more
}

// called counts a call: one atomic addition, but for the first in its slot.
func (r *ring) called(at time.Duration) {
	now := r.slot(at)
	calls := &r.calls[now%slots]
	for {
		stamp := calls.Load()
		if stamp>>countBits >= now {
			calls.Add(1)
			return
		}
		if calls.CompareAndSwap(stamp, counted(stamp, now, 1)) {
			return
		}
	}
}

// giveBack takes a retry out of its slot, if that still counts.
func (r *ring) giveBack(slot uint64) {
	if stamp := r.retries[slot%slots]; stamp>>countBits == slot && stamp&(1<<countBits-1) > 0 {
		r.retries[slot%slots]--
	}
}
