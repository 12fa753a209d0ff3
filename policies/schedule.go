package policies

import "github.com/seed42274fcc/stoic/resilient"

// scheduleOf lays out the attempts of a call, by the delays that the pipeline draws
// from.
func scheduleOf(p resilient.Policy) Schedule {
	total, limit, r := p.TotalTimeout, p.AttemptLimit(), p.Retry
	s := Schedule{
		Floor: min(r.Backoff.Floor(), r.MaxDelay),
		Cap:   r.MaxDelay,
		Once:  limit,
	}
	at := Attempt{Number: 1, LatestEnd: limit}
	s.Attempts = append(s.Attempts, at)
	hinted := limit
	for n := 1; n < r.MaxAttempts; n++ {
		shortest, longest := r.Delays(n)
		at = Attempt{
			Number: n + 1, Shortest: shortest, Longest: longest,
			EarliestStart: min(at.EarliestStart+shortest, total),
			LatestStart:   min(at.LatestEnd+longest, total),
		}
		at.LatestEnd = min(at.LatestStart+limit, total)
		at.Never = at.EarliestStart >= total // no attempt starts at the end of the time
		s.Attempts = append(s.Attempts, at)
		if !at.Never {
			hinted = min(hinted+max(longest, r.MaxRetryAfter)+limit, total)
		}
	}
	for _, at := range s.Attempts {
		if !at.Never {
			s.Possible, s.Longest = at.Number, at.LatestEnd
		}
	}
	s.LongestHinted = hinted
	return s
}
