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
		Failures:      c.FailureThreshold,
		FailingAtOnce: Opening{OneCaller: oneCaller(p, 0)},
		Hanging:       Opening{ManyCallers: limit, OneCaller: oneCaller(p, limit)},
		NineInTen:     attemptsUntil(c.FailureThreshold, 0.9),
		CapGeneration: capGeneration(c),
		Lease:         c.LeaseFor(limit),
	}
	for generation := 1; generation <= maxOpenTimes; generation++ {
		open := c.OpenFor(generation)
		o.Open = append(o.Open, OpenTime{Generation: generation, For: open, AfterProbe: max(open, c.Cooldown)})
		if c.RecoveryMultiplier <= 1 || generation == o.CapGeneration {
			break
		}
	}
	return o
}

// maxOpenTimes is how many open times are listed.
const maxOpenTimes = 20

// oneCaller is how long it takes one caller to make as many failures as open the
// circuit, when each attempt takes that long and every wait is the shortest.
func oneCaller(p resilient.Policy, attempt time.Duration) time.Duration {
	if p.Circuit.FailureThreshold < 1 {
		return 0
	}
	var failures []time.Duration // of one call, from its begin; it ends with the last
	for now, n := time.Duration(0), 1; ; n++ {
		now = min(now+attempt, p.TotalTimeout)
		failures = append(failures, now)
		shortest, _ := p.Retry.Delays(n)
		if n >= p.Retry.MaxAttempts || shortest >= p.TotalTimeout-now {
			break
		}
		now += shortest
	}
	before := p.Circuit.FailureThreshold - 1
	calls, rest := before/len(failures), before%len(failures)
	return time.Duration(calls)*failures[len(failures)-1] + failures[rest]
}

// attemptsUntil is how many attempts it takes on average until so many in a row have
// failed, when each fails by that chance: (p^-k - 1) / (1 - p).
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
