package breaker

import "time"

// OpenFor is how long a circuit of the given generation stays open, counted from its
// last failure: that of the first opening is 1, and so is what is below. The cooldown
// and what a dependency asks for itself ([Circuit.Withhold]) can make it longer.
func (s Settings) OpenFor(generation int) time.Duration { return s.openFor(max(1, generation)) }

// LongestOpenFor is the same with all that RecoveryJitter may add to it.
func (s Settings) LongestOpenFor(generation int) time.Duration {
	return s.spread(s.OpenFor(generation), 1)
}

// FailuresAmong is how many failures there must be among so many calls of the Window for
// FailureRate to open the circuit; 0 if it never does: there is no such rule, or these
// are too few calls to judge by.
func (s Settings) FailuresAmong(calls int) int { return s.needed(shareOf(s.FailureRate), calls) }

// SlowAmong is the same of slow calls and SlowCallRate.
func (s Settings) SlowAmong(calls int) int { return s.needed(shareOf(s.SlowCallRate), calls) }

func (s Settings) needed(of share, calls int) int {
	if calls < max(1, s.MinimumCalls) {
		return 0
	}
	return int(of.least(uint64(calls)))
}

// LeaseFor is how long a silent probe keeps its place when its attempt may take limit;
// 0 means that nothing limits it.
func (s Settings) LeaseFor(limit time.Duration) time.Duration { return s.leaseFor(limit) }
