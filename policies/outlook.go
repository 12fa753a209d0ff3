package policies

import (
	"math"
	"sort"
	"time"

	"github.com/seed42274fcc/stoic/resilient"
)

// outlookOf says when the circuit of a policy opens and how it recovers.
func outlookOf(p resilient.Policy) CircuitOutlook {
	c := p.Circuit
	if !c.Enabled {
		return CircuitOutlook{}
	}
	limit := p.AttemptLimit()
	o := CircuitOutlook{
		Enabled:       true,
		Observes:      c.Observe,
		Failures:      c.FailureThreshold,
		SlowFrom:      c.SlowCallDuration,
		FailingAtOnce: openingOf(p, 0),
		Hanging:       openingOf(p, limit),
		NineInTen:     attemptsUntil(c.FailureThreshold, 0.9),
		CapGeneration: capGeneration(c),
		Lease:         c.LeaseFor(limit),
	}
	if c.FailureRate > 0 {
		o.FailureShare = Share{c.FailureRate, c.FailuresAmong(c.MinimumCalls), c.MinimumCalls, c.Window}
	}
	if c.SlowCallRate > 0 {
		o.SlowShare = Share{c.SlowCallRate, c.SlowAmong(c.MinimumCalls), c.MinimumCalls, c.Window}
	}
	for generation := 1; generation <= maxOpenTimes; generation++ {
		open, longest := c.OpenFor(generation), c.LongestOpenFor(generation)
		o.Open = append(o.Open, OpenTime{
			Generation: generation, For: open, LongestFor: longest,
			AfterProbe: max(open, c.Cooldown), LongestAfterProbe: max(longest, c.Cooldown),
		})
		if c.RecoveryMultiplier <= 1 || generation == o.CapGeneration {
			break
		}
	}
	return o
}

// maxOpenTimes is how many open times are listed.
const maxOpenTimes = 20

// openingOf is when the circuit of a policy opens if each attempt takes that long, and
// fails.
func openingOf(p resilient.Policy, attempt time.Duration) Opening {
	c := p.Circuit
	judged := c.FailureRate > 0 || (c.SlowCallRate > 0 && attempt >= c.SlowCallDuration) // of failures all reach every share
	o := Opening{Attempts: c.FailureThreshold}
	if judged && (o.Attempts == 0 || c.MinimumCalls < o.Attempts) {
		o.Attempts = c.MinimumCalls
	}
	if o.Attempts == 0 {
		return Opening{}
	}
	o.ManyCallers = attempt
	fails := failuresOfOneCaller(p, attempt)
	if c.FailureThreshold > 0 {
		o.OneCallerAttempts, o.OneCaller = c.FailureThreshold, fails.at(c.FailureThreshold)
	}
	if judged {
		if n := fails.fill(c); n > 0 && (o.OneCallerAttempts == 0 || n < o.OneCallerAttempts) {
			o.OneCallerAttempts, o.OneCaller = n, fails.at(n)
		}
	}
	return o
}

// series is when the failures of one call come that is repeated, from its begin; it ends
// with the last, and the next call begins.
type series []time.Duration

// failuresOfOneCaller are those of a call of which each attempt takes that long, and every
// wait is the shortest.
func failuresOfOneCaller(p resilient.Policy, attempt time.Duration) (failures series) {
	for now, n := time.Duration(0), 1; ; n++ {
		now = min(now+attempt, p.TotalTimeout)
		failures = append(failures, now)
		shortest, _ := p.Retry.Delays(n)
		if n >= p.Retry.MaxAttempts || shortest >= p.TotalTimeout-now {
			return failures
		}
		now += shortest
	}
}

// at is when the n-th failure comes, of one call after the other.
func (s series) at(n int) time.Duration {
	calls, rest := (n-1)/len(s), (n-1)%len(s)
	return time.Duration(calls)*s[len(s)-1] + s[rest]
}

// fill is the failure with which the window has as many as are judged, 0 if there is
// none: it begins with the first one, and forgets by the bucket.
func (s series) fill(c resilient.CircuitPolicy) int {
	buckets := time.Duration(c.WindowBuckets)
	period := (c.Window + buckets - 1) / buckets
	bucket := func(n int) time.Duration { return (s.at(n) - s.at(1)) / period }
	for n := c.MinimumCalls; n < c.MinimumCalls+patientTries; n++ {
		if bucket(n)-bucket(n-c.MinimumCalls+1) < buckets {
			return n
		}
	}
	return 0
}

// patientTries is how many further failures are looked at. Where the first ones are too
// seldom, later ones can be enough only if they come unevenly.
const patientTries = 1000

// attemptsUntil is how many attempts it takes on average until so many in a row have
// failed, when each fails by that chance: (p^-k - 1) / (1 - p). It is 0 for 0 in a row.
func attemptsUntil(inARow int, chance float64) float64 {
	return min((math.Pow(chance, -float64(inARow))-1)/(1-chance), foreverInPractice)
}

// foreverInPractice is more attempts than anybody makes.
const foreverInPractice = 1e12

// capGeneration is the first generation whose open time is the longest.
func capGeneration(c resilient.CircuitPolicy) int {
	if c.OpenFor(math.MaxInt32) < c.MaxRecoveryTimeout {
		return 0 // it does not grow, or that slowly
	}
	return 1 + sort.Search(math.MaxInt32, func(i int) bool { return c.OpenFor(i+1) >= c.MaxRecoveryTimeout })
}

// nineReach reports whether nine failures in ten reach the share that opens the circuit.
func (o CircuitOutlook) nineReach() bool {
	return o.FailureShare.Calls > 0 && o.FailureShare.Rate <= 0.9
}
