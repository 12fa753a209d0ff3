package resilient

import (
	"errors"
	"fmt"
)

// AttemptLimit ends a call early whose attempts fail in one particular way: with the
// Max-th attempt that ends in a matching error, however many the policy allows. It
// never raises what the policy allows. See [Options].AttemptLimits. The zero value is
// not valid.
type AttemptLimit struct {
	// Match says which errors count. It is called concurrently, with no lock held; one
	// that panics does not match.
	Match func(err error) bool
	// Max is how many attempts of a call may end so: 1 … 100. With 1 such an error is
	// not retried, and comes back as it is, like one that is [Permanent]; with more the
	// call ends with an *[ExhaustedError].
	Max int
}

// LimitAttempts is an [AttemptLimit] for what errors.Is finds to be target.
func LimitAttempts(target error, most int) AttemptLimit {
	return AttemptLimit{Match: func(err error) bool { return errors.Is(err, target) }, Max: most}
}

// validate says what is wrong with the limits.
func validateLimits(limits []AttemptLimit) error {
	for i, l := range limits {
		switch {
		case l.Match == nil:
			return fmt.Errorf("Options.AttemptLimits[%d] has no Match", i)
		case l.Max < 1 || l.Max > maxAttempts:
			return fmt.Errorf("Options.AttemptLimits[%d].Max is %d, want 1 … %d", i, l.Max, maxAttempts)
		}
	}
	return nil
}

// limited counts an attempt's error against the limits that match it, and returns the
// least Max that has been reached; 0 if none has.
func (r *retries) limited(err error) (reached int) {
	limits := r.guard.options.AttemptLimits
	if len(limits) == 0 {
		return 0
	}
	if r.hits == nil {
		r.hits = make([]int, len(limits))
	}
	for i, l := range limits {
		if !r.guard.matches(l, err) {
			continue
		}
		r.hits[i]++
		if r.hits[i] >= l.Max && (reached == 0 || l.Max < reached) {
			reached = l.Max
		}
	}
	return reached
}

// matches asks one limit. One that panics does not match.
func (g *Guard) matches(l AttemptLimit, err error) (yes bool) {
	defer g.journal().Contain("AttemptLimit", func() { yes = false })
	return l.Match(err)
}
