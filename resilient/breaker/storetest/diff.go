package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed42274fcc/stoic/resilient/breaker"
)

// diff says in which fields an answer differs from what it ought to be: "" if in none.
// Votes and IDs may be missing in it, and leases that have lapsed. That it has clamped
// may be said more than once, since a read need not write what it has clamped.
func diff(got, want breaker.Answer) string {
	var faults []string
	field := func(name string, got, want any) {
		if got != want {
			faults = append(faults, fmt.Sprintf("%s is %v, want %v", name, got, want))
		}
	}
	field("Granted", got.Granted, want.Granted)
	field("Counted", got.Counted, want.Counted)
	if want.Clamped {
		field("Clamped", got.Clamped, want.Clamped)
	}
	g, w := got.Record, want.Record
	field("Beneath", g.Beneath, w.Beneath)
	field("Force", g.Force, w.Force)
	field("Round", g.Round, w.Round)
	field("Generation", g.Generation, w.Generation)
	field("LastFailure", g.LastFailure, w.LastFailure)
	field("LastHalfOpen", g.LastHalfOpen, w.LastHalfOpen)
	field("Since", g.Since, w.Since)
	field("Successes", g.Successes, w.Successes)
	field("ForceUntil", g.ForceUntil, w.ForceUntil)
	field("Limit", g.Limit, w.Limit)
	field("Needed", g.Needed, w.Needed)
	field("Failures", g.Failures, w.Failures)
	field("Cause", g.Cause, w.Cause)
	field("Order", g.Order, w.Order)
	field("Ordered", g.Ordered, w.Ordered)
	field("Leases", leases(g, got.Now), leases(w, got.Now))
	return strings.Join(faults, "; ")
}

// leases are those that run, in a form that can be compared.
func leases(r breaker.Record, now time.Duration) string {
	live := slices.DeleteFunc(slices.Clone(r.Leases), func(l breaker.Lease) bool { return l.End <= now })
	slices.SortFunc(live, func(a, b breaker.Lease) int { return cmp.Compare(a.Token, b.Token) })
	return fmt.Sprint(live)
}
