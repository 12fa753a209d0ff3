package history

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// one is an event as the checker sees it, with what is known of its circuit's others.
type one struct {
	Event
	// earlier is how many commands were answered with an earlier time of the store's,
	// and same how many with just this one, itself included: the store tells its order.
	earlier, same int
	circuit       *circuit
}

// circuit is what is known of all events of one.
type circuit struct {
	answered []time.Duration // the store's times of the answers, in order
	times    []time.Duration // all that answers tell of, in order and each once
	again    map[uint64]bool // the IDs that were sent more than once
}

// state is what the store may have of one circuit. It is never changed.
type state struct {
	record breaker.Record
	saved  breaker.Record // at the fork
	now    time.Duration  // of the last step
	steps  int            // the answered commands so far
	key    string         // all of that: equal states have the same
}

func (s state) sealed() state {
	s.key = fmt.Sprintf("%v|%v|%v|%d", s.record, s.saved, s.now, s.steps)
	return s
}

var seed = maphash.MakeSeed()

// model is the store as porcupine is to see it: a record, which [breaker.Record.Apply]
// changes at the times that the answers name.
func model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state{}.sealed()} },
		Step: func(from, input, _ any) []any {
			next := []any{}
			for _, s := range input.(*one).step(from.(state)) {
				next = append(next, s.sealed())
			}
			return next
		},
		Equal: func(a, b any) bool { return a.(state).key == b.(state).key },
		Hash:  func(a any) uint64 { return maphash.String(seed, a.(state).key) },
	}
	return m.ToModel()
}

// step is all that the state can be after the event: nothing if it cannot have happened.
func (o *one) step(s state) []state {
	switch o.What {
	case Flush:
		s.record = breaker.Record{}
		return []state{s}
	case Fork:
		s.saved = s.record
		return []state{s}
	case Rewind:
		s.record = s.saved
		return []state{s}
	default:
	}
	if o.Answer != nil {
		return o.answered(s)
	}
	return o.lost(s)
}

// answered is the one state that the answer allows.
func (o *one) answered(s state) []state {
	a := o.Answer
	if s.steps < o.earlier || s.steps >= o.earlier+o.same || a.Now < s.now {
		return nil
	}
	next, answer := s.record.Apply(a.Now, o.Sent)
	if !agree(*a, answer) {
		return nil
	}
	s.record, s.now = o.circuit.forget(next), a.Now
	s.steps++
	return []state{s}
}

// lost is the states with and without a command of which nobody knows whether it was
// carried out, nor when. If it has left a trace, its time is one of those that later
// answers tell of; if not, any time between the answers before and after will do.
func (o *one) lost(s state) []state {
	all := []state{s}
	before := Never
	if s.steps < len(o.circuit.answered) {
		before = o.circuit.answered[s.steps]
	}
	at := func(now time.Duration) state {
		next := s
		record, _ := s.record.Apply(now, o.Sent)
		next.record, next.now = o.circuit.forget(record), now
		return next
	}
	first, _ := slices.BinarySearch(o.circuit.times, s.now)
	for _, now := range o.circuit.times[first:] {
		if now > before {
			break
		}
		all = append(all, at(now))
	}
	return append(all, at(s.now))
}

// forget drops the IDs that never come again, so that states are equal that nobody can
// tell apart.
func (c *circuit) forget(r breaker.Record) breaker.Record {
	r.Seen = slices.DeleteFunc(slices.Clone(r.Seen), func(id uint64) bool { return !c.again[id] })
	return r
}

// agree compares all that a store tells.
func agree(got, want breaker.Answer) bool {
	return got.Granted == want.Granted && got.Counted == want.Counted && got.Clamped == want.Clamped &&
		told(got) == told(want)
}

func told(a breaker.Answer) string {
	r := a.Record
	r.Votes, r.Seen = nil, nil
	r.Leases = slices.DeleteFunc(slices.Clone(r.Leases), func(l breaker.Lease) bool { return l.End <= a.Now })
	slices.SortFunc(r.Leases, func(a, b breaker.Lease) int { return cmp.Compare(a.Token, b.Token) })
	return fmt.Sprint(r)
}
