package policies

import (
	"math"

	"github.com/seed42274fcc/stoic/sanitize"
)

// Chain is what the retries of services come to that call each other, from the top to
// the bottom. It is data, the caller's own, and speaks of ops that may be repeated, of
// attempts that fail at once, of closed circuits, and of retries that are switched on.
// Counts beyond the range of int are [math.MaxInt].
type Chain struct {
	// Links are the services, the top first.
	Links []Link
	// Calls is how many calls the function below the last service gets at most for one
	// call of the first: only the topmost service that retries does so. It holds where
	// the nesting scope reaches from the top to the bottom, through the context.
	Calls int
	// CallsUnguarded is how many there would be if each service retried by itself.
	CallsUnguarded int
}

// Link is one service of a [Chain].
type Link struct {
	// Service is its name, with secrets taken out.
	Service string
	// Attempts is how many it would make at most of one call, by itself.
	Attempts int
	// Calls and CallsUnguarded are how many it makes at most of what it protects for one
	// call of the first service.
	Calls, CallsUnguarded int
}

// ExplainChain says how the retries of services multiply that call each other in this
// order, and how they would if nothing knew of the nesting. It makes no guards. Of no
// services nothing multiplies.
func (r *Registry) ExplainChain(services ...string) Chain {
	c := Chain{Links: []Link{}, Calls: 1, CallsUnguarded: 1}
	for _, name := range services {
		attempts := scheduleOf(r.Policy(name)).Possible
		c.CallsUnguarded = times(c.CallsUnguarded, attempts)
		if c.Calls == 1 { // nobody above retries
			c.Calls = attempts
		}
		c.Links = append(c.Links, Link{
			Service: sanitize.Message(name), Attempts: attempts,
			Calls: c.Calls, CallsUnguarded: c.CallsUnguarded,
		})
	}
	return c
}

// times multiplies, up to the largest int.
func times(a, b int) int {
	if a > math.MaxInt/b {
		return math.MaxInt
	}
	return a * b
}
