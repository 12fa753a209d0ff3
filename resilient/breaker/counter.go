package breaker

import (
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// counter counts a closed circuit's outcomes and says which rule wants it to open. The
// circuit's mutex serialises the calls. The zero value has counted nothing.
type counter struct {
	row    *row    // nil until something has failed
	window *window // nil until something is counted under a rule that looks at it
}

// reset forgets everything.
func (c *counter) reset() { *c = counter{} }

// fit drops a window that is not what the settings want; the next outcome begins another.
func (c *counter) fit(s Settings) {
	switch {
	case c.window == nil:
	case s.windowed() && c.window.shape == s.shape():
		c.window.rates = s.rates()
	default:
		c.window = nil
	}
}

// lately counts an outcome in the window, and reports which of its rules is reached, and
// with what.
func (c *counter) lately(o Outcome, slow bool, s Settings, clock func() time.Duration) (Rule, Counts) {
	if !s.windowed() {
		return NoRule, Counts{}
	}
	if c.window == nil {
		c.window = newWindow(s, clock)
	}
	return c.window.count(o, slow, clock())
}

// failure counts one in the row and reports whether the circuit is to open.
func (c *counter) failure(threshold int) bool {
	if c.row == nil {
		c.row = newRow()
	}
	return c.row.failure(threshold)
}

// success ends a row.
func (c *counter) success() {
	if c.row != nil {
		c.row.success()
	}
}

// run is how long the row is.
func (c *counter) run() int {
	if c.row == nil {
		return 0
	}
	return c.row.run
}

// row counts failures in a row. The counting is gobreaker's.
//
// gobreaker is used for its closed state only. No interval and no bucket period
// are set: with buckets its count of consecutive failures decays, and with a
// short interval it forgets outcomes of calls that outlast it. It cannot be
// reset, so a row that is to forget makes a new one; it is made at the first
// failure, so that a dependency which never fails never pays for one. Recovery is not
// its part: one that has tripped is dropped at once.
type row struct {
	breaker   *gobreaker.CircuitBreaker[struct{}]
	threshold int  // what the present failure is measured against
	run       int  // consecutive failures, the present one included
	tripped   bool // whether they are enough
}

var errCounted = errors.New("a failure, as far as the counter is concerned")

// countOne is what gobreaker is given to run, to count one failure.
func countOne() (struct{}, error) { return struct{}{}, errCounted }

func newRow() *row {
	c := &row{}
	c.breaker = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		ReadyToTrip: c.readyToTrip,
	})
	return c
}

func (c *row) failure(threshold int) bool {
	c.threshold = threshold
	_, _ = c.breaker.Execute(countOne)
	return c.tripped
}

func (c *row) success() {
	_, _ = c.breaker.Execute(func() (struct{}, error) { return struct{}{}, nil })
	c.run = 0
}

func (c *row) readyToTrip(counts gobreaker.Counts) bool {
	// Asked by gobreaker under its own lock, and the only time that it tells: once
	// tripped its counts are gone.
	c.run = int(counts.ConsecutiveFailures)
	c.tripped = c.run >= c.threshold
	return c.tripped
}
