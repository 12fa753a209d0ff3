package resilient

import (
	"fmt"
	"time"
)

// Cap holds retries below what policies say, for tests that should not take long. It
// lowers and never raises. See [Options].Cap.
type Cap struct {
	// Attempts is the most attempts of a call, where the policy allows more; 0 leaves it
	// to the policy.
	Attempts int
	// Delay is the longest wait before a retry, where the strategy's is longer. The zero
	// value does not wait. What a server asked for ([RetryAfter]) is waited for all the
	// same: it is a part of what is tested.
	Delay time.Duration
}

func (c *Cap) validate() error {
	switch {
	case c == nil:
		return nil
	case c.Attempts < 0 || c.Delay < 0:
		return fmt.Errorf("Options.Cap is %+v, want nothing negative", *c)
	}
	return nil
}

// hold lowers what the policy allows.
func (c *Cap) hold(r RetryPolicy) (attempts int, delays []spread) {
	attempts = r.MaxAttempts
	if c != nil && c.Attempts > 0 {
		attempts = min(attempts, c.Attempts)
	}
	r.MaxAttempts = attempts
	delays = r.spreads()
	for i := range delays {
		if c != nil {
			delays[i].floor = min(delays[i].floor, c.Delay)
			delays[i].ceiling = min(delays[i].ceiling, c.Delay)
		}
	}
	return attempts, delays
}
