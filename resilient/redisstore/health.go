package redisstore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// ErrUnavailable says that Redis was not asked, since it could not be used a moment ago.
// It comes with what was wrong then.
var ErrUnavailable = errors.New("redis cannot be used at present")

// health keeps calls away from a Redis that does not work, by a circuit of its own. It
// says when that is found, and when it is over.
type health struct {
	circuit *breaker.Circuit
	// watched says that Run looks when Redis is back, so that no call has to.
	watched atomic.Bool
	// suspect is the circuit at whose command Redis failed last: in a cluster it tells
	// the node that is to be looked at.
	suspect atomic.Pointer[string]
	last    atomic.Pointer[error] // what was wrong
}

// What is known of a Redis that fails holds for a short while only: it costs one command
// to look again.
const (
	tolerated = 3 // failures in a row
	pause     = 500 * time.Millisecond
)

func newHealth(tell func(Event)) (*health, error) {
	h := &health{}
	settings := breaker.DefaultSettings()
	settings.FailureThreshold = tolerated
	settings.RecoveryTimeout, settings.Cooldown = pause, 0
	circuit, err := breaker.New("redisstore", settings, &breaker.Options{OnTransition: func(t breaker.Transition) {
		switch {
		case t.From == breaker.Closed && t.To == breaker.Open:
			tell(Event{Kind: Lost, Err: h.why()})
		case t.To == breaker.Closed:
			tell(Event{Kind: Back})
		}
	}})
	h.circuit = circuit
	return h, err
}

// enter asks for the permit to send a command. A probe's is to write something.
func (h *health) enter(timeout time.Duration) (breaker.Permit, error) {
	if h.watched.Load() && !h.well() {
		return breaker.Permit{}, h.unavailable()
	}
	return h.probe(timeout)
}

// probe is enter for whoever looks whether Redis is back.
func (h *health) probe(timeout time.Duration) (breaker.Permit, error) {
	permit, rejected := h.circuit.Acquire(h.circuit.Now(), timeout)
	if rejected != nil {
		return breaker.Permit{}, h.unavailable()
	}
	return permit, nil
}

// well reports whether Redis is taken to work.
func (h *health) well() bool { return h.circuit.State() == breaker.Closed }

// leave gives a permit back.
func (h *health) leave(permit breaker.Permit, circuit string, outcome breaker.Outcome, err error) {
	if outcome == breaker.Failure {
		h.suspect.Store(&circuit)
		h.last.Store(&err)
	}
	h.circuit.Settle(permit, outcome, err)
}

func (h *health) why() error {
	if last := h.last.Load(); last != nil {
		return *last
	}
	return nil
}

// where is the circuit beside which a probe is to write.
func (h *health) where() string {
	if circuit := h.suspect.Load(); circuit != nil {
		return *circuit
	}
	return ""
}

func (h *health) unavailable() error {
	if why := h.why(); why != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, why)
	}
	return ErrUnavailable
}
