package breaker

import (
	"time"
	"unsafe"
)

// PermitSize is what a permit takes.
const PermitSize = unsafe.Sizeof(Permit{})

// Lock holds the circuit's mutex until the returned function is called.
func Lock(c *Circuit) (unlock func()) {
	c.mu.Lock()
	return c.mu.Unlock
}

// Key is a machine in a form that can be compared, all of its fields included.
type Key struct {
	beneath                          State
	force                            Force
	round, tokens                    uint64
	generation, successes            int
	lastFailure, lastHalfOpen, since time.Duration
	leases                           [4]Lease
}

// KeyOf returns the machine's key. It has room for the few probes of a test.
func KeyOf(m Machine) Key {
	k := Key{
		m.Beneath, m.Force, m.Round, m.tokens, m.Generation, m.Successes,
		m.LastFailure, m.LastHalfOpen, m.Since, [4]Lease{},
	}
	if copy(k.leases[:], m.Leases) < len(m.Leases) {
		panic("more leases than a test has probes")
	}
	return k
}

// Skew sets the store's clock forward, or back.
func (s *MemoryStore) Skew(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clock := s.clock
	s.clock = func() time.Duration { return clock() + d }
}

// Now is the store's clock.
func (s *MemoryStore) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock()
}

// Forget takes a record away.
func (s *MemoryStore) Forget(circuit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, circuit)
}

// Len is how many records are kept.
func (s *MemoryStore) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.records)
}

// Reached reports whether bad calls of all are the share that a rate stands for.
func Reached(rate float64, bad, all uint64) bool { return shareOf(rate).reached(bad, all) }

// ShareOf is the fraction that a rate is taken for.
func ShareOf(rate float64) (part, whole uint64) {
	s := shareOf(rate)
	return s.part, s.whole
}

// Window is what counts the calls of a closed circuit.
type Window struct{ *window }

// NewWindow makes one; the clock may do what no circuit's does.
func NewWindow(s Settings, clock func() time.Duration) Window {
	return Window{newWindow(s, clock)}
}

// Count counts an outcome, as a circuit does under its lock.
func (w Window) Count(o Outcome, slow bool, now time.Duration) Rule {
	rule, _ := w.count(o, slow, now)
	return rule
}

// Success counts a success as a circuit does without a lock.
func (w Window) Success(now time.Duration) bool { return w.success(now) }

// Quick counts one by when its call began, if that can be.
func (w Window) Quick(began time.Duration) bool { return w.quick(began) }

// Buckets is how many it holds.
func (w Window) Buckets() int { return len(w.buckets) }

// Counts is what it holds.
func (w Window) Counts(now time.Duration) Counts { return w.counts(now) }
