package breaker

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// counter counts a closed circuit's outcomes and says when to trip. The counting
// is gobreaker's; the circuit's mutex serialises the calls. The zero value has
// counted nothing.
//
// gobreaker is used for its closed state only. No interval and no bucket period
// are set: with buckets its count of consecutive failures decays, and with a
// short interval it forgets outcomes of calls that outlast it. It cannot be
// reset, so a counter that is to forget makes a new one; it is made at the first
// failure, so that a dependency which never fails never pays for one.
type counter struct {
	breaker   *gobreaker.CircuitBreaker[struct{}]
	threshold int  // what the present failure is measured against
	run       int  // consecutive failures, the present one included
	tripped   bool // whether they are enough
}

// recoveryIsOurs is longer than any tripped counter is kept.
const recoveryIsOurs = 100 * 365 * 24 * time.Hour

var errCounted = errors.New("a failure, as far as the counter is concerned")

// failure counts one and reports whether the circuit is to open.
func (c *counter) failure(threshold int) bool {
	if c.breaker == nil {
		c.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
			Timeout:     recoveryIsOurs,
			ReadyToTrip: c.readyToTrip,
		})
	}
	c.threshold = threshold
	_, _ = c.breaker.Execute(func() (struct{}, error) { return struct{}{}, errCounted })
	return c.tripped
}

// success ends a run of failures.
func (c *counter) success() {
	if c.breaker != nil {
		_, _ = c.breaker.Execute(func() (struct{}, error) { return struct{}{}, nil })
		c.run = 0
	}
}

// reset forgets everything.
func (c *counter) reset() { *c = counter{} }

func (c *counter) readyToTrip(counts gobreaker.Counts) bool {
	// Asked by gobreaker under its own lock, and the only time that it tells: once
	// tripped its counts are gone.
	c.run = int(counts.ConsecutiveFailures)
	c.tripped = c.run >= c.threshold
	return c.tripped
}
