package resilient

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// Switch turns retries, circuits or both off for every guard that has it in its
// [Options], at once and until they are turned on again: for incidents, in which they
// may be what makes things worse. The zero value has both on. It is safe for concurrent
// use; do not copy it after its first use. On nil both are on, and stay so.
//
// With retries off every call is made once; one that is on its way ends with its next
// failure, or after the wait that it is in, with [ReasonSwitchedOff]. With circuits off
// every attempt is admitted and counts nothing, as if each circuit were disabled; what
// began before still counts. A circuit stays what it was meanwhile, with its times: one
// that was open is open afterwards, until its time is over. Time limits and nesting hold
// as ever.
type Switch struct {
	// Logger takes one record, of level Warn, for each change. Nil means slog.Default(),
	// as it is at that moment. Set it before the first use.
	Logger *slog.Logger

	off atomic.Uint32
}

// What a Switch can turn off.
const (
	offRetries uint32 = 1 << iota
	offCircuits
)

// SetRetries turns retries on or off.
func (s *Switch) SetRetries(on bool) { s.set(offRetries, on, "retries") }

// SetCircuits turns circuits on or off.
func (s *Switch) SetCircuits(on bool) { s.set(offCircuits, on, "circuits") }

// Retries reports whether retries are on.
func (s *Switch) Retries() bool { return !s.isOff(offRetries) }

// Circuits reports whether circuits are on.
func (s *Switch) Circuits() bool { return !s.isOff(offCircuits) }

func (s *Switch) isOff(what uint32) bool { return s != nil && s.off.Load()&what != 0 }

func (s *Switch) set(what uint32, on bool, name string) {
	if s == nil {
		return
	}
	var before uint32
	message := "resilience switched off"
	if on {
		before = s.off.And(^what)
		message = "resilience switched on"
	} else {
		before = s.off.Or(what)
	}
	if wasOn := before&what == 0; wasOn == on {
		return // nothing has changed
	}
	logger := s.Logger
	if logger == nil {
		logger = slog.Default()
	}
	defer func() { _ = recover() }() // a logger that panics keeps nobody from switching
	logger.LogAttrs(context.Background(), slog.LevelWarn, message, slog.String("what", name))
}
