package storetest

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// op is one command of many that ran at once: when it was sent, what came of it, and
// when. The stamps count sends and replies.
type op struct {
	sent, replied int64
	command       breaker.Command
	answer        breaker.Answer
}

// crowd runs actors at once: they wait at a barrier until all are there. Each is given
// what sends a command on this circuit through a client of its own. It returns what all
// of them did.
func (w *twin) crowd(actors int, act func(actor int, send func(breaker.Command) breaker.Answer)) []op {
	var (
		stamp   atomic.Int64
		mu      sync.Mutex
		history []op
		ready   sync.WaitGroup
		done    sync.WaitGroup
		barrier = make(chan struct{})
	)
	ready.Add(actors)
	for actor := range actors {
		done.Go(func() {
			ready.Done()
			<-barrier
			act(actor, func(c breaker.Command) breaker.Answer {
				if c.ID == 0 {
					c.ID = newID()
				}
				o := op{sent: stamp.Add(1), command: c}
				var err error
				if o.answer, err = w.send(actor, w.name, c); err != nil {
					w.errorf("%s: %v", describe(c), err)
					return o.answer
				}
				o.replied = stamp.Add(1)
				mu.Lock()
				history = append(history, o)
				mu.Unlock()
				return o.answer
			})
		})
	}
	ready.Wait()
	close(barrier)
	done.Wait()
	w.must(len(w.findings) == 0, "so nothing can be said of %d commands at once", len(history))
	return history
}

// explain ends the check unless there is an order in which Apply gives the answers that
// the commands of a history got: one in which no command comes before one that was
// answered before it was sent. The twin is left at the end of that order.
func (w *twin) explain(history []op) {
	history = slices.Clone(history)
	slices.SortFunc(history, func(a, b op) int {
		return cmp.Or(cmp.Compare(a.answer.Now, b.answer.Now), cmp.Compare(a.sent, b.sent))
	})
	s := &search{ops: history, done: make([]bool, len(history)), failed: map[string]bool{}, steps: mostSteps}
	found := s.from(w.want, 0)
	switch {
	case found:
		w.want = s.end
	case s.steps <= 0:
		w.notef("not checked: the answers to %d commands at once have too many orders", len(history))
		panic(stop{})
	default:
		w.fatalf("no order of %d commands at once explains their answers; the longest ends after %d: %s",
			len(history), s.longest, s.stuck)
	}
}

// mostSteps is when the search for an order is given up.
const mostSteps = 100_000

// search looks for an order. Each answer holds the whole state, so that most wrong turns
// are seen at once.
type search struct {
	ops     []op // by the store's time
	done    []bool
	failed  map[string]bool // what no order continues
	steps   int
	end     breaker.Record
	longest int    // how many commands could be put in order
	stuck   string // and what came next
}

// from continues an order of n commands that has led to r.
func (s *search) from(r breaker.Record, n int) bool {
	if n == len(s.ops) {
		s.end = r
		return true
	}
	key := s.key(r)
	if s.failed[key] {
		return false
	}
	candidates := s.candidates()
	var faults []string
	for _, i := range candidates {
		if s.steps--; s.steps <= 0 {
			return false
		}
		next, answer := r.Apply(s.ops[i].answer.Now, s.ops[i].command)
		if d := diff(s.ops[i].answer, answer); d != "" {
			faults = append(faults, fmt.Sprintf("%s: %s", describe(s.ops[i].command), d))
			continue
		}
		s.done[i] = true
		if s.from(next, n+1) {
			return true
		}
		s.done[i] = false
		if reflect.DeepEqual(r, next) {
			break // what changes nothing can come first in any order
		}
	}
	if n >= s.longest && len(faults) == len(candidates) {
		s.longest, s.stuck = n, fmt.Sprintf("%q", faults)
	}
	s.failed[key] = true
	return false
}

// key is what can still follow: it depends on what is done, and on the state. The order
// of the IDs does not matter while none is forgotten.
func (s *search) key(r breaker.Record) string {
	if len(r.Seen)+len(s.ops) <= 64 {
		r.Seen = slices.Sorted(slices.Values(r.Seen))
	}
	return fmt.Sprint(s.done, r)
}

// candidates are the commands that can come next: those with the earliest time that were
// sent before any other was answered.
func (s *search) candidates() []int {
	replied, now := int64(math.MaxInt64), time.Duration(-1)
	for i, o := range s.ops {
		if s.done[i] {
			continue
		}
		replied = min(replied, o.replied)
		if now < 0 {
			now = o.answer.Now
		}
	}
	var found []int
	for i, o := range s.ops {
		if !s.done[i] && o.answer.Now == now && o.sent < replied {
			found = append(found, i)
		}
	}
	return found
}
