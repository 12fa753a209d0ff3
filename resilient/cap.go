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

// hold lowers a policy's attempts, and the bounds of its delays.
func (c *Cap) hold(r RetryPolicy) (RetryPolicy, bounds) {
	within := r.bounds()
	if c == nil {
		return r, within
	}
	if c.Attempts > 0 {
		r.MaxAttempts = min(r.MaxAttempts, c.Attempts)
	}
	return r, bounds{floor: min(within.floor, c.Delay), ceiling: min(within.ceiling, c.Delay)}
}
