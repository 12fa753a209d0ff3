package breaker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// MemoryOptions say what a [MemoryStore] tells the circuits that use it. A nil
// *MemoryOptions is valid, and so is the zero value.
type MemoryOptions struct {
	// Timeout and MaxViewAge are the [Terms]' own; 50 ms and 1 s unless more than 0.
	Timeout, MaxViewAge time.Duration
	// Strict is the Terms' own.
	Strict bool
	// Silent keeps the news back: circuits then read when their view is too old.
	Silent bool
	// Retention is how long a circuit that nobody asks for is kept, once its open time,
	// leases and force must have ended: 1 h unless more than that. It is to be longer
	// than the longest call.
	Retention time.Duration
}

const (
	defaultTimeout    = 50 * time.Millisecond
	defaultMaxViewAge = time.Second
	leastRetention    = time.Hour
)

// MemoryStore is a [Store] in this process: for several circuits that share a state, and
// for tests. It keeps nothing of circuits that never failed, and of the others no more
// than [MemoryOptions].Retention says. Its clock is the wall clock. It starts no
// goroutine. A name that is watched is kept in mind for good, since whoever watches it
// is not to miss anything. All methods are safe for concurrent use. Make it with
// [NewMemoryStore].
//
// News are delivered in order, one at a time for each circuit and with no lock held, on
// the goroutine of a command that caused one of them: often, but not always, before its
// Do has returned. They tell of all that makes another's view wrong: transitions, the
// first failure, the end of a run of failures, places taken and freed, votes and orders.
// What a listener panics with comes out of that Do; the others are told nevertheless.
type MemoryStore struct {
	options MemoryOptions
	clock   func() time.Duration

	mu      sync.Mutex // guards what follows; never held while foreign code runs
	records map[string]kept
	topics  map[string]*topic
	sweepAt int // how many records there must be for the next sweep
}

// kept is a record, and when it was last asked for.
type kept struct {
	record Record
	asked  time.Duration
}

// NewMemoryStore makes an empty store.
func NewMemoryStore(options *MemoryOptions) *MemoryStore {
	s := &MemoryStore{clock: wallClock, records: map[string]kept{}, topics: map[string]*topic{}, sweepAt: leastSweep}
	if options != nil {
		s.options = *options
	}
	s.options.Timeout = cmp.Or(max(s.options.Timeout, 0), defaultTimeout)
	s.options.MaxViewAge = cmp.Or(max(s.options.MaxViewAge, 0), defaultMaxViewAge)
	s.options.Retention = max(s.options.Retention, leastRetention)
	return s
}

func wallClock() time.Duration { return time.Duration(time.Now().UnixMicro()) * time.Microsecond }

// Terms are those of the options.
func (s *MemoryStore) Terms() Terms {
	return Terms{Timeout: s.options.Timeout, MaxViewAge: s.options.MaxViewAge, Strict: s.options.Strict}
}

// Do carries out one command, by [Record.Apply]. It does not wait, and fails only if the
// context has ended or an operator's order is not valid.
func (s *MemoryStore) Do(ctx context.Context, circuit string, c Command) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	if c.Kind == Operate {
		if err := c.Order.Validate(); err != nil {
			return Answer{}, err
		}
	}
	s.mu.Lock()
	answer := s.apply(circuit, c)
	t := s.topics[circuit]
	s.mu.Unlock()
	if t != nil {
		t.news.deliver(&s.mu, telling.tell)
	}
	return answer, nil
}

// apply is the one door for a change. The mutex is held.
func (s *MemoryStore) apply(circuit string, c Command) Answer {
	before := s.records[circuit].record
	after, answer := before.Apply(s.clock(), c)
	s.keep(circuit, kept{record: after, asked: answer.Now})
	if t := s.topics[circuit]; t != nil && newsworthy(before, after) {
		for _, listener := range t.listeners {
			t.news.add(telling{listener, answer.shown()})
		}
	}
	return answer.shown()
}

// keep stores a record, unless there is nothing in it.
func (s *MemoryStore) keep(circuit string, k kept) {
	if k.record.Round == 0 && len(k.record.Seen) == 0 {
		return
	}
	s.records[circuit] = k
	if len(s.records) >= s.sweepAt {
		s.sweep(k.asked)
	}
}

// leastSweep is how many records are not worth looking through.
const leastSweep = 64

// sweep forgets what has been kept for long enough. It comes again when there are twice
// as many as were left: so each command pays for two records at most, and no more than
// twice as many are kept as are needed.
func (s *MemoryStore) sweep(now time.Duration) {
	for circuit, k := range s.records {
		if now >= addTime(k.needed(), s.options.Retention) {
			delete(s.records, circuit)
		}
	}
	s.sweepAt = max(leastSweep, 2*len(s.records))
}

// needed is until when a record may still decide something: settings can make an open
// time or a cooldown of maxTime at most.
func (k kept) needed() time.Duration {
	r, end := k.record, max(k.asked, k.record.ForceUntil)
	if r.Beneath != Closed || r.Failures > 0 {
		end = max(end, addTime(r.LastFailure, maxTime))
	}
	if r.LastHalfOpen != 0 {
		end = max(end, addTime(r.LastHalfOpen, maxTime))
	}
	for _, l := range r.Leases {
		end = max(end, l.End)
	}
	for _, v := range r.Votes {
		end = max(end, v.End)
	}
	return end
}

// shown is the answer without what is the store's own.
func (a Answer) shown() Answer {
	a.Record.Leases = slices.Clone(a.Record.Leases)
	a.Record.Votes, a.Record.Seen = nil, nil
	return a
}

// DoAll is Do for each command. Here it saves nothing.
func (s *MemoryStore) DoAll(ctx context.Context, commands []BatchCommand) []BatchReply {
	replies := make([]BatchReply, len(commands))
	for i, c := range commands {
		replies[i].Answer, replies[i].Err = s.Do(ctx, c.Circuit, c.Command)
	}
	return replies
}
