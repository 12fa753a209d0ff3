package breaker

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
)

// window counts the calls of a closed circuit that were settled lately, for the rules
// that look at shares. Failures and slow calls are counted by gobreaker, over its rolling
// window, which also asks when to trip; successes, which are most of all calls, are
// counted here, each with one atomic addition: by gobreaker a success takes its mutex
// twice and reads the clock twice, more than ten times as long (bench measures it).
//
// The two must not disagree about what the window holds. gobreaker counts in buckets
// from when it was made, and the buckets here begin at the same time, as exactly as that
// can be known: no earlier than began and no later than made. Where that leaves a doubt
// whether gobreaker has forgotten a bucket yet, the successes of that time are kept: they
// can only make a share smaller for a moment.
type window struct {
	shape   shape
	rates   rates
	period  time.Duration // of a bucket
	began   time.Duration
	made    time.Duration
	slow    *rolling // nil without a rule for slow calls
	failed  *rolling
	current atomic.Pointer[bucket]
	buckets []*bucket // the last ones, the current one at the end; the circuit's mutex guards it
}

// shape is what a window is made for.
type shape struct {
	span    time.Duration
	buckets int
	slow    bool
}

func (s Settings) shape() shape { return shape{s.Window, s.WindowBuckets, s.SlowCallRate > 0} }

// bucket counts the successes of one period. It is never used again for another, so
// that whoever comes late adds to nothing that matters. It has a cache line of its own,
// since all callers write to it.
type bucket struct {
	number      int64         // how many periods lie before it
	from, until time.Duration // until is where the next one begins
	successes   atomic.Uint64
	_           [32]byte
}

func newWindow(settings Settings, clock func() time.Duration) *window {
	s := settings.shape()
	n := time.Duration(s.buckets)
	w := &window{shape: s, rates: settings.rates(), period: (s.span + n - 1) / n, began: clock()}
	if s.slow {
		w.slow = newRolling(w.period, n) // first, so that it never forgets before failed does
	}
	w.failed = newRolling(w.period, n)
	w.made = clock()
	w.begin(0)
	return w
}

// quick counts a success by when its call began, which is known: most calls end in the
// bucket in which they begin. Reading the clock would take twice as long as all the rest,
// so only each eighth success of a bucket does. So it can be that up to seven are counted
// that had their end in a later bucket, where no call that began in that one has ended
// yet: they are forgotten that much earlier. It reports false, and counts nothing, where
// the clock has to be read.
func (w *window) quick(began time.Duration) bool {
	b := w.current.Load()
	if began < b.from || began >= b.until || b.successes.Load()%8 == 7 {
		return false
	}
	b.successes.Add(1)
	return true
}

// success counts one that ended now. It reports false, and counts nothing, when a new bucket is due,
// for which the mutex is needed. A time that went backwards counts as the bucket's.
func (w *window) success(now time.Duration) bool {
	b := w.current.Load()
	if now >= b.until {
		return false
	}
	b.successes.Add(1)
	return true
}

// count counts one outcome, neutral excepted, and reports which rule, if any, is
// reached by it, and what the window holds then. The circuit's mutex is held.
func (w *window) count(o Outcome, slow bool, now time.Duration) (Rule, Counts) {
	w.roll(now)
	if o == Success {
		w.current.Load().successes.Add(1)
	}
	rule, n := NoRule, Counts{Calls: w.successes(now)}
	if o == Success {
		n.Failures = w.failed.total()
		n.Calls += n.Failures
	} else if w.failed.count(func(failures uint64) bool {
		n.Failures = failures
		n.Calls += failures
		return w.rates.reach(w.rates.failures, failures, n.Calls)
	}) {
		rule = RuleFailureRate
	}
	switch {
	case w.slow == nil:
	case !slow:
		n.Slow = w.slow.total()
	case w.slow.count(func(slow uint64) bool {
		n.Slow = slow
		return w.rates.reach(w.rates.slow, slow, n.Calls)
	}) && rule == NoRule:
		rule = RuleSlowCalls
	}
	return rule, n
}

// counts is what the window holds. The circuit's mutex is held.
func (w *window) counts(now time.Duration) Counts {
	n := Counts{Failures: w.failed.total()}
	n.Calls = w.successes(now) + n.Failures
	if w.slow != nil {
		n.Slow = w.slow.total()
	}
	return n
}

// successes are those of the buckets that gobreaker may have in its window.
func (w *window) successes(now time.Duration) (n uint64) {
	newest := int64(max(now-w.made, 0) / w.period)
	for _, b := range w.buckets {
		if b.number > newest-int64(w.shape.buckets) {
			n += b.successes.Load()
		}
	}
	return n
}

// roll begins a new bucket if it is time to.
func (w *window) roll(now time.Duration) {
	if now >= w.current.Load().until {
		w.begin(int64((now - w.began) / w.period))
	}
}

// begin begins the bucket of that number, and forgets those that no window will hold.
func (w *window) begin(number int64) {
	from := w.began + time.Duration(number)*w.period
	b := &bucket{number: number, from: from, until: from + w.period}
	w.buckets = append(slices.DeleteFunc(w.buckets, func(old *bucket) bool {
		return old.number < number-int64(w.shape.buckets)
	}), b)
	w.current.Store(b)
}

// rates are the shares that a window is held against.
type rates struct {
	failures, slow share
	minimum        uint64 // of calls
}

func (s Settings) rates() rates {
	return rates{shareOf(s.FailureRate), shareOf(s.SlowCallRate), uint64(s.MinimumCalls)}
}

func (r rates) reach(s share, bad, calls uint64) bool {
	return calls >= r.minimum && s.reached(bad, calls)
}

// rolling counts what is bad over gobreaker's rolling window. Its counts of requests,
// which have calls in flight in them, and of consecutive failures, which decay with the
// window, are not looked at. What it counts has ended, so no interval is too short for a
// call. Once it has tripped it counts no more: the circuit's next round has a new one.
type rolling struct {
	breaker *gobreaker.CircuitBreaker[struct{}]
	judge   func(bad uint64) bool
	tripped bool
}

func newRolling(period, buckets time.Duration) *rolling {
	r := &rolling{}
	r.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Interval: period * buckets, BucketPeriod: period,
		ReadyToTrip: func(counts gobreaker.Counts) bool { // under gobreaker's own lock
			r.tripped = r.judge(uint64(counts.TotalFailures))
			return r.tripped
		},
	})
	return r
}

// count counts one and reports whether the judge, who is given all, wants to trip.
func (r *rolling) count(judge func(bad uint64) bool) bool {
	r.judge = judge
	_, _ = r.breaker.Execute(countOne)
	return r.tripped
}

// total is how many there are. Its counts are those of the last time that it was asked
// anything, and State is what brings them up to date.
func (r *rolling) total() uint64 {
	_ = r.breaker.State()
	return uint64(r.breaker.Counts().TotalFailures)
}
