package storetest

import (
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// Harness is how the checks get at a store. Open is required; every other field may be
// nil, and then what it is for is not checked. The checks call one field at a time, and
// none while a command is under way, unless it says so.
type Harness struct {
	// Open returns a client: each call as another replica would make it, all of them on
	// the same state.
	Open func() breaker.Store
	// News says that the store tells news, and soon after Watch says that it is Live.
	// Without it, the store is checked for telling none.
	News bool
	// Advance lets the store's time pass. Nil stands for time.Sleep.
	Advance func(d time.Duration)
	// Now is the store's clock, since the Unix epoch, as it is known without the store.
	Now func() time.Duration
	// Skew sets the store's clock forward, or back if d is negative. Each check that
	// does so takes it back in the end.
	Skew func(d time.Duration)
	// Forget takes away all that the store has of one circuit.
	Forget func(circuit string)
	// Garble makes nonsense of what the store has of one circuit, which is something.
	Garble func(circuit string)
	// LoseReplies has commands carried out whose replies then get lost, until it is
	// called with false. Do may return an error, or repeat the command by itself.
	LoseReplies func(lose bool)
	// Stall keeps commands from being answered until release is called. It is called
	// while commands are under way, and they end by their contexts.
	Stall func() (release func())
}

// open returns a few clients.
func (h Harness) open() []breaker.Store {
	clients := make([]breaker.Store, 3)
	for i := range clients {
		clients[i] = h.Open()
	}
	return clients
}

// pass lets time pass.
func (h Harness) pass(d time.Duration) {
	if h.Advance == nil {
		time.Sleep(d)
		return
	}
	h.Advance(d)
}
