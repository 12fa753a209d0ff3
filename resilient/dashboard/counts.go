package dashboard

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

const (
	history = 120 // seconds that are shown
	ring    = 128 // seconds that are kept: more than are shown, and the one under way
	mean    = 10  // seconds that rates are of

	stretch  = 10 // seconds of one histogram
	stretchs = 6  // of them are a minute
	toldOf   = 16 // transitions of one guard that are kept
)

// counts are what is counted of one guard: a fixed size, written without a lock.
type counts struct {
	seconds [ring]second
	latency [stretchs][buckets]tally
	totals  totals

	mu   sync.Mutex
	told []item // the latest transitions, the oldest first
}

// second is what happened within one.
type second struct {
	done      tally // calls that ended after at least one attempt
	tries     tally // their attempts
	successes tally // attempts by outcome, when they ended
	failures  tally
	neutral   tally
	refused   tally // calls that were refused at once
}

// totals are those since the meter was made, for [Metrics].
type totals struct {
	succeeded, failed, refused atomic.Uint64                       // calls
	attempts                   [breaker.Neutral + 1]atomic.Uint64  // by outcome
	rejected                   [breaker.Disabled + 1]atomic.Uint64 // attempts, by the state that refused them
	changes                    [breaker.Disabled + 1]atomic.Uint64 // transitions, by the state that they led to
	retries, late, fellOver    atomic.Uint64                       //
	delay, took                atomic.Uint64                       // nanoseconds, of waits and of calls
	upTo                       [len(bounds) + 1]atomic.Uint64      // calls by how long they took, each in one place
}

// bounds are those of the histogram that Metrics writes.
var bounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 300 * time.Second,
}

func boundOf(d time.Duration) int {
	for i, bound := range bounds {
		if d <= bound {
			return i
		}
	}
	return len(bounds)
}

func (c *counts) at(now uint32) *second { return &c.seconds[now%ring] }

func (c *counts) attempted(now uint32, o breaker.Outcome) {
	s := c.at(now)
	switch o {
	case breaker.Success:
		s.successes.add(now, 1)
	case breaker.Neutral:
		s.neutral.add(now, 1)
	default:
		o = breaker.Failure // what nobody has judged is one
		s.failures.add(now, 1)
	}
	c.totals.attempts[o].Add(1)
}

func (c *counts) done(now uint32, attempts int, took time.Duration, err error) {
	s := c.at(now)
	s.done.add(now, 1)
	s.tries.add(now, uint32(max(attempts, 0)))
	window := now/stretch + 1
	c.latency[window%stretchs][bucketOf(took)].add(window, 1)
	if err == nil {
		c.totals.succeeded.Add(1)
	} else {
		c.totals.failed.Add(1)
	}
	c.totals.took.Add(uint64(max(took, 0)))
	c.totals.upTo[boundOf(took)].Add(1)
}

// rejected counts an attempt that was refused, and the call if it was the first.
func (c *counts) rejected(now uint32, by breaker.State, first bool) {
	if first {
		c.at(now).refused.add(now, 1)
		c.totals.refused.Add(1)
	}
	if int(by) < len(c.totals.rejected) {
		c.totals.rejected[by].Add(1)
	}
}

// point is one second as the line shows it.
type point struct{ all, errors uint64 }

func (c *counts) point(second uint32) point {
	s := c.at(second)
	errors := s.failures.of(second) + s.refused.of(second)
	return point{all: errors + s.successes.of(second) + s.neutral.of(second), errors: errors}
}

// rates are the traffic of a guard as its tile shows it. None is a negative number where
// it has no meaning.
type rates struct {
	calls    float64 // a second
	refused  float64 // likewise
	errors   float64 // of 1
	attempts float64 // a call
	took     [3]time.Duration
}

// rates are those of the seconds before now.
func (c *counts) rates(now uint32) rates {
	var done, tries, judged, errors, refused uint64
	for at := now - min(mean, now); at < now; at++ {
		s := c.at(at)
		done += s.done.of(at)
		tries += s.tries.of(at)
		refused += s.refused.of(at)
		failed := s.failures.of(at) + s.refused.of(at)
		errors += failed
		judged += failed + s.successes.of(at)
	}
	r := rates{
		calls: float64(done+refused) / mean, refused: float64(refused) / mean,
		errors: ratio(errors, judged), attempts: ratio(tries, done),
	}
	var lasted [buckets]uint64
	window := now/stretch + 1
	for at := window - min(stretchs-1, window-1); at <= window; at++ {
		place := &c.latency[at%stretchs]
		for i := range place {
			lasted[i] += place[i].of(at)
		}
	}
	r.took = percentiles(&lasted)
	return r
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return -1
	}
	return float64(a) / float64(b)
}
