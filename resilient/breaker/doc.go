// Package breaker is the circuit: what decides, for one dependency, whether an
// attempt may be made, and what learns from each attempt's outcome.
//
// Most programs never import it: package resilient puts a circuit round every
// guarded call. Import it to watch a dependency that is not called through a
// function (a stream, a queue, an agent's tool), or to read a circuit's state.
//
//	circuit, err := breaker.New("search", breaker.DefaultSettings(), nil)
//	permit, rejected := circuit.Acquire(circuit.Now(), 0)
//	if rejected != nil {
//		return rejected
//	}
//	err = search()
//	circuit.Settle(permit, breaker.OutcomeOf(err), err)
//
// # How it works
//
// A [Machine] holds the rules and nothing else: no clock, no lock, no I/O. A
// [Circuit] is a Machine behind a mutex, with what callers need most published
// behind one atomic pointer, so that a healthy circuit costs one atomic load to
// enter and one to leave. While the circuit is closed, failures are counted by
// github.com/sony/gobreaker/v2, which says when to trip; the recovery is ours.
//
// One rule carries the rest: a result counts only in the [Permit]'s own round,
// and in half-open also only with its own token, within its lease. The round
// grows with every transition, so a late result can neither open, close nor
// delay anything.
//
// There is no timer and no goroutine: the state is derived from what is stored
// and the time now, so a circuit that nobody calls is not wrong, only unread.
package breaker
