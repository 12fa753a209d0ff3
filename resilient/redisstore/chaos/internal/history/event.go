// Package history checks what a fleet was told against what a store promises: that each
// circuit is one record, changed by one command at a time.
package history

import (
	"fmt"
	"math"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// What happened.
type What int

const (
	// Command is one command of one client.
	Command What = iota
	// Flush is that the store forgot everything.
	Flush
	// Fork is the moment from which on a server that will take over later hears of
	// nothing any more.
	Fork
	// Rewind is that this server takes over: the state is what it was at the fork.
	Rewind
)

// Event is one thing that happened, as those saw it who did it.
type Event struct {
	What What
	// Client is who did it.
	Client int
	// Circuit is the one that it happened to; all of them unless it is a Command.
	Circuit string `json:",omitempty"`
	// Sent is the command.
	Sent breaker.Command
	// Call and Return are the ends of it, on a clock that all processes share. What
	// was never answered never returns.
	Call, Return time.Duration
	// Answer is nil if it was lost: then the command was carried out or was not.
	Answer *breaker.Answer `json:",omitempty"`
	// Void says that it did not take place after all.
	Void bool `json:",omitempty"`
}

// Never is the return of what was not answered: it may still be carried out.
const Never = time.Duration(math.MaxInt64)

// String is one line.
func (e Event) String() string {
	from := func(d time.Duration) string {
		if d == Never {
			return "never"
		}
		return fmt.Sprint(d.Microseconds())
	}
	where := fmt.Sprintf("%d [%s, %s]", e.Client, from(e.Call), from(e.Return))
	if e.What != Command {
		return fmt.Sprintf("%s: %s", where, [...]string{"", "flush", "fork", "rewind"}[e.What])
	}
	c := e.Sent
	text := fmt.Sprintf("%s: %s %d", where, c.Kind, c.ID)
	switch c.Kind {
	case breaker.Acquire:
		text += fmt.Sprintf(" lease %v", c.Lease)
	case breaker.Settle:
		text += fmt.Sprintf(" %v in round %d, token %d, restart %v, threshold %d", c.Outcome, c.Round, c.Token, c.Restart, c.Settings.FailureThreshold)
	case breaker.Vote:
		text += fmt.Sprintf(" of %d in round %d, %d wanted", c.Replica, c.Round, c.Settings.MinReporters)
	case breaker.Operate:
		text += fmt.Sprintf(" %+v", c.Order)
	default:
	}
	if e.Answer == nil {
		return text + " → lost"
	}
	a := e.Answer
	return text + fmt.Sprintf(" → at %d granted %v counted %v: %s", a.Now.Microseconds(), a.Granted, a.Counted, describe(a.Record))
}

func describe(r breaker.Record) string {
	leases := ""
	for _, l := range r.Leases {
		leases += fmt.Sprintf(" %d until %d", l.Token, l.End.Microseconds())
	}
	return fmt.Sprintf("%v/%v round %d (%d, %d), %d failures, generation %d, %d successes, last failure %d, half-open %d, leases%s",
		r.Beneath, r.Force, r.Round, r.Limit, r.Needed, r.Failures, r.Generation, r.Successes, r.LastFailure.Microseconds(),
		r.LastHalfOpen.Microseconds(), leases)
}
