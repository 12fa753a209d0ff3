package breaker

import "time"

// OpenFor is how long a circuit of the given generation stays open, counted from its
// last failure: that of the first opening is 1, and so is what is below. The cooldown
// and what a dependency asks for itself ([Circuit.Withhold]) can make it longer.
func (s Settings) OpenFor(generation int) time.Duration { return s.openFor(max(1, generation)) }

// LeaseFor is how long a silent probe keeps its place when its attempt may take limit;
// 0 means that nothing limits it.
func (s Settings) LeaseFor(limit time.Duration) time.Duration { return s.leaseFor(limit) }
