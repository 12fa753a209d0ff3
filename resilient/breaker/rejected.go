package breaker

import (
	"fmt"
	"time"

	"github.com/seed42274fcc/stoic/sanitize"
)

// RejectedError says that an attempt was refused by a circuit: nothing ran. One
// is made for each published state of the circuit and shared by all attempts
// that it refuses, so it must not be changed. Find it with errors.As; the cause
// that opened the circuit is found through it with errors.Is and errors.As.
type RejectedError struct {
	// Service is the circuit's name.
	Service string
	// State is why: Open, HalfOpen (every probe is out) or ForcedOpen.
	State State
	// Until is when the next attempt may be admitted: the end of the open time,
	// or of the earliest lease. Zero when forced open: nobody knows.
	Until time.Time
	// Cause is the failure that opened the circuit, secrets and all; nil when an
	// operator did. The text of the RejectedError itself has them taken out.
	Cause error
	// Rule is what opened the circuit, as far as this process knows.
	Rule Rule
}

// Error names the service, the state, until when, and the cause with its secrets
// taken out.
func (e *RejectedError) Error() string {
	if e == nil {
		return "circuit: rejected"
	}
	text := fmt.Sprintf("%s: circuit %s", e.Service, e.State)
	if !e.Until.IsZero() {
		text += " until " + e.Until.UTC().Format(time.RFC3339)
	}
	if e.Cause != nil {
		// Sprint, since a foreign Error method may panic.
		text += ": last failure: " + sanitize.Message(fmt.Sprint(e.Cause))
	}
	return text
}

// GoString is the text, so that %#v prints none of the fields.
func (e *RejectedError) GoString() string { return e.Error() }

// MarshalText is the text: what encodes the error does not encode its fields.
func (e *RejectedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Unwrap returns the cause that opened the circuit, or nil.
func (e *RejectedError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// RetryAfter is how long to wait before asking again: never negative. In half-open
// it is the longest that it can take, should the probes that are out not report;
// mostly they do so much earlier. It is 0 when forced open, as nobody knows: look
// at State.
func (e *RejectedError) RetryAfter() time.Duration {
	if e == nil || e.Until.IsZero() {
		return 0
	}
	return max(0, time.Until(e.Until))
}
